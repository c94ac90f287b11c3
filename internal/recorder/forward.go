package recorder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"replab.dev/internal/ledger"
	"replab.dev/internal/recorder/figures"
	"replab.dev/internal/recorder/httpserver"
	"replab.dev/internal/recorder/outage"
	"replab.dev/internal/recorder/upstream"
	"replab.dev/internal/wire"
)

// book is the part of the ledger that the forwarder uses.
type book interface {
	Next() (uint64, error)
	Record(id uint64, o ledger.Outcome, at time.Time) error
}

// backend sends a request at most once. Its error says whether it was sent: see upstream.
type backend interface {
	Do(request *upstream.Request, timeout time.Duration) (*upstream.Response, error)
}

// forwarder forwards every request to the app once, and records it. A forwarded request ends by itself or by timeout, whatever its client does.
type forwarder struct {
	app      backend
	timeout  time.Duration
	now      func() time.Time
	ledger   book
	state    *state
	figures  *figures.Recorder
	outage   *outage.Log
	probing  schedule
	users    users
	requests requestsInFlight
	// generator makes the load.
	generator generator
	// outcomes counts by ledger.Outcome, for metrics.
	outcomes   [ledger.Indeterminate + 1]atomic.Int64
	rejections rejections
}

// serve answers one request; it is a httpserver.Handler.
func (d *forwarder) serve(r *http.Request, body []byte) httpserver.Answer {
	if strings.HasPrefix(r.URL.Path, wire.SocialPathProbe) {
		return httpserver.Refusal(http.StatusForbidden, wire.SocialPathProbe+" is for the recorder's own probe, whose rows must be its own")
	}
	op, counts := classify(r.Method, r.URL.Path)
	late, err := lateness(r.Header.Get(wire.HeaderLate))
	if err != nil {
		return httpserver.Refusal(http.StatusBadRequest, err.Error())
	}
	stage := r.Header.Get(wire.HeaderStage)
	if r.Method == http.MethodConnect {
		return httpserver.Refusal(http.StatusBadRequest, "CONNECT is not for this server")
	}
	request := forwarded(r, body)
	if !counts {
		return answerOf(d.app.Do(request, d.timeout))
	}
	if !d.requests.enter() {
		return httpserver.Refusal(http.StatusServiceUnavailable, "the recorder has finished: its figures are final and it takes no more load")
	}
	defer d.requests.leave()
	d.generator.saw(r.Header.Get("User-Agent"))
	if err := d.state.loadStarts(); err != nil {
		return httpserver.Refusal(http.StatusServiceUnavailable, err.Error())
	}
	return d.load(request, op, stage, late)
}

// load hands one request of the load on. The figures have it before its answer is relayed, also when this panics.
func (d *forwarder) load(request *upstream.Request, op figures.Operation, stage string, late time.Duration) (a httpserver.Answer) {
	call := d.figures.Begin(stage, op)
	defer func() { call.End(successful(a.Status), late) }()
	switch op {
	case figures.Register:
		return d.write(request)
	case figures.Profile:
		return d.profile(request, call.Counts())
	}
	return answerOf(d.app.Do(request, d.timeout))
}

// write forwards a write under an id of the ledger. The ledger has its outcome before the client does, also after a panic.
func (d *forwarder) write(request *upstream.Request) (a httpserver.Answer) {
	if reason := d.state.failure(); reason != "" {
		return httpserver.Refusal(http.StatusServiceUnavailable, "the recorder refuses writes: "+reason)
	}
	id, err := d.ledger.Next()
	if err != nil {
		return d.fail(fmt.Errorf("take an id for a write: %w", err))
	}
	outcome := ledger.Indeterminate
	defer func() {
		d.outcomes[outcome].Add(1)
		if err := d.ledger.Record(id, outcome, d.now()); err != nil {
			a = d.fail(fmt.Errorf("record that write %d was %s: %w", id, outcomeName(outcome), err))
		}
	}()
	request.ExtraName, request.ExtraValue = wire.HeaderWriteID, strconv.FormatUint(id, 10)
	response, err := d.app.Do(request, d.timeout)
	outcome = outcomeOf(response, err)
	if outcome == ledger.Rejected {
		d.rejections.add(reasonOf(response))
	}
	d.note(id, response, outcome)
	return answerOf(response, err)
}

