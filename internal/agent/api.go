package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/agent/fault"
	"replab.dev/internal/agent/inspect"
	"replab.dev/internal/agent/link"
	"replab.dev/internal/agent/part"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/engine"
	"replab.dev/internal/process"
	"replab.dev/internal/usage"
	"replab.dev/internal/wire"
)

// api answers for one node. None of it waits for the server but a request to fence, for a while.
type api struct {
	podUID  string
	watcher *watcher
	keeper  *keeper // nil where the topology has no leases
	family  *proc.Family
	faults  *fault.Manager

	links *link.Manager

	part      part.Part          // nil where the family of the topology adds none
	inspector *inspect.Inspector // nil where servers are started without being read
}

// handler routes the paths of wire. Role endpoints answer every method, since proxies differ in theirs.
func (a *api) handler(token string) http.Handler {
	mux := http.NewServeMux()
	guarded := func(pattern string, h http.HandlerFunc) { mux.Handle(pattern, process.RequireToken(token, h)) }
	mux.HandleFunc(wire.AgentPathHealth, func(w http.ResponseWriter, _ *http.Request) { part.Decided(w, true, "the agent runs") })
	mux.HandleFunc(wire.AgentPathReady, func(w http.ResponseWriter, _ *http.Request) {
		ok, why := isReady(a.watcher.view())
		part.Decided(w, ok, why)
	})
	mux.HandleFunc(wire.AgentPathPrimary, func(w http.ResponseWriter, _ *http.Request) {
		may, whyNot := a.mayWrite()
		ok, why := isPrimary(a.watcher.view(), may, whyNot)
		part.Decided(w, ok, why)
	})
	mux.HandleFunc(wire.AgentPathReplica, func(w http.ResponseWriter, _ *http.Request) {
		ok, why := a.replica()
		part.Decided(w, ok, why)
	})
	mux.HandleFunc("GET "+wire.AgentPathState, a.state)
	mux.HandleFunc("GET "+wire.AgentPathResources, a.resources)
	mux.HandleFunc("GET "+wire.AgentPathFaults+"{name}", answer(func(r *http.Request) (any, error) { return a.faults.Get(r.PathValue("name")) }))
	mux.HandleFunc("GET "+wire.AgentPathLinks, func(w http.ResponseWriter, _ *http.Request) { part.JSON(w, a.links.State()) })
	mux.HandleFunc("GET "+wire.AgentPathLinkCounts, func(w http.ResponseWriter, _ *http.Request) { part.JSON(w, a.links.Counts()) })
	guarded("PUT "+wire.AgentPathLinks, taking(func(_ *http.Request, l wire.Links) (any, error) { return a.links.Set(l) }))
	guarded("DELETE "+wire.AgentPathLinks, answer(func(*http.Request) (any, error) { return a.links.Clear() }))
	guarded("POST "+wire.AgentPathRoundTrips, taking(func(r *http.Request, q wire.RoundTripRequest) (any, error) { return link.Measure(r.Context(), q) }))
	if a.keeper != nil {
		guarded("POST "+wire.AgentPathLease, taking(a.lease))
		guarded("POST "+wire.AgentPathFence, answer(a.fence))
	}
	if s, ok := a.part.(part.Switcher); ok {
		guarded("POST "+wire.AgentPathSwitchover, part.SwitchOver(s))
	}
	if a.inspector != nil {
		mux.HandleFunc("GET "+wire.AgentPathInspections, a.inspections)
		mux.HandleFunc("GET "+wire.AgentPathInspected, a.inspectedIDs)
	}
	guarded("PUT "+wire.AgentPathFaults+"{name}", taking(a.putFault))
	guarded("DELETE "+wire.AgentPathFaults+"{name}", answer(func(r *http.Request) (any, error) { return a.faults.Release(r.PathValue("name")) }))
	return mux
}

