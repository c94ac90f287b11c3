package social

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"replab.dev/internal/engine"
	"replab.dev/internal/usage"
	"replab.dev/internal/wire"
)

const (
	bodyLimitBytes   = 16 << 10
	headerLimitBytes = 16 << 10
	pingTimeout      = 2 * time.Second
)

// operation is one path of the API. Its name is the metrics' label.
type operation struct {
	name, method, path string
	write              bool
	serve              func(ctx context.Context, r *http.Request) answer
}

func (a *app) operations() []operation {
	return []operation{
		{name: wire.OperationRegister, method: http.MethodPost, path: wire.SocialPathRegister, write: true, serve: a.register},
		{name: "login", method: http.MethodPost, path: wire.SocialPathLogin, serve: a.login},
		{name: "profile", method: http.MethodGet, path: wire.SocialPathGet + "{id}", serve: a.profile},
		{name: "search", method: http.MethodGet, path: wire.SocialPathSearch, serve: a.search},
		{name: wire.OperationUpdate, method: http.MethodPut, path: wire.SocialPathUpdate + "{id}", write: true, serve: a.update},
		{name: "probe", method: http.MethodPut, path: wire.SocialPathProbe + "{id}", write: true, serve: a.probe},
	}
}

// server answers the API's requests.
type server struct {
	store    Store
	metrics  *metrics
	timeout  time.Duration
	inFlight chan struct{} // as many as requests are allowed at once
	ready    atomic.Bool
	// hideNodes leaves HeaderNode away: see wire.SocialConfig.
	hideNodes bool
	// Failures come by the thousand while the database is away: one line a second of each kind says enough.
	logRejected, logFailed rate.Sometimes
}

// newHandler returns the app's HTTP API over a store, with its health, readiness and metrics.
func newHandler(cfg wire.SocialConfig, store Store, m *metrics) http.Handler {
	s := &server{
		store: store, metrics: m, timeout: time.Duration(cfg.RequestTimeoutMilliseconds) * time.Millisecond,
		inFlight: make(chan struct{}, cfg.MaxInFlight), hideNodes: cfg.HideNodes,
		logRejected: rate.Sometimes{Interval: time.Second}, logFailed: rate.Sometimes{Interval: time.Second},
	}
	mux := http.NewServeMux()
	for _, o := range (&app{store: store, hasher: hasher(cfg)}).operations() {
		mux.Handle(o.path, s.handle(o))
	}
	mux.HandleFunc(wire.SocialPathHealth, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc(wire.SocialPathReady, s.readiness)
	mux.Handle(wire.SocialPathMetrics, m.handler())
	mux.HandleFunc("GET "+wire.SocialPathResources, usage.Handle)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		failure(http.StatusNotFound, fmt.Errorf("there is nothing at %s", shorten(r.URL.Path))).send(w)
	})
	return mux
}

// handle wraps an operation: method, limits, timeout, metrics, log.
func (s *server) handle(o operation) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		a := s.admit(o, w, r)
		if s.hideNodes {
			a.node = ""
		}
		a.send(w)
		s.metrics.observe(o.name, a, time.Since(start))
		s.log(o.name, a)
	})
}

// admit runs the operation if it may run.
func (s *server) admit(o operation, w http.ResponseWriter, r *http.Request) answer {
	if r.Method != o.method {
		w.Header().Set("Allow", o.method)
		a := invalid(fmt.Errorf("method %s is not allowed: use %s", shorten(r.Method), o.method))
		a.status = http.StatusMethodNotAllowed
		return ofOperation(o, a)
	}
	select {
	case s.inFlight <- struct{}{}:
		defer func() { <-s.inFlight }()
	default:
		a := failure(http.StatusServiceUnavailable, fmt.Errorf("more than %d requests in flight", cap(s.inFlight)))
		a.rejected = wire.RejectedOverload
		return ofOperation(o, a)
	}
	s.metrics.inFlight.Inc()
	defer s.metrics.inFlight.Dec()
	ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
	defer cancel()
	r.Body = http.MaxBytesReader(w, r.Body, bodyLimitBytes)
	return ofOperation(o, o.serve(ctx, r))
}

