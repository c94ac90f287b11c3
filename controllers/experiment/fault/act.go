package fault

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// target is a pod that a fault is about to hit.
type target struct {
	fault v1alpha1.Fault
	entry *v1alpha1.FaultStatus
	pod   *corev1.Pod // nil when it is gone, or another pod has its name
}

// act injects the faults that are due. All are started before the effect of any is awaited, those that agents carry out at the same
// moment: several nodes that fail together fail together. Once something was done there is no error any more: a target of which a
// call failed waits, and what is known of the others is written down.
func act(ctx context.Context, s *Scene, due []target, loadOver bool) (step.Outcome, error) {
	due = slices.DeleteFunc(due, func(t target) bool { return !pending(t.entry) })
	if len(due) == 0 {
		return step.Done(), nil
	}
	token, err := s.Token(ctx) // before anything is done
	if err != nil {
		return step.Outcome{}, err
	}
	out := step.Done()
	var called, switched []target
	var calls []Call
	for _, t := range due {
		may, next := mayAct(ctx, s, t, loadOver)
		switch {
		case may && t.switches():
			switched = append(switched, t)
		case may:
			var request *wire.FaultRequest
			if request, next = prepare(ctx, s, t, called); request != nil {
				called, calls = append(called, t), append(calls, Call{PodIP: t.pod.Status.PodIP, FaultRequest: *request})
			}
		}
		out = step.Both(out, next)
	}
	if len(calls) > 0 {
		for i, answer := range s.Agents.Faults(ctx, token, calls) {
			out = step.Both(out, take(s, called[i], answer))
		}
	}
	for _, t := range switched {
		out = step.Both(out, switchOver(ctx, s, token, t))
	}
	return out, nil
}

// mayAct tells whether a target may be acted on. What was not done to it yet is done only while the load runs and the node has the
// role that the fault is meant for: else it is concluded as not injected, and no other node is hit instead.
func mayAct(ctx context.Context, s *Scene, t target, loadOver bool) (bool, step.Outcome) {
	e := t.entry
	if e.State == v1alpha1.FaultInjected || t.pod == nil || t.deletes() && !t.pod.DeletionTimestamp.IsZero() {
		return true, step.Done() // what is left is to see what came of it
	}
	why, err := unfit(ctx, s, t, loadOver)
	if why == "" && err == nil {
		return true, step.Done()
	}
	if t.switches() && s.asked(ctx, e.Name) {
		return true, step.Done()
	}
	if t.byAgent() { // the agent may have been asked by an operator who could not write it down
		record, asked := s.Agents.FaultState(ctx, t.pod.Status.PodIP, e.Name)
		if record != nil {
			return true, step.Done()
		}
		if err == nil {
			err = asked
		}
	}
	switch {
	case err == nil:
		unconfirmed(e, "it was not injected: %s", why)
	case s.silent(e):
		unconfirmed(e, "whether it was injected, and might be, is not known: %v", err)
	default:
		return false, step.Wait(300*time.Millisecond, v1alpha1.ReasonAsking, "fault %s on pod %s: %v", e.Name, e.Pod, err)
	}
	return false, step.Done()
}

func (t target) deletes() bool { return t.fault.Action == v1alpha1.ActionDeletePod }

func (t target) switches() bool { return t.fault.Action == v1alpha1.ActionSwitchover }

// byAgent tells that the node's agent carries the fault out, and knows whether it did.
func (t target) byAgent() bool { return !t.deletes() && !t.switches() }

// unfit says why a target must not be hit any more, "" when it may be.
func unfit(ctx context.Context, s *Scene, t target, loadOver bool) (string, error) {
	if loadOver {
		return "the load had ended", nil
	}
	if t.fault.Target == v1alpha1.TargetNode {
		return "", nil
	}
	state, err := s.State(ctx)
	if err != nil {
		return "", err
	}
	if !state.Known {
		return "", fmt.Errorf("the node's role could not be learnt: %s", state.Why)
	}
	if !s.fits(t.fault, t.entry.Pod, state) {
		return fmt.Sprintf("the node was %s when it was chosen, and %s when the fault was due", t.entry.Role, topology.StatusRole(state.Node(t.entry.Pod).Role)), nil
	}
	return "", nil
}

