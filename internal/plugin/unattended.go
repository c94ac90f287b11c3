package plugin

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// unattendedLimit is how long a run is followed that no operator looks at. Electing another leader takes less.
const unattendedLimit = 2 * time.Minute

// errUnattended ends following a run that no operator looks at.
var errUnattended = errors.New("no operator has looked at the run")

// patience with a run that no operator looks at.
func (o *Options) patience() time.Duration { return cmp.Or(o.alone, unattendedLimit) }

// attention ends following where no operator writes a status for a limit. One write is enough: a run may be Pending for days.
type attention struct {
	limit time.Duration
	leave context.CancelCauseFunc
	since time.Time // the first look
	paid  bool
}

// watched is a context for following, which ends with the cause errUnattended.
func watched(ctx context.Context, limit time.Duration) (context.Context, *attention) {
	ctx, leave := context.WithCancelCause(ctx)
	return ctx, &attention{limit: limit, leave: leave}
}

// look notes whether an operator has written the run's status.
func (a *attention) look(now time.Time, written bool) {
	if a.since.IsZero() {
		a.since = now
	}
	a.paid = a.paid || written
	if !a.paid && now.Sub(a.since) >= a.limit {
		a.leave(errUnattended)
	}
}

// cause of an error that ended following.
func cause(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errUnattended) {
		return errUnattended
	}
	return err
}
