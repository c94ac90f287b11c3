package witness

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"replab.dev/internal/ledger"
	"replab.dev/internal/protocol"
	"replab.dev/internal/witness/figures"
	"replab.dev/internal/witness/front"
	"replab.dev/internal/witness/outage"
	"replab.dev/internal/witness/upstream"
)

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

// serve answers one request; it is a front.Handler.
func (d *door) serve(r *fasthttp.Request, a *fasthttp.Response) {
	method, path := string(r.Header.Method()), string(r.URI().Path())
	op, counts := classify(method, path)
	late, err := lateness(r.Header.Peek(protocol.HeaderLate))
	switch {
	case method == http.MethodConnect:
		front.Refuse(a, http.StatusBadRequest, "CONNECT is not for this server")
		return
	case strings.HasPrefix(path, protocol.SocialPathProbe):
		front.Refuse(a, http.StatusForbidden, protocol.SocialPathProbe+" is for the witness's own probe, whose rows must be its own")
		return
	case err != nil:
		front.Refuse(a, http.StatusBadRequest, err.Error())
		return
	}
	stage := string(r.Header.Peek(protocol.HeaderStage))
	for _, name := range notForwarded {
		r.Header.Del(name)
	}
	if !counts {
		_ = d.ask(r, a) // the answer tells the client
		return
	}
	if !d.gate.enter() {
		front.Refuse(a, http.StatusServiceUnavailable, "the witness has finished: its figures are final and it takes no more load")
		return
	}
	defer d.gate.leave()
	if err := d.state.loadStarts(); err != nil {
		front.Refuse(a, http.StatusServiceUnavailable, err.Error())
		return
	}
	d.load(r, a, op, path, d.figures.Begin(stage, op), late)
}

// notForwarded are the witness's own headers, and those that HTTP clients take as leave to send a write twice.
var notForwarded = []string{
	protocol.HeaderWriteID, protocol.HeaderStage, protocol.HeaderLate, "Idempotency-Key", "X-Idempotency-Key",
}

// load hands one request of the load on. The figures have it before its answer is relayed, also when this panics.
func (d *door) load(r *fasthttp.Request, a *fasthttp.Response, op figures.Operation, path string, call figures.Call, late time.Duration) {
	succeeded := false
	defer func() { call.End(succeeded, late) }()
	switch op {
	case figures.Register:
		d.write(r, a)
	case figures.Profile:
		d.profile(r, a, strings.TrimPrefix(path, protocol.SocialPathGet))
	default:
		_ = d.ask(r, a) // the answer tells the client
	}
	succeeded = successful(a.StatusCode())
}

// ask hands a request on, and fills a with the app's answer, or with the reason why there is none.
func (d *door) ask(r *fasthttp.Request, a *fasthttp.Response) error {
	err := d.app.Do(r, a, d.timeout)
	if err != nil {
		explain(a, err)
	}
	return err
}

// write hands a write on under an id of the ledger. Its outcome is in the ledger before the answer is relayed, also
// when this panics.
func (d *door) write(r *fasthttp.Request, a *fasthttp.Response) {
	if reason := d.state.failure(); reason != "" {
		front.Refuse(a, http.StatusServiceUnavailable, "the witness refuses writes: "+reason)
		return
	}
	id, err := d.ledger.Next()
	if err != nil {
		d.fail(a, fmt.Errorf("take an id for a write: %w", err))
		return
	}
	outcome := ledger.Indeterminate
	defer func() {
		d.outcomes[outcome].Add(1)
		if err := d.ledger.Record(id, outcome, d.now()); err != nil {
			d.fail(a, fmt.Errorf("record that write %d was %s: %w", id, outcomeName(outcome), err))
		}
	}()
	r.Header.Set(protocol.HeaderWriteID, strconv.FormatUint(id, 10))
	err = d.ask(r, a)
	outcome = outcomeOf(a, err)
	d.note(id, a, outcome)
}

// note tells a write's end to those who watch for outages and for stale reads.
func (d *door) note(id uint64, a *fasthttp.Response, outcome ledger.Outcome) {
	switch {
	case outcome == ledger.Acknowledged:
		node := string(a.Header.Peek(protocol.HeaderNode))
		d.outage.Acknowledged(node)
		d.probing.acknowledged(d.now())
		d.figures.Wrote(node)
		d.users.add(string(a.Header.Peek(protocol.HeaderUserID)), id)
	case !wasInvalid(a):
		d.outage.Failed()
	}
}

// profile hands on a read of one user, and counts it as stale when an acknowledged user is not found.
func (d *door) profile(r *fasthttp.Request, a *fasthttp.Response, user string) {
	write := d.users.write(user)
	err := d.ask(r, a)
	if write != 0 && err == nil && a.StatusCode() == http.StatusNotFound {
		d.users.notFound(write)
	}
}

// fail makes the witness refuse writes from now on. A ledger that was closed while the witness stops is no failure: what
// has no outcome by then counts as indeterminate.
func (d *door) fail(a *fasthttp.Response, err error) {
	if !errors.Is(err, ledger.ErrClosed) {
		d.state.fail(err.Error())
	}
	front.Refuse(a, http.StatusServiceUnavailable, "the witness can no longer vouch for writes: "+err.Error())
}
