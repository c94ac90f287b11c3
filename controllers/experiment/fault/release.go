package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Held waits for the end of the holds that have one, and notes which came to another end than was planned.
func Held(ctx context.Context, s *Scene) step.Outcome {
	out := step.Done()
	for e, f := range s.holds {
		if f.HoldSeconds < 0 || e.ReleasedTime != nil || e.State == v1alpha1.FaultEndedEarly || e.State == v1alpha1.FaultEndedLate {
			continue
		}
		end := e.InjectedTime.Add(time.Duration(f.HoldSeconds) * time.Second)
		waiting := step.Wait(500*time.Millisecond, v1alpha1.ReasonHolding, "fault %s holds for %d s", e.Name, f.HoldSeconds)
		if s.Now().Before(end) {
			out = step.Both(out, waiting)
			continue
		}
		switch record, err := s.record(ctx, e); {
		case err == nil && (record == nil || record.ReleasedAt != nil):
			s.ended(e, f, record)
		case s.Now().Before(end.Add(agentPatience)):
			out = step.Both(out, waiting)
		case e.State == v1alpha1.FaultConfirmed:
			unconfirmed(e, "it was seen (%s), but when its hold ended is not known: %v", e.Evidence, errors.Join(err, standsStill(record)))
		}
	}
	return out
}

// Standing makes sure, before they are released, that the holds without an end have lasted until now.
func Standing(ctx context.Context, s *Scene) step.Outcome {
	out := step.Done()
	for e, f := range s.holds {
		if f.HoldSeconds >= 0 || e.ReleasedTime != nil || e.State != v1alpha1.FaultConfirmed {
			continue
		}
		record, err := s.record(ctx, e)
		switch {
		case err == nil && record != nil && record.ReleasedAt == nil && !s.replaced(e, f):
			e.SilentTime = nil
		case err == nil:
			s.ended(e, f, record)
		case s.silent(e):
			unconfirmed(e, "its effect was seen (%s). Whether it held until the end of the audit is unknown: %v", e.Evidence, err)
		default:
			out = step.Both(out, step.Wait(500*time.Millisecond, v1alpha1.ReasonHolding, "fault %s: asking the agent of pod %s whether it holds", e.Name, e.Pod))
		}
	}
	return out
}

// Release ends the holds that lasted until the audit was done.
func Release(ctx context.Context, s *Scene) error {
	for i := range *s.Status {
		e := &(*s.Status)[i]
		f, ok := s.fault(e)
		pod := s.named(e.Pod)
		maybe := e.InjectedTime != nil || e.State == v1alpha1.FaultDeleting || f.Action == v1alpha1.ActionDeletePod
		if !ok || f.HoldSeconds >= 0 || e.ReleasedTime != nil || !maybe || pod == nil || pod.Status.PodIP == "" {
			continue
		}
		token, err := s.Token(ctx)
		if err != nil {
			return err
		}
		record, err := s.Agents.Release(ctx, token, pod.Status.PodIP, e.Name)
		if err != nil {
			return fmt.Errorf("release fault %s on pod %s: %w", e.Name, e.Pod, err)
		}
		if e.ReleasedTime = record.ReleasedAt; e.State == v1alpha1.FaultConfirmed {
			set(e, v1alpha1.FaultReleased, e.Evidence)
		}
	}
	return nil
}

// Leaves are what the holds until the end of the audit excuse their nodes from.
func Leaves(s *Scene) map[string]topology.Leave {
	leaves := map[string]topology.Leave{}
	for e, f := range s.holds {
		if f.HoldSeconds >= 0 {
			continue
		}
		leave := topology.MayBeDown
		if f.Action == v1alpha1.ActionPartition && f.PartitionFrom != v1alpha1.PartitionEveryone {
			leave = topology.MayLag
		}
		leaves[e.Pod] = max(leaves[e.Pod], leave)
	}
	return leaves
}

// holds are the entries that were injected and hold for a time, with their faults.
func (s *Scene) holds(yield func(*v1alpha1.FaultStatus, v1alpha1.Fault) bool) {
	for i := range *s.Status {
		e := &(*s.Status)[i]
		if f, ok := s.fault(e); ok && e.InjectedTime != nil && f.HoldSeconds != 0 && !yield(e, f) {
			return
		}
	}
}

func (s *Scene) fault(e *v1alpha1.FaultStatus) (v1alpha1.Fault, bool) {
	for _, f := range s.Spec {
		if f.Name == e.Fault {
			return f, true
		}
	}
	return v1alpha1.Fault{}, false
}

// record of an entry by the agent that its node has now, nil when that knows of none.
func (s *Scene) record(ctx context.Context, e *v1alpha1.FaultStatus) (*wire.FaultRecord, error) {
	pod := s.named(e.Pod)
	if pod == nil || pod.Status.PodIP == "" {
		return nil, fmt.Errorf("pod %s has no address", e.Pod)
	}
	return s.Agents.FaultState(ctx, pod.Status.PodIP, e.Name)
}

// replaced tells that the pod in which a pause or a partition was is not there any more: it ended with it. What a kill or a deletion
// holds lies on the node's volume, and outlives the pod.
func (s *Scene) replaced(e *v1alpha1.FaultStatus, f v1alpha1.Fault) bool {
	return (f.Action == v1alpha1.ActionPause || f.Action == v1alpha1.ActionPartition) && s.pod(e) == nil
}

// ended notes the end of a hold, nil for one of which the agent has no record. One that ended before its time was another fault
// than was planned.
func (s *Scene) ended(e *v1alpha1.FaultStatus, f v1alpha1.Fault, record *wire.FaultRecord) {
	state, evidence := v1alpha1.FaultEndedEarly, "the node's agent has lost its record of the fault, so nothing was held"
	if record != nil {
		e.ReleasedTime = record.ReleasedAt
		state, evidence = s.lasted(e, f, record)
	}
	switch {
	case e.State != v1alpha1.FaultConfirmed:
	case evidence != "":
		set(e, state, e.Evidence+"; "+evidence)
	default:
		set(e, state, e.Evidence)
	}
}

// lasted tells by an agent's record whether a hold ended in its time, and else what is to be said. Both times are by the agent's
// clock. A kill and a deletion hold by a file that has its end in it, whenever the agent takes it away.
func (s *Scene) lasted(e *v1alpha1.FaultStatus, f v1alpha1.Fault, record *wire.FaultRecord) (state v1alpha1.FaultState, why string) {
	if f.HoldSeconds < 0 {
		return v1alpha1.FaultEndedEarly, "it ended before the audit was done: " + record.Evidence
	}
	from := e.InjectedTime
	if record.InjectedAt != nil {
		from = record.InjectedAt
	}
	end := metav1.NewMicroTime(from.Add(time.Duration(f.HoldSeconds) * time.Second))
	switch missing := end.Sub(record.ReleasedAt.Time); {
	case missing > releaseSlack:
		return v1alpha1.FaultEndedEarly, fmt.Sprintf("it ended %d ms before its time: %s", missing.Milliseconds(), record.Evidence)
	case missing < -releaseLate && s.replaced(e, f):
		return v1alpha1.FaultEndedEarly, "it ended with its pod, which was replaced at an unknown time"
	case missing < -releaseLate && (f.Action == v1alpha1.ActionPause || f.Action == v1alpha1.ActionPartition):
		return v1alpha1.FaultEndedLate, fmt.Sprintf("it ended %d ms after its time", -missing.Milliseconds())
	}
	return v1alpha1.FaultReleased, ""
}

func standsStill(record *wire.FaultRecord) error {
	if record == nil {
		return nil
	}
	return errors.New("its agent has not ended it")
}
