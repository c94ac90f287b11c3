package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
)

// answering is a server that answers, or that does not.
type answering struct{ hangs atomic.Bool }

func (a *answering) Position(ctx context.Context) (engine.ServerPosition, error) {
	if a.hangs.Load() {
		<-ctx.Done()
		return engine.ServerPosition{}, errors.New("no answer in time")
	}
	return engine.ServerPosition{Writable: true, Timeline: 7}, nil
}

// sleeper starts a process that is taken for a server, until stop.
func sleeper(t *testing.T, argv []string) (stop func()) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(stop)
	return stop
}

func TestOldAnswersAreNone(t *testing.T) {
	argv := []string{"sleep", fmt.Sprintf("3601.%d", os.Getpid())}
	sleeper(t, argv)
	finder := proc.NewFinder(argv[0], func(process []string) bool { return slices.Equal(argv, process) })
	now, err := finder.Find()
	if err != nil {
		t.Fatal(err)
	}
	before := now
	before.StartTicks--
	for says, a := range map[string]watch.Answer[engine.ServerPosition]{
		"":                    {Of: now, Asked: time.Now(), At: time.Now().Add(time.Hour)}, // no test is that slow
		"started anew":        {Of: before, At: time.Now().Add(time.Hour)},
		"not answer any more": {Of: now, At: time.Now().Add(-2 * freshness)},
		"broken":              {Of: now, At: time.Now().Add(time.Hour), Err: errors.New("broken")},
	} {
		l := lookOf(now, a, time.Now())
		if (l.Position != nil) != (says == "") || l.Asked.IsZero() != (says != "") || !strings.Contains(l.Why, says) || l.Server == "" {
			t.Errorf("%q: %+v", says, l)
		}
	}
}

func TestWhatIsSeenOfAServer(t *testing.T) {
	argv := []string{"sleep", fmt.Sprintf("3600.%d", os.Getpid())}
	server := &answering{}
	w := NewWatcher(proc.NewFinder(argv[0], func(process []string) bool { return slices.Equal(argv, process) }), server)
	ctx, cancel := context.WithCancel(t.Context())
	var loop sync.WaitGroup
	loop.Go(func() { w.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		loop.Wait()
	})
	var l Look
	await := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) { // between two looks
			var err error
			if l, err = w.Look(); err != nil {
				t.Fatal(err)
			}
			if is() {
				return
			}
		}
		t.Fatalf("not so within a minute: %s; it is seen as %+v", what, l)
	}

	await("none runs", func() bool { return l.Server == "" && l.Why != "" })
	stop := sleeper(t, argv)
	await("it answers", func() bool { return l.Position != nil && l.Position.Timeline == 7 && l.Why == "" })
	before := l
	server.hangs.Store(true)
	await("it does not answer", func() bool { return l.Position == nil && l.Server == before.Server && l.Why != "" })
	server.hangs.Store(false)
	await("it answers again", func() bool { return l.Position != nil && l.At.After(before.At) })
	stop()
	await("it is gone", func() bool { return l.Server == "" && l.Position == nil })
	server.hangs.Store(true)
	sleeper(t, argv)
	await("another one has not answered", func() bool { return l.Server != "" && l.Server != before.Server && l.Position == nil })
	server.hangs.Store(false)
	await("it has", func() bool { return l.Server != before.Server && l.Position != nil })
}
