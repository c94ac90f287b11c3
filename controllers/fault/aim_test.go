package fault

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
)

// A replica that is down of itself when all are chosen may be back before the fault ends: the fault then was not of all.
func TestAReplicaThatAFaultOfAllMissesIsNotConfirmed(t *testing.T) {
	for _, c := range []struct {
		name   string
		target v1alpha1.FaultTarget
		change func(*Scene, *topology.State)
		want   int // entries, of which one at most is not to be confirmed
		missed bool
	}{
		{"all are up", v1alpha1.TargetAllReplicas, func(_ *Scene, s *topology.State) { s.Nodes[2].Role = topology.Reader }, 2, false},
		{"one is down", v1alpha1.TargetAllReplicas, func(*Scene, *topology.State) {}, 2, true},
		{"one is enough", v1alpha1.TargetReplica, func(*Scene, *topology.State) {}, 1, false},
		{"another fault keeps it down", v1alpha1.TargetAllReplicas, func(s *Scene, _ *topology.State) { (*s.Status)[0].InjectedTime = ago(5 * time.Second) }, 1, false},
		{"another fault kept it down", v1alpha1.TargetAllReplicas, func(s *Scene, _ *topology.State) { (*s.Status)[0].InjectedTime = ago(15 * time.Second) }, 2, true},
		{"it is the old primary", v1alpha1.TargetAllReplicas, func(_ *Scene, s *topology.State) { s.Failovers = []topology.Failover{{OldWriter: "x-db-2"}} }, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab()
			l.state.Nodes = append(l.state.Nodes, topology.NodeState{Name: "x-db-2", Role: topology.Down, Why: "does not answer by SQL"})
			s := l.scene(v1alpha1.Fault{Action: v1alpha1.ActionKill, HoldSeconds: 10}, v1alpha1.FaultStatus{})
			(*s.Status)[0].Pod = "x-db-2"
			for _, name := range []string{"x-db-1", "x-db-2"} {
				s.Pods = append(s.Pods, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid"}})
			}
			c.change(s, &l.state)
			if out, err := aim(t.Context(), s, v1alpha1.Fault{Name: "cut", Target: c.target}, noon); err != nil || out.Terminal {
				t.Fatal(out, err)
			}
			entries, missed := s.entries("cut"), false
			for _, e := range entries {
				missed = missed || e.State == v1alpha1.FaultUnconfirmed && e.Pod == "x-db-2"
			}
			if len(entries) != c.want || missed != c.missed {
				t.Errorf("%d entries, want %d; missed is %v: %+v", len(entries), c.want, missed, *s.Status)
			}
		})
	}
}
