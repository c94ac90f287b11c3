package fault

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
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
		{"one is down, and nobody knows the primary", v1alpha1.TargetAllReplicas, func(_ *Scene, s *topology.State) { s.Writers = nil }, 3, true},
		{"nobody knows the primary, and a fault kept one down", v1alpha1.TargetAllReplicas, func(s *Scene, state *topology.State) {
			state.Writers, (*s.Status)[0].InjectedTime = nil, ago(15*time.Second)
		}, 2, false},
		{"nobody knows the primary, and a fault let one go", v1alpha1.TargetAllReplicas, func(s *Scene, state *topology.State) {
			state.Writers, s.Spec[0].Action, (*s.Status)[0].InjectedTime, (*s.Status)[0].ReleasedTime = nil, v1alpha1.ActionPause, ago(40*time.Second), ago(30*time.Second)
		}, 3, true},
		{"nobody knows the primary, and a fault ended a replica", v1alpha1.TargetAllReplicas, func(s *Scene, state *topology.State) {
			state.Writers, (*s.Status)[0].InjectedTime, (*s.Status)[0].Role = nil, ago(15*time.Second), v1alpha1.NodeReplica
		}, 3, true},
		{"nobody knows the primary, and a fault ended one that was down by then", v1alpha1.TargetAllReplicas, func(s *Scene, state *topology.State) {
			state.Writers, (*s.Status)[0].InjectedTime, (*s.Status)[0].Role, s.Spec[0].Target = nil, ago(15*time.Second), v1alpha1.NodeDown, v1alpha1.TargetPrimary
		}, 2, false},
		{"nobody knows the primary, and a later fault ended another one", v1alpha1.TargetAllReplicas, func(s *Scene, state *topology.State) {
			state.Writers, (*s.Status)[0].InjectedTime, (*s.Status)[0].PlannedTime = nil, ago(15*time.Second), *ago(15 * time.Second)
			s.Spec = append(s.Spec, v1alpha1.Fault{Name: "later", Action: v1alpha1.ActionDeletePod, Target: v1alpha1.TargetPrimary})
			*s.Status = append(*s.Status, v1alpha1.FaultStatus{
				Name: "later", Fault: "later", Pod: "x-db-0", Role: v1alpha1.NodePrimary, PlannedTime: *ago(time.Second), InjectedTime: ago(time.Second),
			})
		}, 3, true},
		{"it is the old primary", v1alpha1.TargetAllReplicas, func(_ *Scene, s *topology.State) { s.Failovers = []topology.Failover{{OldWriter: "x-db-2"}} }, 1, false},
		{"it is the old primary, and was away before it was that", v1alpha1.TargetAllReplicas, func(_ *Scene, s *topology.State) {
			s.Failovers = []topology.Failover{{OldWriter: "x-db-2", DetectedAt: *ago(30 * time.Second)}}
			s.Absences = []topology.Absence{{Node: "x-db-2", Absence: wire.Absence{LeftAt: *ago(50 * time.Second), BackAt: ago(40 * time.Second)}}, {Node: "x-db-2", Absence: wire.Absence{LeftAt: *ago(30 * time.Second)}}}
		}, 1, false},
		{"it is the old primary, and another one was back since", v1alpha1.TargetAllReplicas, func(_ *Scene, s *topology.State) {
			s.Failovers = []topology.Failover{{OldWriter: "x-db-2", DetectedAt: *ago(30 * time.Second)}}
			s.Absences = []topology.Absence{{Node: "x-db-1", Absence: wire.Absence{LeftAt: *ago(29 * time.Second), BackAt: ago(20 * time.Second)}}}
		}, 1, false},
		{"it was the old primary, was back, and is down again", v1alpha1.TargetAllReplicas, func(_ *Scene, s *topology.State) {
			s.Failovers = []topology.Failover{{OldWriter: "x-db-2", DetectedAt: *ago(30 * time.Second)}}
			s.Absences = []topology.Absence{{Node: "x-db-2", Absence: wire.Absence{LeftAt: *ago(30 * time.Second), BackAt: ago(20 * time.Second)}}, {Node: "x-db-2", Absence: wire.Absence{LeftAt: *ago(5 * time.Second)}}}
		}, 2, true},
		{"it was the old primary twice, and is not back from the second time", v1alpha1.TargetAllReplicas, func(_ *Scene, s *topology.State) {
			s.Failovers = []topology.Failover{{OldWriter: "x-db-2", DetectedAt: *ago(30 * time.Second)}, {OldWriter: "x-db-2", DetectedAt: *ago(5 * time.Second)}}
			s.Absences = []topology.Absence{{Node: "x-db-2", Absence: wire.Absence{LeftAt: *ago(30 * time.Second), BackAt: ago(20 * time.Second)}}, {Node: "x-db-2", Absence: wire.Absence{LeftAt: *ago(5 * time.Second)}}}
		}, 1, false},
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
			entries, missed, why := s.entries("cut"), false, "so that not all of them were hit: does not answer by SQL"
			if len(l.state.Writers) == 0 {
				why = "and may have been one of them: does not answer by SQL"
			}
			for _, e := range entries {
				missed = missed || e.State == v1alpha1.FaultUnconfirmed && e.Pod == "x-db-2" && strings.Contains(e.Evidence, why)
			}
			if len(entries) != c.want || missed != c.missed {
				t.Errorf("%d entries, want %d; missed is %v: %+v", len(entries), c.want, missed, *s.Status)
			}
		})
	}
}

