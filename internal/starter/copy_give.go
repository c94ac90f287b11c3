package starter

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// stallMost is how long nothing of a copy may pass before either side gives the other up.
const stallMost = time.Minute

// giver gives copies of the server's data, one at a time.
type giver struct {
	*Node
	copier engine.Copier
	busy   sync.Mutex
	given  atomic.Int64 // bytes of all copies so far: a waiting receiver sees that the copy before its own goes on
	stall  time.Duration
}

// serveCopies lets other nodes' wrappers fetch copies, where the engine's servers do not copy by themselves, until stop is called.
func (n *Node) serveCopies() (stop func(), err error) {
	copier, ok := n.Engine.(engine.Copier)
	if !ok || n.Config.CopyPort == 0 {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(n.Config.CopyPort)))
	if err != nil {
		return nil, fmt.Errorf("listen for those who want a copy of the data: %w", err)
	}
	g := &giver{Node: n, copier: copier, stall: stallMost}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+wire.CopyPath, g.give)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			slog.Error("the copy service stopped: no node can copy this one any more", "error", err)
		}
	}()
	return func() { _ = server.Close() }, nil
}

func (g *giver) give(rw http.ResponseWriter, r *http.Request) {
	password, err := process.Secret(g.Config.SecretDir, wire.AccountReplication)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	account, given, _ := r.BasicAuth()
	if account != wire.AccountReplication || subtle.ConstantTimeCompare([]byte(given), []byte(password)) != 1 {
		http.Error(rw, "only replicas get a copy", http.StatusUnauthorized)
		return
	}
	if !g.busy.TryLock() {
		rw.Header().Set(wire.CopyGivenHeader, strconv.FormatInt(g.given.Load(), 10))
		http.Error(rw, "another copy is being given: ask again", http.StatusServiceUnavailable)
		return
	}
	defer g.busy.Unlock()
	slog.Info("sending a copy of the data", "to", r.RemoteAddr)
	out := &paced{out: rw, control: http.NewResponseController(rw), stall: g.stall, given: &g.given}
	err = errors.Join(out.begin(), g.stream(r.Context(), out), out.extend())
	if err != nil {
		slog.Warn("sending a copy of the data failed", "to", r.RemoteAddr, "error", err)
		panic(http.ErrAbortHandler) // cuts the stream off: it must not look whole
	}
}

// paced gives a receiver up that takes nothing any more: it would keep the other receivers waiting.
type paced struct {
	out     http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	given   *atomic.Int64
}

// begin tells that the copy will come: what makes it may take its time until there is something to send.
func (p *paced) begin() error {
	p.out.WriteHeader(http.StatusOK)
	return errors.Join(p.extend(), p.control.Flush())
}

// extend has what is sent next be taken within the time that is left for it.
func (p *paced) extend() error { return p.control.SetWriteDeadline(time.Now().Add(p.stall)) }

func (p *paced) Write(b []byte) (int, error) {
	if err := p.extend(); err != nil {
		return 0, err
	}
	n, err := p.out.Write(b)
	p.given.Add(int64(n))
	return n, err
}

// stream runs the command that writes the data. Its password lies in TMPDIR (in memory in a pod) while it runs.
func (g *giver) stream(ctx context.Context, out io.Writer) error {
	admin, err := process.Secret(g.Config.SecretDir, wire.AccountAdmin)
	if err != nil {
		return err
	}
	target := filepath.Join(filepath.Dir(g.Config.DataDir), "copy.tmp")
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	if err := os.MkdirAll(target, 0o750); err != nil {
		return err
	}
	defer os.RemoveAll(target) // the next one removes it as well
	secret := filepath.Join(os.TempDir(), "replab-copy.cnf")
	how := g.copier.Give(g.Config.Server, engine.GiveParams{
		Socket: g.Config.Socket, DataDir: g.Config.DataDir, TargetDir: target, SecretFile: secret,
	}, admin)
	_ = os.Remove(secret) // of one that was killed
	defer os.Remove(secret)
	if err := os.WriteFile(secret, []byte(how.Secret), 0o600); err != nil {
		return err
	}
	return run(ctx, how.Argv, nil, out)
}

const (
	// failuresMost in a row, of which none came further than one before, and the server goes on with the data that it had.
	failuresMost = 5
	failurePause = 2 * time.Second
	// waitMost is how long a donor may give another a copy without any progress: longer than it goes on with one that takes nothing.
	waitMost  = stallMost + 30*time.Second
	waitPause = time.Second
)

// donorBusy is a donor that gives another node a copy.
type donorBusy struct {
	given int64 // bytes that it has given so far
	err   error
}

func (b *donorBusy) Error() string { return b.err.Error() }

// brokenOff is a copy that did not come whole.
type brokenOff struct {
	received int64 // bytes
	err      error
}

func (b *brokenOff) Error() string { return b.err.Error() }
func (b *brokenOff) Unwrap() error { return b.err }

// patience is how long a copy that does not come about is tried again: as long as something moves, be it for another node.
type patience struct {
	failures int
	furthest int64     // bytes of the copy that came furthest
	given    int64     // by the donor, when it was found busy
	moved    time.Time // when that was seen to change; zero while the donor is not known to be busy
}

// after a failure at that time, it tells whether to try again, and when.
func (p *patience) after(now time.Time, err error) (pause time.Duration, again bool) {
	var busy *donorBusy
	if errors.As(err, &busy) {
		if p.moved.IsZero() || busy.given != p.given {
			p.given, p.moved = busy.given, now
		}
		return waitPause, now.Sub(p.moved) < waitMost
	}
	p.moved = time.Time{}
	var broken *brokenOff
	if errors.As(err, &broken) && broken.received > p.furthest {
		p.furthest, p.failures = broken.received, 0
	}
	p.failures++
	return failurePause, p.failures < failuresMost
}
