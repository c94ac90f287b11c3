package mariadb

import (
	"context"
	"errors"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
)

// Turn implements engine.Replica. A server that starts a thread while neither runs throws away what it has received and not
// applied. So the applying thread is started before the receiving one is stopped, and never alone.
func (a *admin) Turn(ctx context.Context, t engine.Threads) error {
	switch t {
	case engine.StopReceiving:
		return a.Exec(ctx, family.StartApplier, family.StopReceiver)
	case engine.StartApplying:
		return a.startApplying(ctx)
	}
	return a.Admin.Turn(ctx, t)
}

func (a *admin) startApplying(ctx context.Context) error {
	l, err := a.Look(ctx, engine.Question{})
	if err != nil {
		return err
	}
	if l.Receiver == engine.ReceiverOff && !l.Applying && !l.Executed.Contains(l.Received) {
		return errors.New("start the applying thread: neither thread runs, and the server would throw away what it has received")
	}
	return a.Exec(ctx, family.StartApplier)
}