// Two of three: faults on a replica in one second are of several replicas, and a replica that is held is left alone, as long as
// there is a choice.
func TestAReplicaThatAnotherFaultHasIsTheLastToBeChosen(t *testing.T) {
	replica := func(name string, at, hold int64) v1alpha1.Fault {
		return v1alpha1.Fault{Name: name, Action: v1alpha1.ActionKill, Target: v1alpha1.TargetReplica, AtSeconds: at, HoldSeconds: hold}
	}
	node := v1alpha1.Fault{Name: "node", Action: v1alpha1.ActionPause, Target: v1alpha1.TargetNode, Node: ptr.To[int32](1), AtSeconds: 60, HoldSeconds: 5}
	before := func(state v1alpha1.FaultState, injected *metav1.MicroTime) []v1alpha1.FaultStatus {
		return []v1alpha1.FaultStatus{{Name: "before", Fault: "before", Pod: "x-db-1", State: state, PlannedTime: *ago(29 * time.Second), InjectedTime: injected}}
	}
	late := func(injected *metav1.MicroTime) []v1alpha1.FaultStatus { // planned for 11 s ago
		return []v1alpha1.FaultStatus{{Name: "before", Fault: "before", Pod: "x-db-1", State: v1alpha1.FaultConfirmed, PlannedTime: *ago(11 * time.Second), InjectedTime: injected}}
	}
	released, about := late(ago(7*time.Second)), late(nil)
	released[0].State, released[0].ReleasedTime, about[0].State = v1alpha1.FaultReleased, ago(time.Second), v1alpha1.FaultPlanned
	for _, c := range []struct {
		name   string
		faults []v1alpha1.Fault
		before []v1alpha1.FaultStatus // entries of faults of 29 s ago
		want   map[string]string      // pods by faults
	}{
		{"two in one second", []v1alpha1.Fault{replica("a", 60, 0), replica("b", 60, 0)}, nil, map[string]string{"a": "x-db-1", "b": "x-db-2"}},
		{"more than there are", []v1alpha1.Fault{replica("a", 60, 0), replica("b", 60, 0), replica("c", 60, 0)}, nil, map[string]string{"a": "x-db-1", "b": "x-db-2", "c": "x-db-1"}},
		{"beside one by its number", []v1alpha1.Fault{replica("a", 60, 0), node}, nil, map[string]string{"a": "x-db-2", "node": "x-db-1"}},
		{"one is held", []v1alpha1.Fault{replica("before", 30, 60), replica("a", 60, 0)}, before(v1alpha1.FaultConfirmed, ago(29*time.Second)), map[string]string{"a": "x-db-2"}},
		{"one is held to the end", []v1alpha1.Fault{replica("before", 30, -1), replica("a", 60, 0)}, before(v1alpha1.FaultConfirmed, ago(29*time.Second)), map[string]string{"a": "x-db-2"}},
		{"one was held", []v1alpha1.Fault{replica("before", 30, 10), replica("a", 60, 0)}, before(v1alpha1.FaultReleased, ago(29*time.Second)), map[string]string{"a": "x-db-1"}},
		{"one was to be held", []v1alpha1.Fault{replica("before", 30, 60), replica("a", 60, 0)}, before(v1alpha1.FaultUnconfirmed, nil), map[string]string{"a": "x-db-1"}},
		{"one is held that was to be let go, and came late", []v1alpha1.Fault{replica("before", 48, 10), replica("a", 60, 0)}, late(ago(7 * time.Second)), map[string]string{"a": "x-db-2"}},
		{"one was let go before its time", []v1alpha1.Fault{replica("before", 48, 10), replica("a", 60, 0)}, released, map[string]string{"a": "x-db-1"}},
		{"one was to be let go that is not held yet", []v1alpha1.Fault{replica("before", 48, 10), replica("a", 60, 0)}, about, map[string]string{"a": "x-db-2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab()
			l.state.Nodes = append(l.state.Nodes, topology.NodeState{Name: "x-db-2", Role: topology.Reader})
			s := l.scene(v1alpha1.Fault{}, v1alpha1.FaultStatus{})
			s.Spec, *s.Status = c.faults, c.before
			for _, name := range []string{"x-db-1", "x-db-2"} {
				s.Pods = append(s.Pods, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid"}})
			}
			if _, err := Inject(t.Context(), s, noon.Add(-59*time.Second), false); err != nil { // a second before they are due
				t.Fatal(err)
			}
			for name, pod := range c.want {
				if entries := s.entries(name); len(entries) != 1 || entries[0].Pod != pod {
					t.Errorf("fault %s hits %+v, want %s", name, entries, pod)
				}
			}
		})
	}
}
