package recorder

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

func TestARecorderRestartedAfterFinishAnswersWithTheSameResults(t *testing.T) {
	b := newBench(t, answering(201))
	_, stop := b.run()
	b.register()
	_, first := b.finish()
	stop()
	b.board = &memory{} // whatever had been published
	b.env.board = b.board
	b.run()
	if _, got := b.finish(); !sameJSON(t, first, got) || !sameJSON(t, first, b.board.results(t)) {
		t.Errorf("results %+v, before the restart %+v", got, first)
	}
	if status := b.register(); status != http.StatusServiceUnavailable {
		t.Errorf("a write has status %d", status)
	}
	if status, body := b.get(b.control(wire.RecorderPathLedger)); status != http.StatusOK || !fileHolds(t, b.cfg.LedgerPath, body) {
		t.Errorf("the ledger has status %d", status)
	}
}

func fileHolds(t *testing.T, path string, want []byte) bool {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(got, want)
}

func TestARecorderRestartedDuringTheLoadSaysThatItsFiguresAreIncomplete(t *testing.T) {
	b := newBench(t, answering(201))
	b.cfg.Nodes = []wire.Node{{Name: "db-0", Host: "127.0.0.1"}}
	w, stop := b.run()
	w.probes.inspection.pause = time.Millisecond // no server answers
	for range 3 {
		b.register()
	}
	eventually(t, "the start of the load is published", func() bool { return b.board.state(t).LoadStartedAt != nil })
	before := b.board.state(t)
	stop()
	w, _ = b.run()
	w.probes.inspection.pause = time.Millisecond
	eventually(t, "the restart is published", func() bool { return b.board.state(t).Restarts == 1 })
	for range 2 {
		b.register()
	}
	_, got := b.finish()
	if got.LoadStartedAt.UnixMicro() != before.LoadStartedAt.UnixMicro() {
		t.Errorf("the load started at %v, before the restart it was %v", got.LoadStartedAt, before.LoadStartedAt)
	}
	if want := (wire.LedgerCounts{Sent: 5, Acknowledged: 5}); got.Writes != want {
		t.Errorf("writes %+v, want %+v", got.Writes, want)
	}
	if !strings.Contains(got.Incomplete, "the recorder was started anew during the load") || got.Restarts != 1 {
		t.Errorf("incomplete %q, %d restarts", got.Incomplete, got.Restarts)
	}
	if len(got.Settings) != 1 || got.Settings[0].Unread != "the reading before the load was lost when the recorder ended" {
		t.Errorf("settings %+v", got.Settings)
	}
}

func TestARecorderRestartedBeforeTheLoadIsComplete(t *testing.T) {
	b := newBench(t, answering(201))
	_, stop := b.run()
	stop()
	b.run()
	b.register()
	if _, got := b.finish(); got.Incomplete != "" || got.Restarts != 1 || got.Load.Requests != 1 {
		t.Errorf("results %+v", got)
	}
}

func TestARecorderThatIsStoppedLetsWritesEnd(t *testing.T) {
	arrived, goOn := make(chan struct{}), make(chan struct{})
	b := newBench(t, func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-goOn
		w.WriteHeader(201)
	})
	_, stop := b.run()
	status := make(chan int, 1)
	go func() { status <- b.register() }()
	<-arrived
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	eventually(t, "the recorder takes no more connections", func() bool {
		c, err := net.Dial("tcp", b.cfg.Listen)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	close(goOn)
	<-stopped
	if got := <-status; got != 201 {
		t.Errorf("status %d", got)
	}
	if got := outcomes(t, b.cfg.LedgerPath); got[1] != ledger.Acknowledged {
		t.Errorf("ledger %v", got)
	}
}

func TestAFailureThatCouldOnlyBePublishedOutlivesTheRecorder(t *testing.T) {
	b := newBench(t, answering(201))
	_, stop := b.run()
	stop()
	b.board.data[wire.RecorderStateKey] = `{"failed":"the disk was full"}`
	b.run()
	if status := b.register(); status != http.StatusServiceUnavailable {
		t.Errorf("a write has status %d", status)
	}
}

// TestWritesThatOutlastTheServersPatienceAreWaitedFor is about what http.Server's Shutdown does not wait for.
func TestWritesThatOutlastTheServersPatienceAreWaitedFor(t *testing.T) {
	arrived, goOn := make(chan struct{}), make(chan struct{})
	b := newBench(t, func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-goOn
		w.WriteHeader(201)
	})
	w, err := open(t.Context(), b.cfg, b.env)
	if err != nil {
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		ask(w.forwarder, http.MethodPost, wire.SocialPathRegister, "{}")
	})
	<-arrived
	ended.Go(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "no more requests are taken", func() bool {
		if w.forwarder.requests.enter() {
			w.forwarder.requests.leave()
			return false
		}
		return true
	})
	close(goOn)
	ended.Wait()
	if got := outcomes(t, b.cfg.LedgerPath); got[1] != ledger.Acknowledged || w.state.failure() != "" {
		t.Errorf("ledger %v, failed %q", got, w.state.failure())
	}
}