// ofOperation takes the mark of a rejected write off the answers of reads.
func ofOperation(o operation, a answer) answer {
	if !o.write {
		a.rejected = ""
	}
	return a
}

func (s *server) log(operation string, a answer) {
	switch {
	case a.status < http.StatusInternalServerError:
	case a.rejected != "":
		s.logRejected.Do(func() {
			slog.Warn("write rejected", "operation", operation, "reason", a.rejected, "node", a.node, "error", a.err)
		})
	case !errors.Is(a.err, context.Canceled): // a client that left needs no line
		s.logFailed.Do(func() {
			slog.Warn("request failed", "operation", operation, "status", a.status, "error", a.err)
		})
	}
}

// readiness answers 200 from the first answer of the write endpoint on. It does not take that back: an app without a
// database must go on failing its requests where the measurement sees them, not vanish from its Service.
func (s *server) readiness(w http.ResponseWriter, r *http.Request) {
	if !s.ready.Load() {
		ctx, cancel := context.WithTimeout(r.Context(), pingTimeout)
		defer cancel()
		if err := s.store.Ping(ctx); err != nil {
			failure(http.StatusServiceUnavailable, fmt.Errorf("the write endpoint has not answered yet: %w", err)).send(w)
			return
		}
		s.ready.Store(true)
	}
	w.WriteHeader(http.StatusOK)
}

// answer is what an operation answers: status, headers and a document, nil for none.
type answer struct {
	status   int
	node     string // server that answered the query, "" for none
	rejected string // one of wire's Rejected constants, on a write that certainly was not committed
	userID   string // of a registered user
	document any
	err      error // why it failed; for the log where it is not the client's fault
}

// send writes the answer.
func (a answer) send(w http.ResponseWriter) {
	setIfAny(w.Header(), wire.HeaderNode, a.node)
	setIfAny(w.Header(), wire.HeaderRejected, a.rejected)
	setIfAny(w.Header(), wire.HeaderUserID, a.userID)
	if a.document == nil {
		w.WriteHeader(a.status)
		return
	}
	body, err := json.Marshal(a.document)
	if err != nil { // strings always have a JSON form
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body))) // in chunks a long answer costs both sides more
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // an error here is a client that has left
}

func setIfAny(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

func failure(status int, err error) answer {
	return answer{status: status, document: wire.ErrorResponse{Error: err.Error()}, err: err}
}

// from names the server that answered the query.
func (a answer) from(node string) answer {
	a.node = node
	return a
}

// invalid answers a request that is wrong in itself, before anything was sent to the database.
func invalid(err error) answer {
	status := http.StatusBadRequest
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		status, err = http.StatusRequestEntityTooLarge, fmt.Errorf("the body is larger than %d bytes", tooLarge.Limit)
	}
	a := failure(status, err)
	a.rejected = wire.RejectedValidation
	return a
}

// failedWrite answers a write that the store could not do. Only a *engine.Rejection is marked as rejected.
func failedWrite(node string, err error) answer {
	var r *engine.Rejection
	if !errors.As(err, &r) {
		return failedRead(node, err)
	}
	status := http.StatusServiceUnavailable
	switch r.Reason {
	case wire.RejectedValidation:
		status = http.StatusBadRequest
	case wire.RejectedRefused:
		status = http.StatusInternalServerError
	}
	a := failure(status, err).from(node)
	a.rejected = r.Reason
	return a
}

// failedRead answers a query that failed, and a write with an open end.
func failedRead(node string, err error) answer {
	switch {
	case errors.Is(err, engine.ErrNoUser):
		return failure(http.StatusNotFound, err).from(node)
	case errors.Is(err, context.DeadlineExceeded):
		return failure(http.StatusGatewayTimeout, fmt.Errorf("the database did not answer in time: %w", err)).from(node)
	}
	return failure(http.StatusBadGateway, err).from(node)
}
