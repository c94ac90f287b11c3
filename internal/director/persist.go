package director

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"replab.dev/internal/director/publish"
	"replab.dev/internal/protocol"
)

// softInterval is the least time between two writes of the state that tell only how far replicas are and what is waited
// for: under load that changes with every look.
const softInterval = 2 * time.Second

// saveRetry is how long a write that failed waits for its next try, unless it is an intent, which is tried every round.
const saveRetry = time.Second

// store keeps the state durably.
type store interface {
	// Load returns the stored state, once it can be read; the zero state when there is none yet.
	Load(ctx context.Context) (protocol.DirectorState, error)
	// Save replaces the stored state by document, a DirectorState as JSON. It fails with publish.ErrChanged when the stored one is
	// not what this store last loaded or saved; after any other error the new one may or may not be stored.
	Save(ctx context.Context, document string) error
}

func (d *Director) load(ctx context.Context) error {
	state, err := d.store.Load(ctx)
	if err != nil {
		return fmt.Errorf("load the director's state: %w", err)
	}
	d.setState(state)
	d.saved, d.savedHard = document(state), hardPart(state)
	slog.Info("state loaded", "epoch", state.Epoch, "primary", state.Primary, "opened", state.Opened)
	return nil
}

// intend stores an intent. As long as that fails the director goes on from the state it had.
func (d *Director) intend(ctx context.Context, decided decision, rest time.Duration) (time.Duration, error) {
	if err := d.save(ctx, decided.State); err != nil {
		return rest, d.saveFailed(ctx, err)
	}
	tell(d.State(), decided)
	d.setState(decided.State)
	return 0, nil
}

// saveIfWorth stores what changed without being an intent: roles and moments now, progress once in a while.
func (d *Director) saveIfWorth(ctx context.Context) error {
	state := d.State()
	text := document(state)
	now := time.Now()
	if text == d.saved || now.Before(d.saveAfter) || (hardPart(state) == d.savedHard && now.Before(d.softAfter)) {
		return nil
	}
	if err := d.save(ctx, state); err != nil {
		d.saveAfter = time.Now().Add(saveRetry)
		return d.saveFailed(ctx, err)
	}
	return nil
}

func (d *Director) save(ctx context.Context, state protocol.DirectorState) error {
	text := document(state)
	if err := d.store.Save(ctx, text); err != nil {
		return err
	}
	d.saved, d.savedHard = text, hardPart(state)
	d.softAfter = time.Now().Add(softInterval)
	return nil
}

// saveFailed begins anew from the stored state when that is not the one expected: a write that was thought to have
// failed may have arrived. Other errors are tried again by the next round.
func (d *Director) saveFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	d.warn(ctx, "the state could not be stored", err)
	if !errors.Is(err, publish.ErrChanged) {
		return nil
	}
	d.nodes.renewFor("")
	d.nodes.restart()
	return d.load(ctx)
}

func document(state protocol.DirectorState) string {
	text, err := json.Marshal(state)
	if err != nil {
		panic(err) // plain data: it has nothing that JSON cannot hold
	}
	return string(text)
}

// hardPart is the state without what changes with every look.
func hardPart(state protocol.DirectorState) string {
	state = copyState(state)
	state.Message = ""
	for i := range state.Nodes {
		state.Nodes[i].CaughtUp, state.Nodes[i].Why = false, ""
	}
	return document(state)
}
