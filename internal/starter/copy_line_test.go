package starter

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mariadb/mariadbtest"
	"replab.dev/internal/wire"
)

// line leads to a donor's wrapper; copied has the answer's body go from one to the other.
func line(t *testing.T, donor *agenttest.Node, status func(int), copied func(to io.Writer, from io.Reader)) (port int) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", donor.Server.CopyPort, r.URL.Path), nil)
		if err != nil {
			t.Error(err)
			return
		}
		request.Header = r.Header
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		status(response.StatusCode)
		w.WriteHeader(response.StatusCode)
		copied(w, response.Body)
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err = strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func anyStatus(int) {}

// cutting is a donor's wrapper behind a line that breaks off.
func cutting(t *testing.T, donor *agenttest.Node, after int64, times int32) (port int, cuts *atomic.Int32) {
	t.Helper()
	cuts = &atomic.Int32{}
	return line(t, donor, anyStatus, func(to io.Writer, from io.Reader) {
		if cuts.Load() < times {
			_, _ = io.CopyN(to, from, after)
			cuts.Add(1)
			panic(http.ErrAbortHandler)
		}
		_, _ = io.Copy(to, from)
	}), cuts
}

func TestATransferThatBreaksOffIsBegunAnew(t *testing.T) {
	p := newPair(t)
	port, cuts := cutting(t, p.donor, 1<<20, 2)
	p.request(port)
	p.awaitState(engine.CloneCompleted)
	if n := p.rows(); n != 500 || cuts.Load() != 2 {
		t.Errorf("%d rows after %d cuts", n, cuts.Load())
	}
}

// TestASecondCopyWaitsForTheFirst, however often it is told to ask again: the one before it may take long.
func TestASecondCopyWaitsForTheFirst(t *testing.T) {
	p := newPair(t)
	second := agenttest.NewNodeOf(t, mariadbtest.Flavor)
	second.Ready(second.Wrapper())
	const asked = failuresMost + 2
	begun, enough := make(chan struct{}), make(chan struct{})
	var refusals atomic.Int32
	held := line(t, p.donor, anyStatus, func(to io.Writer, from io.Reader) {
		_, _ = io.CopyN(to, from, 1<<20)
		close(begun)
		select {
		case <-enough:
		case <-t.Context().Done():
		}
		_, _ = io.Copy(to, from)
	})
	counting := line(t, p.donor, func(status int) {
		if status == http.StatusServiceUnavailable && refusals.Add(1) == asked {
			close(enough)
		}
	}, func(to io.Writer, from io.Reader) { _, _ = io.Copy(to, from) })
	p.request(held)
	<-begun
	requestCopy(t, second, counting)
	p.awaitState(engine.CloneCompleted)
	agenttest.Eventually(t, "the second is a copy too", func() bool {
		var rows int
		err := second.Server.DB(wire.AccountProbe, wire.Database).QueryRow("SELECT COUNT(*) FROM probe_writes").Scan(&rows)
		return err == nil && rows == 500
	})
	if n := refusals.Load(); n < asked {
		t.Errorf("the second was told to ask again %d times, and got its copy: not at once with the first", n)
	}
	if n := p.rows(); n != 500 {
		t.Errorf("the first has %d rows", n)
	}
}

func TestAWrapperThatIsKilledInATransferBeginsAnew(t *testing.T) {
	p := newPair(t)
	port, cuts := cutting(t, p.donor, 1<<20, 1)
	p.request(port)
	agenttest.Eventually(t, "the transfer broke off once", func() bool { return cuts.Load() == 1 })
	p.nodeW.Signal(t, syscall.SIGKILL)
	p.nodeW.Wait(t)
	p.nodeW = p.node.Wrapper()
	p.node.Ready(p.nodeW)
	p.awaitState(engine.CloneCompleted)
	if n := p.rows(); n != 500 {
		t.Errorf("%d rows", n)
	}
}
