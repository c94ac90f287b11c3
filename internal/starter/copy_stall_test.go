package starter

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/wire"
)

// endless is an engine whose data have no end, or some bytes.
type endless struct {
	mariadb.Server
	give []string
}

func (e endless) Give([]string, engine.GiveParams, string) engine.Give {
	return engine.Give{Argv: e.give}
}

func newGiver(t *testing.T, stall time.Duration, give ...string) (*giver, *httptest.Server) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	n := &Node{Config: wire.ServerConfig{DataDir: filepath.Join(t.TempDir(), "data"), SecretDir: secrettest.SecretDir(t)}}
	g := &giver{Node: n, copier: endless{give: give}, stall: stall}
	s := httptest.NewServer(http.HandlerFunc(g.give))
	t.Cleanup(s.Close)
	return g, s
}

func ask(t *testing.T, url string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(wire.AccountReplication, familytest.Password)
	response, err := copyClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// TestAReceiverThatTakesNothingIsGivenUp, so that the next one gets its turn.
func TestAReceiverThatTakesNothingIsGivenUp(t *testing.T) {
	g, s := newGiver(t, time.Second, "cat", "/dev/zero")
	stalled := ask(t, s.URL) // and reads nothing of it
	if stalled.StatusCode != http.StatusOK {
		t.Fatalf("%s", stalled.Status)
	}
	if busy := ask(t, s.URL); busy.StatusCode != http.StatusServiceUnavailable || busy.Header.Get(wire.CopyGivenHeader) == "" {
		t.Errorf("meanwhile it answers %s with header %v", busy.Status, busy.Header)
	}
	agenttest.Eventually(t, "the donor is free again", func() bool {
		if !g.busy.TryLock() {
			return false
		}
		g.busy.Unlock()
		return true
	})
	if _, err := io.Copy(io.Discard, stalled.Body); err == nil {
		t.Error("what was given up looks whole")
	}
}

// TestACopyThatTakesItsTimeIsWhole: silence is not taken for a stall as long as there is nothing to take.
func TestACopyThatTakesItsTimeIsWhole(t *testing.T) {
	_, s := newGiver(t, 100*time.Millisecond, "sh", "-c", "sleep 0.5; echo one; sleep 0.5; echo two; sleep 0.5")
	text, err := io.ReadAll(ask(t, s.URL).Body)
	if err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestADonorThatSendsNothingMoreIsGivenUp.
func TestADonorThatSendsNothingMoreIsGivenUp(t *testing.T) {
	ctx, giveUp := context.WithCancelCause(t.Context())
	near, far := net.Pipe()
	defer far.Close()
	context.AfterFunc(ctx, func() { _ = near.Close() })
	go func() { _, _ = far.Write(bytes.Repeat([]byte("x"), 10)) }()
	stream := &counted{Reader: near, stall: 500 * time.Millisecond, giveUp: giveUp}
	_, err := io.Copy(io.Discard, stream)
	if err == nil || stream.bytes != 10 || !errors.Is(stream.err, io.ErrClosedPipe) || !strings.Contains(context.Cause(ctx).Error(), "nothing came for") {
		t.Errorf("%d bytes, %v, %v, because %v", stream.bytes, err, stream.err, context.Cause(ctx))
	}
}
