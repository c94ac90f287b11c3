package witness

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"replab.dev/internal/ledger"
	"replab.dev/internal/protocol"
	"replab.dev/internal/witness/figures"
	"replab.dev/internal/witness/outage"
	"replab.dev/internal/witness/upstream"
)

// maxBodyBytes bounds what a client may send; the app's own bound is far below it.
const maxBodyBytes = 1 << 20

// book is the ledger as the door needs it.
type book interface {
	Next() (uint64, error)
	Record(id uint64, o ledger.Outcome, at time.Time) error
}

// door is the front door of the app: it hands every request on, once, and keeps account of it. A request that has gone
// on to the app runs to its end whatever its client does, bounded by timeout.
type door struct {
	app     *upstream.Client
	timeout time.Duration
	now     func() time.Time
	ledger  book
	state   *state
	figures *figures.Recorder
	outage  *outage.Log
	probing schedule
	users   users
	gate    gate
	// outcomes counts by ledger.Outcome, for metrics.
	outcomes [ledger.Indeterminate + 1]atomic.Int64
}

// ServeHTTP implements http.Handler.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.serve(r).relay(w)
}

func (d *door) serve(r *http.Request) answer {
	if strings.HasPrefix(r.URL.Path, protocol.SocialPathProbe) {
		return refusal(http.StatusForbidden, protocol.SocialPathProbe+" is for the witness's own probe, whose rows must be its own")
	}
	op, counts := classify(r.Method, r.URL.Path)
	late, err := lateness(r.Header.Get(protocol.HeaderLate))
	if err != nil {
		return refusal(http.StatusBadRequest, err.Error())
	}
	stage := r.Header.Get(protocol.HeaderStage)
	request, err := forwarded(r)
	if err != nil {
		return refusal(http.StatusBadRequest, err.Error())
	}
	if !counts {
		return answerOf(d.app.Do(request, d.timeout))
	}
	if !d.gate.enter() {
		return refusal(http.StatusServiceUnavailable, "the witness has finished: its figures are final and it takes no more load")
	}
	defer d.gate.leave()
	if err := d.state.loadStarts(); err != nil {
		return refusal(http.StatusServiceUnavailable, err.Error())
	}
	return d.load(request, op, stage, late)
}

// load hands one request of the load on. The figures have it before its answer is relayed, also when this panics.
func (d *door) load(request *upstream.Request, op figures.Operation, stage string, late time.Duration) (a answer) {
	call := d.figures.Begin(stage, op)
	defer func() { call.End(a.succeeded(), late) }()
	switch op {
	case figures.Register:
		return d.write(request)
	case figures.Profile:
		return d.profile(request)
	}
	return answerOf(d.app.Do(request, d.timeout))
}

// write hands a write on under an id of the ledger. Its outcome is in the ledger before the answer is relayed, also
// when this panics.
func (d *door) write(request *upstream.Request) (a answer) {
	if reason := d.state.failure(); reason != "" {
		return refusal(http.StatusServiceUnavailable, "the witness refuses writes: "+reason)
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
	request.ExtraName, request.ExtraValue = protocol.HeaderWriteID, strconv.FormatUint(id, 10)
	response, err := d.app.Do(request, d.timeout)
	outcome = outcomeOf(response, err)
	d.note(response, outcome)
	return answerOf(response, err)
}

// note tells a write's end to those who watch for outages and for stale reads.
func (d *door) note(response *upstream.Response, outcome ledger.Outcome) {
	switch {
	case outcome == ledger.Acknowledged:
		node := response.Header.Get(protocol.HeaderNode)
		d.outage.Acknowledged(node)
		d.probing.acknowledged(d.now())
		d.figures.Wrote(node)
		d.users.add(response.Header.Get(protocol.HeaderUserID))
	case !wasInvalid(response):
		d.outage.Failed()
	}
}

// profile hands on a read of one user, and counts it as stale when an acknowledged user is not found.
func (d *door) profile(request *upstream.Request) answer {
	path, _, _ := strings.Cut(request.Target, "?")
	known := d.users.has(strings.TrimPrefix(path, protocol.SocialPathGet))
	response, err := d.app.Do(request, d.timeout)
	if known && err == nil && response.Status == http.StatusNotFound {
		d.users.stale.Add(1)
	}
	return answerOf(response, err)
}

// fail makes the witness refuse writes from now on. A ledger that was closed while the witness stops is no failure: what
// has no outcome by then counts as indeterminate.
func (d *door) fail(err error) answer {
	if !errors.Is(err, ledger.ErrClosed) {
		d.state.fail(err.Error())
	}
	return refusal(http.StatusServiceUnavailable, "the witness can no longer vouch for writes: "+err.Error())
}

// forwarded reads a request whole, so that a client that goes away in the middle leaves no half of a write.
func forwarded(r *http.Request) (*upstream.Request, error) {
	if r.Method == http.MethodConnect {
		return nil, errors.New("CONNECT is not for this server")
	}
	var body []byte
	if r.ContentLength > maxBodyBytes {
		return nil, fmt.Errorf("the body has %d bytes, at most %d are taken", r.ContentLength, maxBodyBytes)
	}
	if r.ContentLength != 0 {
		var err error
		if body, err = readBody(r); err != nil {
			return nil, err
		}
	}
	for _, name := range notForwarded {
		r.Header.Del(name)
	}
	return &upstream.Request{Method: r.Method, Target: r.URL.RequestURI(), Header: r.Header, Body: body}, nil
}

// notForwarded are the witness's own headers, and those that HTTP clients take as leave to send a write twice.
var notForwarded = []string{
	protocol.HeaderWriteID, protocol.HeaderStage, protocol.HeaderLate, "Idempotency-Key", "X-Idempotency-Key",
}

func readBody(r *http.Request) ([]byte, error) {
	if n := r.ContentLength; n > 0 {
		body := make([]byte, n)
		if _, err := io.ReadFull(r.Body, body); err != nil {
			return nil, fmt.Errorf("read the request's body: %w", err)
		}
		return body, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBodyBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	if len(body) > maxBodyBytes {
		return nil, fmt.Errorf("the body has more than the %d bytes that are taken", maxBodyBytes)
	}
	return body, nil
}