// note a write's end for outages and stale reads.
func (d *forwarder) note(id uint64, response *upstream.Response, outcome ledger.Outcome) {
	switch {
	case outcome == ledger.Acknowledged:
		node := response.Header.Get(wire.HeaderNode)
		d.outage.Acknowledged(node)
		d.probing.acknowledged(d.now())
		d.figures.Wrote(node)
		d.users.add(response.Header.Get(wire.HeaderUserID), id)
	case !wasInvalid(response):
		d.outage.Failed()
	}
}

// profile hands on a read of one user. If its stage counts, it is stale when an acknowledged user is not found.
func (d *forwarder) profile(request *upstream.Request, counts bool) httpserver.Answer {
	path, _, _ := strings.Cut(request.Target, "?")
	write := d.users.write(strings.TrimPrefix(path, wire.SocialPathGet))
	response, err := d.app.Do(request, d.timeout)
	switch {
	case !counts || write == 0 || err != nil:
	case response.Status == http.StatusNotFound:
		d.users.notFound(write)
	case successful(response.Status):
		d.users.wasFound()
	}
	return answerOf(response, err)
}

// fail makes the recorder refuse writes from now on. A ledger closed by a stop is no failure: open writes count as indeterminate.
func (d *forwarder) fail(err error) httpserver.Answer {
	if !errors.Is(err, ledger.ErrClosed) {
		d.state.fail(err.Error())
	}
	return httpserver.Refusal(http.StatusServiceUnavailable, "the recorder can no longer vouch for writes: "+err.Error())
}

// forwarded is the request as the app gets it.
func forwarded(r *http.Request, body []byte) *upstream.Request {
	for _, name := range notForwarded {
		r.Header.Del(name)
	}
	return &upstream.Request{Method: r.Method, Target: r.URL.RequestURI(), Header: r.Header, Body: body}
}

// notForwarded are the recorder's own headers, and those that HTTP clients take as leave to send a write twice.
var notForwarded = []string{
	wire.HeaderWriteID, wire.HeaderStage, wire.HeaderLate, "Idempotency-Key", "X-Idempotency-Key",
}

// answerOf relays the app's response, or the reason why there is none.
func answerOf(response *upstream.Response, err error) httpserver.Answer {
	if err == nil {
		return httpserver.Answer{Status: response.Status, Header: response.Header, Body: response.Body}
	}
	var timeout net.Error
	switch {
	case notSent(err):
		a := httpserver.Refusal(http.StatusBadGateway, "the app cannot be reached: "+err.Error())
		a.Header.Set(wire.HeaderRejected, wire.RejectedNotSent)
		return a
	case errors.As(err, &timeout) && timeout.Timeout():
		return httpserver.Refusal(http.StatusGatewayTimeout, "the app did not answer in time: "+err.Error())
	}
	return httpserver.Refusal(http.StatusBadGateway, "the app did not answer: "+err.Error())
}

func notSent(err error) bool {
	var e *upstream.NotSentError
	return errors.As(err, &e)
}

// refuse answers on the control port.
func refuse(w http.ResponseWriter, status int, text string) {
	a := httpserver.Refusal(status, text)
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // a client that is gone needs no answer
}

// requestsInFlight counts the load's requests until it is closed. The zero value is open.
type requestsInFlight struct {
	mu     sync.Mutex
	inside int
	idle   chan struct{} // made when the gate closes, closed when the last has left
}

// enter reports whether the request may go on. If so, leave must follow.
func (g *requestsInFlight) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.idle != nil {
		return false
	}
	g.inside++
	return true
}

func (g *requestsInFlight) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.idle != nil && g.inside == 0 {
		close(g.idle)
	}
}

// drain refuses further requests, and waits until the last has left. It may be called again.
func (g *requestsInFlight) drain(ctx context.Context) error {
	select {
	case <-g.close():
		return nil
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		return fmt.Errorf("%d requests are still in flight: %w", g.inside, errors.Join(ctx.Err(), context.Cause(ctx)))
	}
}

func (g *requestsInFlight) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.idle == nil {
		g.idle = make(chan struct{})
		if g.inside == 0 {
			close(g.idle)
		}
	}
	return g.idle
}
