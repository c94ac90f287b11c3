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
			ahead = step.Both(ahead, step.Wait(min(wait-aimAhead, time.Second), v1alpha1.ReasonFaultAhead, "fault %s is planned for %d s after the start of the load", f.Name, f.AtSeconds))
		case len(entries) == 0:
			unaimed[f.AtSeconds] = true
			out, err := aim(ctx, s, f, planned)
			if err != nil || out.Terminal {
				return out, err
			}
			ahead = step.Both(ahead, out)
		case wait > 0:
			ahead = step.Both(ahead, step.Wait(wait, v1alpha1.ReasonAimed, "fault %s: its target is written down", f.Name))
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
			return step.Wait(200*time.Millisecond, v1alpha1.ReasonAiming, "fault %s: no node has the role %s", f.Name, f.Target), nil
		}
		return step.Terminal(v1alpha1.ReasonFaultImpossible, "fault %s: no node has the role %s (%s). Let it come later, or name a node by its number", f.Name, f.Target, state.Why), nil
	}
	absent, missed := s.absent(f, state), "so that not all of them were hit"
	if len(state.Writers) == 0 {
		missed = "and may have been one of them"
	}
	for i, node := range append(nodes, absent...) {
		name := f.Name
		if i > 0 {
			name = fmt.Sprintf("%s.%d", f.Name, i+1) // no fault of a spec has a dot in its name
		}
		e := v1alpha1.FaultStatus{Name: name, Fault: f.Name, Pod: node.Name, Role: topology.StatusRole(node.Role), PlannedTime: metav1.NewMicroTime(planned)}
		if pod := s.named(node.Name); i >= len(nodes) {
			unconfirmed(&e, "the node was down when the replicas were chosen, %s: %s", missed, node.Why)
		} else if pod == nil {
			unconfirmed(&e, "the pod does not exist")
		} else {
			e.PodUID = string(pod.UID)
			set(&e, v1alpha1.FaultPlanned, "")
		}
		*s.Status = append(*s.Status, e)
	}
	return step.Wait(0, v1alpha1.ReasonAimed, "fault %s: its target is written down", f.Name), nil
}

// hit are the nodes that a fault's target means. One of several replicas is one that no other fault has just then, while there is such
// a one: two faults on a replica in one second are of two replicas.
func (s *Scene) hit(f v1alpha1.Fault, state topology.State) []topology.NodeState {
	if f.Target != v1alpha1.TargetReplica {
		return state.Targets(f)
	}
	free := state
	free.Nodes = slices.DeleteFunc(slices.Clone(state.Nodes), func(n topology.NodeState) bool { return s.taken(f, n.Name) })
	if found := free.Targets(f); len(found) > 0 {
		return found
	}
	return state.Targets(f)
}

// taken tells whether another fault hits a node in the same second, is about to, or still holds it. Faults may come later than planned.
func (s *Scene) taken(by v1alpha1.Fault, node string) bool {
	return slices.ContainsFunc(*s.Status, func(e v1alpha1.FaultStatus) bool {
		f, ok := s.fault(&e)
		switch {
		case !ok || e.Pod != node || f.Name == by.Name:
			return false
		case e.InjectedTime == nil:
			return e.State != v1alpha1.FaultUnconfirmed // else nothing was done to it
		}
		return f.AtSeconds == by.AtSeconds || s.holding(&e, f)
	})
}

// holding tells whether an entry that was injected holds its node, as far as the operator's clock can tell: while the load runs nobody asks
// the agents when they let go.
func (s *Scene) holding(e *v1alpha1.FaultStatus, f v1alpha1.Fault) bool {
	return e.ReleasedTime == nil && (f.HoldSeconds < 0 || s.Now().Before(e.InjectedTime.Add(time.Duration(f.HoldSeconds)*time.Second)))
}

// absent are the replicas that a fault of all of them misses, since they are down of themselves: they may be back before it ends. One
// that another fault keeps down is not missed, nor is an old writer a replica until it is back. While nobody knows the writer, it may be the one
// that a fault ended last.
func (s *Scene) absent(f v1alpha1.Fault, state topology.State) []topology.NodeState {
	if f.Target != v1alpha1.TargetAllReplicas {
		return nil
	}
	spared := map[string]bool{}
	for e, other := range s.holds {
		spared[e.Pod] = spared[e.Pod] || s.holding(e, other)
	}
	if ended := s.endedLast(); ended != nil && len(state.Writers) == 0 {
		spared[ended.Pod] = true
	}
	return slices.DeleteFunc(slices.Clone(state.Nodes), func(n topology.NodeState) bool {
		old := slices.ContainsFunc(state.Failovers, func(o topology.Failover) bool { return o.OldWriter == n.Name && !o.Planned && !backSince(o, state) })
		return n.Role != topology.Down || len(state.Writers) > 0 && n.Name == state.Writers[0] || spared[n.Name] || old
	})
}

// backSince tells whether the old writer of a failover has been in its place again. Between that and a failover of it before there are seconds, which
// clocks do not differ by.
func backSince(o topology.Failover, state topology.State) bool {
	return slices.ContainsFunc(state.Absences, func(a topology.Absence) bool {
		return a.Node == o.OldWriter && a.BackAt != nil && a.BackAt.After(o.DetectedAt.Time)
	})
}

// endedLast is the entry of the last fault that ended the server of a primary, nil without one. Faults that let go of a node explain nothing of
// what it is now.
func (s *Scene) endedLast() (last *v1alpha1.FaultStatus) {
	for i := range *s.Status {
		e := &(*s.Status)[i]
		f, ok := s.fault(e)
		primary := e.Role == v1alpha1.NodePrimary || f.Target == v1alpha1.TargetPrimary // which was down by then
		if ok && primary && e.InjectedTime != nil && f.Action.EndsServer() && (last == nil || !e.PlannedTime.Before(&last.PlannedTime)) {
			last = e
		}
	}
	return last
}

// fits tells whether a node still has the role that a fault is meant for. One of several replicas that was chosen need not be the
// first of them any more.
func (s *Scene) fits(f v1alpha1.Fault, node string, state topology.State) bool {
	if f.Target == v1alpha1.TargetReplica {
		f.Target = v1alpha1.TargetAllReplicas
	}
	return slices.ContainsFunc(s.targets(f, state), func(n topology.NodeState) bool { return n.Name == node })
}