// prepare concludes a target, deletes its pod, or returns what its agent is to be asked, beside the targets that agents are asked about already.
func prepare(ctx context.Context, s *Scene, t target, called []target) (*wire.FaultRequest, step.Outcome) {
	if t.deletes() {
		return deletePod(ctx, s, t)
	}
	if t.pod == nil {
		unconfirmed(t.entry, "the pod was gone before the fault. Its replacement was not hit")
		return nil, step.Done()
	}
	request := requestOf(t, wire.FaultAction(t.fault.Action))
	if t.fault.Action == v1alpha1.ActionPartition {
		request.Addresses, request.Store = addresses(s.cutOff(t.fault, t.pod)), s.cutsStore(t.fault)
		if len(request.Addresses) == 0 && !request.Store {
			return nil, take(s, t, Answer{Err: fmt.Errorf("no pod of the experiment has an address to cut off")})
		}
		if other := s.alreadyCut(t, request.Addresses, called); other != "" {
			unconfirmed(t.entry, "not injected: fault %s already cut the node off from everything that this fault names", other)
			return nil, step.Done()
		}
	}
	return request, step.Done()
}

func requestOf(t target, action wire.FaultAction) *wire.FaultRequest {
	hold := t.fault.HoldSeconds * 1000
	if t.fault.HoldSeconds < 0 {
		hold = -1
	}
	return &wire.FaultRequest{Name: t.entry.Name, PodUID: t.entry.PodUID, Action: action, HoldMilliseconds: hold}
}

// deletePod deletes the pod by its UID. A hold is left on the node's volume first, for the next pod: that is what its agent is asked for.
func deletePod(ctx context.Context, s *Scene, t target) (*wire.FaultRequest, step.Outcome) {
	e := t.entry
	switch {
	case t.pod == nil && e.State == v1alpha1.FaultInjected:
		set(e, v1alpha1.FaultConfirmed, "the pod with this UID is gone")
		return nil, step.Done()
	case t.pod == nil && e.State == v1alpha1.FaultDeleting:
		unconfirmed(e, "the pod is gone, but the operator was stopped while deleting it: the time is unknown")
		return nil, step.Done()
	case t.pod == nil:
		unconfirmed(e, "the pod was gone before the fault")
		return nil, step.Done()
	case e.State == v1alpha1.FaultInjected:
		return nil, awaitGone(e)
	case !t.pod.DeletionTimestamp.IsZero():
		unconfirmed(e, "the pod was already being deleted, by a stopped operator or another client: since when is unknown")
		return nil, step.Done()
	case e.State == v1alpha1.FaultPlanned && t.fault.HoldSeconds != 0:
		return requestOf(t, wire.FaultHold), step.Done()
	case e.State == v1alpha1.FaultPlanned:
		return nil, aboutToDelete(e)
	case s.Clock == nil && s.Now().Sub(e.PlannedTime.Time) < clockPatience:
		return nil, step.Wait(100*time.Millisecond, v1alpha1.ReasonDeleting, "fault %s: comparing clocks with the recorder", e.Name)
	}
	now := metav1.NewMicroTime(s.Now())
	if err := s.Deleter.DeletePod(ctx, client.ObjectKeyFromObject(t.pod), t.pod.UID, t.fault.GracePeriodSeconds); err != nil {
		return nil, step.Wait(300*time.Millisecond, v1alpha1.ReasonDeleting, "fault %s: %v", e.Name, err)
	}
	e.InjectedTime = &now
	if s.Clock != nil { // the API server may have taken the request as late as it answered
		e.Clock = s.Clock.DeepCopy()
		e.Clock.LeastAheadMicroseconds -= s.Now().Sub(now.Time).Microseconds()
	}
	set(e, v1alpha1.FaultInjected, "")
	return nil, awaitGone(e)
}

// aboutToDelete writes the intent down; the next pass deletes.
func aboutToDelete(e *v1alpha1.FaultStatus) step.Outcome {
	set(e, v1alpha1.FaultDeleting, "")
	return step.Wait(0, v1alpha1.ReasonDeleting, "fault %s: about to delete pod %s", e.Name, e.Pod)
}

func awaitGone(e *v1alpha1.FaultStatus) step.Outcome {
	return step.Wait(300*time.Millisecond, v1alpha1.ReasonConfirming, "fault %s: waiting for the pod to go", e.Name)
}
