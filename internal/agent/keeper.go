package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"replab.dev/internal/agent/notes"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const (
	// fenceTimeout bounds one attempt. It is longer than the engine's own wait for commits in progress.
	fenceTimeout = 40 * time.Second
	// fenceRetry is the time between two attempts, and the longest until a server that is back is tried.
	fenceRetry = 100 * time.Millisecond
)

// keeper keeps the server from being writable without a lease.
type keeper struct {
	finder *proc.Finder
	client engine.Client
	note   notes.File[wire.Lease] // the last one that was given

	mu    sync.Mutex
	lease lease
	safe  chan struct{} // closed and replaced each time that the server was fenced
	wake  chan struct{}

	saving sync.Mutex
	saved  time.Duration // what is in the file
}

// newKeeper goes on with the ttl that an earlier agent has left in stateDir.
func newKeeper(stateDir string, finder *proc.Finder, client engine.Client) (*keeper, error) {
	k := &keeper{
		finder: finder, client: client, note: notes.File[wire.Lease]{Path: filepath.Join(stateDir, "lease.json")},
		safe: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	last, err := k.note.Load()
	if err != nil || last == nil {
		return k, err
	}
	k.saved = time.Duration(last.TTLMilliseconds) * time.Millisecond
	k.lease = resumed(time.Now(), k.saved)
	return k, nil
}

// renew gives a lease. The ttl is on disk before, so that an agent that starts anew knows that there was one.
func (k *keeper) renew(ttl time.Duration) error {
	if err := k.save(ttl); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	defer k.wakeUp()
	return k.lease.renew(time.Now(), ttl)
}

func (k *keeper) save(ttl time.Duration) error {
	k.saving.Lock()
	defer k.saving.Unlock()
	if k.saved == ttl {
		return nil
	}
	if err := k.note.Save(wire.Lease{TTLMilliseconds: ttl.Milliseconds()}); err != nil {
		return err
	}
	k.saved = ttl
	return nil
}

// fence ends the lease and waits until the server is fenced or ctx ends; it is fenced then as soon as it can be.
func (k *keeper) fence(ctx context.Context) error {
	k.mu.Lock()
	k.lease.void(time.Now())
	safe := k.safe
	k.wakeUp()
	k.mu.Unlock()
	select {
	case <-safe:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the lease is void, but the server is not fenced yet; the agent goes on trying: %w", ctx.Err())
	}
}

func (k *keeper) held() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lease.held(time.Now())
}

func (k *keeper) seenWritable(asked time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lease.seenWritable(asked)
	k.wakeUp()
}

func (k *keeper) wakeUp() {
	select {
	case k.wake <- struct{}{}:
	default: // it is awake
	}
}

// run fences the server whenever it must be, until ctx ends.
func (k *keeper) run(ctx context.Context) {
	said := false
	for {
		k.mu.Lock()
		due := k.lease.fenceAt
		must := k.lease.mustFence(time.Now())
		k.mu.Unlock()
		if !must {
			said = false
			k.sleep(ctx, due)
			if ctx.Err() != nil {
				return
			}
			continue
		}
		if !said {
			slog.Info("the lease expired: fencing the server")
		}
		err := k.fenceOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			k.noteFenced()
			continue
		}
		if !said {
			slog.Warn("fencing the server failed, trying again", "error", err)
			said = true
		}
		k.sleep(ctx, time.Now().Add(fenceRetry))
	}
}

// fenceOnce tries once. A server that does not exist is as good as fenced: the next one starts read-only.
func (k *keeper) fenceOnce(ctx context.Context) error {
	if _, err := k.finder.Find(); errors.Is(err, proc.ErrNone) {
		slog.Info("no server process exists: nothing to fence")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, fenceTimeout)
	defer cancel()
	err := k.client.Fence(ctx)
	if err == nil {
		slog.Info("the server is fenced")
	}
	return err
}

func (k *keeper) noteFenced() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lease.fenced(time.Now())
	close(k.safe)
	k.safe = make(chan struct{})
}

// sleep waits until the given time (zero: without limit), until it is woken, or until ctx ends.
func (k *keeper) sleep(ctx context.Context, until time.Time) {
	var alarm <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		alarm = timer.C
	}
	select {
	case <-ctx.Done():
	case <-k.wake:
	case <-alarm:
	}
}

// errFencing refuses a lease to a server that is still being fenced for the last one.
var errFencing = errors.New("the last lease is over and the server is not fenced yet; ask again")

// fenceAhead is the part of a lease, its last tenth, that is kept for fencing: its giver counts on a server that is
// fenced when the lease ends, not on one that begins to be.
const fenceAhead = 10

// lease decides whether the server may be writable. It is pure: every method is told the time, of the monotonic clock.
//
// A lease is taken before the server is opened and renewed while it is to be writable. When it expires, or is voided,
// the server must be fenced before the next lease is given. A server that is seen writable without a lease is fenced as
// well, once any lease was ever given to this node: before that it is unknown which node may be primary.
type lease struct {
	ttl        time.Duration // of the last lease given; 0: none ever was
	until      time.Time     // the lease stands before
	fenceAt    time.Time     // from then on the server must be fenced; zero: it need not be
	lastFenced time.Time
}

// resumed is the state after a restart of the agent: nothing is held, and the holder has one ttl to renew.
func resumed(now time.Time, ttl time.Duration) lease {
	if ttl == 0 {
		return lease{}
	}
	return lease{ttl: ttl, fenceAt: now.Add(ttl)}
}

func (l *lease) renew(now time.Time, ttl time.Duration) error {
	if l.mustFence(now) {
		return errFencing
	}
	l.ttl, l.until = ttl, now.Add(ttl-ttl/fenceAhead)
	l.fenceAt = l.until
	return nil
}

func (l *lease) void(now time.Time) { l.until, l.fenceAt = now, now }

func (l *lease) held(now time.Time) bool { return now.Before(l.until) }

func (l *lease) mustFence(now time.Time) bool { return !l.fenceAt.IsZero() && !now.Before(l.fenceAt) }

// fenced notes that the server was fenced, or is dead.
func (l *lease) fenced(now time.Time) { l.fenceAt, l.lastFenced = time.Time{}, now }

// seenWritable notes that the server was found writable, by a question asked at the given time. The answer may be
// older than the last fencing.
func (l *lease) seenWritable(asked time.Time) {
	if l.ttl > 0 && l.fenceAt.IsZero() && !l.held(asked) && asked.After(l.lastFenced) {
		l.fenceAt = asked
	}
}
