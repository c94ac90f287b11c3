package recorder

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"replab.dev/internal/process"
	"replab.dev/internal/recorder/httpserver"
	"replab.dev/internal/recorder/upstream"
	"replab.dev/test/benchmark"
)

// childHTTP is the environment variable that has a child recorder speak HTTP by net/http on both sides.
const childHTTP = "REPLAB_TEST_RECORDER_NETHTTP"

// TestBenchOwnHTTP has two recorders take turns, one that speaks HTTP itself and one that leaves it to net/http, before the same
// app. The ratio is what the own one saves of the throughput, where all share the processors.
func TestBenchOwnHTTP(t *testing.T) {
	benchmark.Skip(t)
	for _, c := range []struct {
		name string
		path func(*testing.T) *path
	}{
		{"one server, all share", oneServer},
		{"semi-sync, all share", semiSyncPath},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.path(t)
			p.unindex() // both recorders count from 1
			own := p.startRecorder(silent)
			t.Setenv(childHTTP, "yes")
			plain := p.startRecorder(silent)
			ownTurns := p.startTurns(pathTurn, "http://"+own.listen, own.cmd)
			plainTurns := p.startTurns(pathTurn, "http://"+plain.listen, plain.cmd)
			owns, plains := benchmark.Pairs(pathPairs, ownTurns.turn, plainTurns.turn)
			report("the recorder's own HTTP: "+c.name+", "+congestionControl(t), "own", owns, "net/http", plains, benchmark.AtLeast(1.02))
			p.checkRequests()
		})
	}
}

// netClient is upstream.Client by net/http. It may still repeat a read, which is in no ledger, on a connection that has ended;
// a write has a body that cannot be had again.
type netClient struct {
	address   string
	transport *http.Transport
}

func newNetClient(address string) *netClient {
	return &netClient{address, &http.Transport{
		MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024, IdleConnTimeout: 20 * time.Second, DisableCompression: true,
	}}
}

func (c *netClient) Do(request *upstream.Request, timeout time.Duration) (*upstream.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	target, err := url.ParseRequestURI(request.Target)
	if err != nil {
		return nil, &upstream.NotSentError{Cause: err}
	}
	target.Scheme, target.Host = "http", c.address
	header := maps.Clone(request.Header)
	if header == nil {
		header = http.Header{}
	}
	if request.ExtraName != "" {
		header[request.ExtraName] = []string{request.ExtraValue}
	}
	r := (&http.Request{Method: request.Method, URL: target, Host: c.address, Header: header}).WithContext(ctx)
	if len(request.Body) > 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(request.Body)), int64(len(request.Body))
	}
	response, err := c.transport.RoundTrip(r)
	if err != nil {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return nil, &upstream.NotSentError{Cause: err}
		}
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, upstream.MaxResponseBytes))
	return &upstream.Response{Status: response.StatusCode, Header: response.Header, Body: body}, err
}

// serveNetHTTP is httpserver.Serve by net/http.
func serveNetHTTP(ctx context.Context, address string, handle httpserver.Handler) error {
	return process.Serve(ctx, &http.Server{Addr: address, ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, httpserver.MaxBodyBytes))
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		a := handle(r, body)
		maps.Copy(w.Header(), a.Header)
		w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.Body) // a client that is gone needs no answer
	})})
}

func TestNetHTTPDoesWhatTheOwnDoes(t *testing.T) {
	b := newBench(t, answering(http.StatusCreated))
	t.Setenv(childHTTP, "yes")
	startProcess(t, childConfig, b.cfg)
	eventually(t, "the recorder serves", func() bool {
		c, err := net.Dial("tcp", b.cfg.Listen)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	if status := b.register(); status != http.StatusCreated {
		t.Errorf("a write has status %d", status)
	}
	if _, got := b.finish(); got.Writes.Acknowledged != 1 || got.Load.Failures != 0 {
		t.Errorf("writes %+v, load %+v", got.Writes, got.Load)
	}
}
