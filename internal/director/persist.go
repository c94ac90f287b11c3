package director

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"replab.dev/internal/director/publish"
	"replab.dev/internal/wire"
)

// softInterval is the least time until a write of the state that tells only how far replicas have come and what is waited
// for: under load that changes with every look.
const softInterval = 2 * time.Second

// saveRetry is how long a write that failed waits for its next try, unless it is an intent, which is tried every round.
const saveRetry = time.Second

// store keeps the state durably.
type store interface {
	// Load returns the stored state, once it can be read; the zero state when there is none yet.
	Load(ctx context.Context) (wire.DirectorState, error)
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
	d.saved = state
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
	now := time.Now()
	if reflect.DeepEqual(state, d.saved) || document(state) == document(d.saved) || now.Before(d.saveAfter) || (!d.isUrgent(state) && now.Before(d.softAfter)) {
		return nil
	}
	if err := d.save(ctx, state); err != nil {
		d.saveAfter = time.Now().Add(saveRetry)
		return d.saveFailed(ctx, err)
	}
	return nil
}

func (d *Director) save(ctx context.Context, state wire.DirectorState) error {
	if err := d.store.Save(ctx, document(state)); err != nil {
		return err
	}
	d.saved = state
	d.softAfter = time.Now().Add(softInterval)
	return nil
}

// saveFailed begins anew from the stored state when that is not the one expected: a write that was thought to have
// failed may have arrived. Other errors are tried again by the next round.
func (d *Director) saveFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	d.warn(ctx, "the state could not be written into its ConfigMap", err)
	if !errors.Is(err, publish.ErrChanged) {
		return nil
	}
	d.nodes.renewFor("")
	d.nodes.restart()
	return d.load(ctx)
}

func document(state wire.DirectorState) string {
	text, err := json.Marshal(state)
	if err != nil {
		panic(err) // plain data: it has nothing that JSON cannot hold
	}
	return string(text)
}

// isUrgent tells that a state differs from the stored one in more than progress and words, or that a replica fell back:
// a replica must not be shown as caught up for long after it fell back.
func (d *Director) isUrgent(state wire.DirectorState) bool {
	if hardPart(state) != hardPart(d.saved) {
		return true
	}
	for i, n := range d.saved.Nodes {
		if n.CaughtUp && !state.Nodes[i].CaughtUp {
			return true
		}
	}
	return false
}

// hardPart is the state without what changes with every look.
func hardPart(state wire.DirectorState) string {
	state = copyState(state)
	state.Message = ""
	for i := range state.Nodes {
		state.Nodes[i].CaughtUp, state.Nodes[i].Why = false, ""
	}
	return document(state)
}
