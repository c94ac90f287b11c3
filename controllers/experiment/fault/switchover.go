package fault

import (
	"context"
	"errors"
	"net/http"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
	"replab.dev/internal/httpclient"
	"replab.dev/internal/topology"
)

// switchOver asks the topology for another writer, and follows what becomes of it. What was asked for, also by an operator who could
// not write it down, the topology knows by its name.
func switchOver(ctx context.Context, s *Scene, token string, t target) step.Outcome {
	e := t.entry
	state, err := s.State(ctx)
	if err == nil && !state.Known {
		err = errors.New(state.Why)
	}
	if err != nil {
		return s.unanswered(e, err)
	}
	if w := state.Switchover(e.Name); w != nil {
		return follow(s, e, w)
	}
	if t.pod == nil {
		unconfirmed(e, "the pod was gone before the fault")
		return step.Done()
	}
	err = s.Manager.Switchover(ctx, token, e.Name, e.Pod)
	switch refused := (*httpclient.Refusal)(nil); {
	case errors.As(err, &refused) && refused.Code >= 400 && refused.Code < http.StatusInternalServerError:
		unconfirmed(e, "the topology refused it: %v", err)
		return step.Done()
	case err != nil:
		return s.unanswered(e, err)
	}
	return step.Wait(100*time.Millisecond, v1alpha1.ReasonSwitching, "fault %s: the topology was asked for another primary", e.Name)
}

// follow takes down how far a switchover has come by the account of the topology.
func follow(s *Scene, e *v1alpha1.FaultStatus, w *topology.Switchover) step.Outcome {
	e.SilentTime, e.InjectedTime = nil, w.RequestedAt.DeepCopy()
	switch {
	case w.Outcome == topology.SwitchoverDone:
		set(e, v1alpha1.FaultConfirmed, w.NewWriter+" took over from "+w.OldWriter+", as it was asked to")
	case w.Outcome == topology.SwitchoverFailed:
		unconfirmed(e, "it was asked for, and came to nothing: %s", w.Why)
	case s.Now().Sub(w.RequestedAt.Time) > switchPatience:
		unconfirmed(e, "it was asked for, and was not done within %s: %s", switchPatience, w.Why)
	default:
		set(e, v1alpha1.FaultInjected, "")
		return step.Wait(200*time.Millisecond, v1alpha1.ReasonConfirming, "fault %s: waiting until another primary has taken over", e.Name)
	}
	return step.Done()
}

// unanswered bears a topology that does not answer, for a while.
func (s *Scene) unanswered(e *v1alpha1.FaultStatus, err error) step.Outcome {
	if s.silent(e) {
		unconfirmed(e, "its result is unknown: the topology does not answer: %v", err)
		return step.Done()
	}
	return step.Wait(300*time.Millisecond, v1alpha1.ReasonSwitching, "fault %s: the topology does not answer: %v", e.Name, err)
}

// asked tells that the topology knows of a switchover.
func (s *Scene) asked(ctx context.Context, name string) bool {
	state, err := s.State(ctx)
	return err == nil && state.Known && state.Switchover(name) != nil
}
