package fault

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
	"replab.dev/internal/topology"
)

// Inject injects the faults at their times, after the targets of each, pods and UIDs, were written into the status. Faults of one
// moment wait for each other's targets.
func Inject(ctx context.Context, s *Scene, loadStart time.Time, loadOver bool) (step.Outcome, error) {
	var due []target
	ahead := step.Done()
	unaimed := map[int64]bool{} // moments
	for _, f := range s.inOrder() {
		planned := loadStart.Add(time.Duration(f.AtSeconds) * time.Second)
		entries := s.entries(f.Name)
		switch wait := planned.Sub(s.Now()); {
		case len(entries) == 0 && wait > aimAhead:
			ahead = step.Both(ahead, step.Wait(min(wait-aimAhead, time.Second), "Waiting", "fault %s is planned for %d s after the start of the load", f.Name, f.AtSeconds))
		case len(entries) == 0:
			unaimed[f.AtSeconds] = true
			out, err := aim(ctx, s, f, planned)
			if err != nil || out.Terminal {
				return out, err
			}
			ahead = step.Both(ahead, out)
		case wait > 0:
			ahead = step.Both(ahead, step.Wait(wait, "Aimed", "fault %s: its target is written down", f.Name))
		default:
			for _, e := range entries {
				due = append(due, target{fault: f, entry: e, pod: s.pod(e)})
			}
		}
	}
	due = slices.DeleteFunc(due, func(t target) bool { return unaimed[t.fault.AtSeconds] })
	out, err := act(ctx, s, due, loadOver)
	return step.Both(out, ahead), err
}

// aim chooses the pods that a fault hits by the roles of this moment. Returning writes them down.
func aim(ctx context.Context, s *Scene, f v1alpha1.Fault, planned time.Time) (step.Outcome, error) {
	state, err := s.State(ctx)
	if err != nil {
		return step.Outcome{}, err
	}
	nodes := s.targets(f, state)
	if len(nodes) == 0 {
		if s.Now().Sub(planned) < agentPatience {
			return step.Wait(200*time.Millisecond, "Aiming", "fault %s: no node has the role %s", f.Name, f.Target), nil
		}
		return step.Terminal(v1alpha1.ReasonFaultImpossible, "fault %s: no node has the role %s (%s)", f.Name, f.Target, state.Why), nil
	}
	absent := s.absent(f, state)
	for i, node := range append(nodes, absent...) {
		name := f.Name
		if i > 0 {
			name = fmt.Sprintf("%s.%d", f.Name, i+1) // no fault of a spec has a dot in its name
		}
		e := v1alpha1.FaultStatus{Name: name, Fault: f.Name, Pod: node.Name, Role: topology.StatusRole(node.Role), PlannedTime: metav1.NewMicroTime(planned)}
		if pod := s.named(node.Name); i >= len(nodes) {
			unconfirmed(&e, "the node was down when the replicas were chosen, so that not all of them were hit: %s", node.Why)
		} else if pod == nil {
			unconfirmed(&e, "the pod does not exist")
		} else {
			e.PodUID = string(pod.UID)
			set(&e, v1alpha1.FaultPlanned, "")
		}
		*s.Status = append(*s.Status, e)
	}
	return step.Wait(0, "Aimed", "fault %s: its target is written down", f.Name), nil
}

// absent are the replicas that a fault of all of them misses, since they are down of themselves: they may be back before it ends. One
// that another fault keeps down is not missed, nor is an old writer a replica.
func (s *Scene) absent(f v1alpha1.Fault, state topology.State) []topology.NodeState {
	if f.Target != v1alpha1.TargetAllReplicas || len(state.Writers) == 0 {
		return nil
	}
	held := map[string]bool{}
	for e, other := range s.holds {
		held[e.Pod] = held[e.Pod] || other.HoldSeconds < 0 || s.Now().Before(e.InjectedTime.Add(time.Duration(other.HoldSeconds)*time.Second))
	}
	return slices.DeleteFunc(slices.Clone(state.Nodes), func(n topology.NodeState) bool {
		old := slices.ContainsFunc(state.Failovers, func(o topology.Failover) bool { return o.OldWriter == n.Name && !o.Planned })
		return n.Role != topology.Down || n.Name == state.Writers[0] || held[n.Name] || old
	})
}

// fits tells whether a node still has the role that a fault is meant for. One of several replicas that was chosen need not be the
// first of them any more.
func (s *Scene) fits(f v1alpha1.Fault, node string, state topology.State) bool {
	if f.Target == v1alpha1.TargetReplica {
		f.Target = v1alpha1.TargetAllReplicas
	}
	return slices.ContainsFunc(s.targets(f, state), func(n topology.NodeState) bool { return n.Name == node })
}