func TestARecorderWhoseVolumeIsGoneFails(t *testing.T) {
	b := newBench(t, answering(201))
	_, stop := b.run()
	b.register()
	eventually(t, "the start of the load is published", func() bool { return b.board.state(t).LoadStartedAt != nil })
	stop()
	b.cfg.LedgerPath = filepath.Join(t.TempDir(), "ledger")
	b.run()
	if status := b.register(); status != http.StatusServiceUnavailable {
		t.Errorf("a write has status %d", status)
	}
	if _, got := b.finish(); !strings.Contains(got.Failed, "is gone") || !strings.Contains(b.board.state(t).Failed, "is gone") {
		t.Errorf("failed: %q", got.Failed)
	}
}

func TestARecorderThatCannotOpenItsLedgerSaysSo(t *testing.T) {
	for name, prepare := range map[string]func(b *bench){
		"damaged": func(b *bench) {
			if err := os.WriteFile(b.cfg.LedgerPath, bytes.Repeat([]byte("damaged!"), 10), 0o600); err != nil {
				b.t.Fatal(err)
			}
		},
		"in a folder that is not there": func(b *bench) { b.cfg.LedgerPath = filepath.Join(b.t.TempDir(), "none", "ledger") },
		"with a state that cannot be read": func(b *bench) {
			if err := os.WriteFile(b.cfg.LedgerPath+stateSuffix, []byte("{"), 0o600); err != nil {
				b.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, answering(201))
			prepare(b)
			b.run()
			if status := b.register(); status != http.StatusServiceUnavailable {
				t.Errorf("a write has status %d", status)
			}
			eventually(t, "the failure is published", func() bool { return b.board.state(t).Failed != "" })
			if status, got := b.finish(); status != http.StatusOK || got.Failed == "" || got.Writes.Sent != 0 {
				t.Errorf("finish: status %d, failed %q", status, got.Failed)
			}
		})
	}
}

func TestAFailureOutlivesTheRecorder(t *testing.T) {
	b := newBench(t, answering(201))
	w, stop := b.run()
	b.register()
	w.state.fail("the disk was full")
	if status := b.register(); status != http.StatusServiceUnavailable {
		t.Errorf("a write has status %d", status)
	}
	stop()
	b.board = &memory{} // by its own files, whatever was published
	b.env.board = b.board
	b.run()
	if status := b.register(); status != http.StatusServiceUnavailable {
		t.Errorf("a write to the next recorder has status %d", status)
	}
	if _, got := b.finish(); got.Failed != "the disk was full" {
		t.Errorf("failed: %q", got.Failed)
	}
}

func TestAFullDiskAtTheLoadsStart(t *testing.T) {
	b := newBench(t, answering(201))
	b.run()
	restore := limitFileSize(t, 1)
	status := b.register()
	restore()
	if status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	eventually(t, "the failure is published", func() bool { return b.board.state(t).Failed != "" })
	if got := b.board.state(t); got.LoadStartedAt != nil {
		t.Errorf("the load started at %v, which is not on the disk", got.LoadStartedAt)
	}
}
