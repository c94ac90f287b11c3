package director

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/agent/client"
	"replab.dev/internal/wire"
)

// leaseAgents serves agents that answer a lease as told.
func leaseAgents(t *testing.T, answer http.HandlerFunc, patience time.Duration) *leases {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+wire.AgentPathLease, answer)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	l := newLeases(map[string]client.Agent{
		"a":    {HTTP: newAgentClient(), URL: s.URL, Token: token},
		"gone": {HTTP: newAgentClient(), URL: "http://127.0.0.1:1", Token: token},
	}, time.Hour, patience)
	for name := range l.until {
		l.until[name] = time.Time{} // no director was before this one
	}
	return l
}

func TestLeaseMayStandUnlessItWasCertainlyNotGiven(t *testing.T) {
	ok := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
	silent := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server notices that a client is gone only after that
		<-r.Context().Done()
	}
	refusing := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) }
	const unanswered = "a request without an answer, which may have come"
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		node   string
		fails  bool
		stands bool
	}{
		"a lease that was granted": {ok, "a", false, true},
		unanswered:                 {silent, "a", true, true},
		"a request that was refused, to be on the safe side": {refusing, "a", true, true},
		"an agent that cannot be connected to":               {ok, "gone", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			patience := time.Minute
			if name == unanswered {
				patience = 200 * time.Millisecond
			}
			l := leaseAgents(t, c.answer, patience)
			if err := l.give(t.Context(), c.node); (err != nil) != c.fails {
				t.Errorf("error is %v", err)
			}
			if left := l.left(c.node); (left > 50*time.Minute) != c.stands {
				t.Errorf("%v left", left)
			}
		})
	}
}

func TestDirectorThatStartsTakesEveryLeaseForJustGiven(t *testing.T) {
	l := newLeases(map[string]client.Agent{"a": {}}, time.Hour, time.Second)
	if left := l.left("a"); left < 50*time.Minute {
		t.Errorf("%v left", left)
	}
}

func TestOnlyTheHoldersLeaseIsRenewed(t *testing.T) {
	var given atomic.Int64
	l := leaseAgents(t, func(http.ResponseWriter, *http.Request) { given.Add(1) }, time.Minute)
	l.ttl = 30 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go l.run(ctx)
	await := func(what string, reached func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !reached(); time.Sleep(time.Millisecond) { // between two looks
			if time.Now().After(deadline) {
				t.Fatal("never came: " + what)
			}
		}
	}
	l.renewFor("a")
	await("renewals", func() bool { return given.Load() > 3 })
	l.renewFor("")
	after := given.Load()
	await("the end of the last lease", func() bool { return l.left("a") == 0 })
	if given.Load() > after+1 { // one may have been under way
		t.Error("renewed after the node was not the holder any more")
	}
}

// A node that is cut off must not get a lease, when the partition ends, that was asked for before. A kernel goes on
// sending what is under way on a connection that was closed, but not on one that was reset.
func TestRequestThatIsGivenUpResetsItsConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	a := client.Agent{HTTP: newAgentClient(), URL: "http://" + listener.Addr().String()}
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	asked := make(chan error, 1)
	go func() { asked <- a.Lease(ctx, time.Hour) }()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the request is under way
		t.Fatal(err)
	}
	giveUp()
	if err := <-asked; err == nil {
		t.Fatal("no error")
	}
	if _, err := io.Copy(io.Discard, conn); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection ended with %v", err)
	}
}