// state is refused where the processes cannot be read: no server in it means that none runs, upon which others are promoted.
func (a *api) state(w http.ResponseWriter, _ *http.Request) {
	server, err := a.watcher.finder.Find()
	if err != nil && !errors.Is(err, proc.ErrNone) {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	told := wire.NodeState{PodUID: a.podUID, ServerPID: int64(server.PID), Holds: a.faults.Holds()}
	if a.part != nil {
		if err := a.part.Describe(&told); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	part.JSON(w, told)
}

// resources are refused with 503 while no server runs: figures of nothing would read as zeros.
func (a *api) resources(w http.ResponseWriter, _ *http.Request) {
	r, err := a.measure()
	switch {
	case errors.Is(err, proc.ErrNone):
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		part.JSON(w, r)
	}
}

func (a *api) measure() (wire.Resources, error) {
	at := metav1.NowMicro()
	server, used, err := a.family.Usage()
	if err != nil {
		return wire.Resources{}, err
	}
	received, sent, err := usage.Network()
	if err != nil {
		return wire.Resources{}, err
	}
	var peers []wire.PeerTraffic
	if c, ok := a.part.(part.Counter); ok {
		peers = c.Traffic()
	}
	return wire.Resources{
		Peers: peers, At: at, CPUMicroseconds: used.CPUMicroseconds, ResidentBytes: used.ResidentBytes, Threads: used.Threads,
		ReadBytes: used.ReadBytes, WrittenBytes: used.WrittenBytes,
		NetworkReceivedBytes: received, NetworkSentBytes: sent, ServerPID: int64(server.PID),
	}, nil
}

// fenceAnswer is how long a request to fence waits for the server before it is answered that it is not fenced yet.
const fenceAnswer = 2 * time.Second

var (
	errBadRequest = errors.New("bad request")
	errNotYet     = errors.New("not yet")
)

// statuses of errors; of others it is 500.
var statuses = []struct {
	of     error
	status int
}{
	{errBadRequest, http.StatusBadRequest},
	{fault.ErrInvalid, http.StatusBadRequest},
	{link.ErrInvalid, http.StatusBadRequest},
	{errFencing, http.StatusConflict},
	{fault.ErrOtherPod, http.StatusConflict},
	{link.ErrOtherPod, http.StatusConflict},
	{fault.ErrUnknown, http.StatusNotFound},
	{errNotYet, http.StatusServiceUnavailable},
}

// answer answers with the document that is returned, if there is one, or with the status of the error.
func answer(do func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		document, err := do(r)
		switch {
		case err == nil && document != nil:
			part.JSON(w, document)
		case err != nil:
			status := http.StatusInternalServerError
			for _, s := range statuses {
				if errors.Is(err, s.of) {
					status = s.status
				}
			}
			http.Error(w, err.Error(), status)
		}
	}
}

// taking is answer for a request with a document.
func taking[T any](do func(*http.Request, T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		if part.Decode(w, r, &body) == nil {
			answer(func(r *http.Request) (any, error) { return do(r, body) })(w, r)
		}
	}
}

func (a *api) lease(_ *http.Request, l wire.Lease) (any, error) {
	if l.TTLMilliseconds <= 0 {
		return nil, fmt.Errorf("%w: ttlMilliseconds must be above 0; POST %s ends a lease", errBadRequest, wire.AgentPathFence)
	}
	return nil, a.keeper.renew(time.Duration(l.TTLMilliseconds) * time.Millisecond)
}

func (a *api) fence(r *http.Request) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), fenceAnswer)
	defer cancel()
	if err := a.keeper.fence(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotYet, err)
	}
	return nil, nil
}

// putFault goes on if the client goes away.
func (a *api) putFault(r *http.Request, request wire.FaultRequest) (any, error) {
	if name := r.PathValue("name"); request.Name != name {
		return nil, fmt.Errorf("%w: the fault's name is %q in the path and %q in the body", errBadRequest, name, request.Name)
	}
	return a.faults.Put(request)
}

// keepInspections has the agent read servers that are about to be started.
func (a *api) keepInspections(cfg wire.AgentConfig, e engine.Local, password string) error {
	if !cfg.Inspect {
		return nil
	}
	opener, ok := e.(engine.RowOpener)
	if !ok {
		return fmt.Errorf("engine %s cannot read a server that runs alone, and the configuration wants it inspected", cfg.Engine)
	}
	var err error
	a.inspector, err = inspect.New(cfg.StateDir, cfg.HoldDir, cfg.RunDir, func(ctx context.Context, socket string) (engine.Rows, error) {
		return opener.OpenRows(ctx, socket, password)
	})
	return err
}

func (a *api) inspections(w http.ResponseWriter, _ *http.Request) { part.JSON(w, a.inspector.All()) }

func (a *api) inspectedIDs(w http.ResponseWriter, _ *http.Request) {
	ids, err := a.inspector.IDs()
	switch {
	case errors.Is(err, inspect.ErrUnknown):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		defer ids.Close()
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.Copy(w, ids) // the client may be gone, and knows how many ids there are
	}
}
