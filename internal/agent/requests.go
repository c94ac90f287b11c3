package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"replab.dev/internal/agent/fault"
	"replab.dev/internal/agent/link"
	"replab.dev/internal/agent/part"
	"replab.dev/internal/wire"
)

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
	{errBadRequest, http.StatusBadRequest}, {fault.ErrInvalid, http.StatusBadRequest}, {link.ErrInvalid, http.StatusBadRequest},
	{errFencing, http.StatusConflict}, {fault.ErrOtherPod, http.StatusConflict}, {link.ErrOtherPod, http.StatusConflict},
	{fault.ErrUnknown, http.StatusNotFound}, {errNotYet, http.StatusServiceUnavailable},
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
