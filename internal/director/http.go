package director

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/process"
	"replab.dev/internal/usage"
	"replab.dev/internal/wire"
)

// handler serves the director's HTTP interface. Changes require the token.
func handler(d *Director, token string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+wire.DirectorPathHealth, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET "+wire.DirectorPathState, func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, d.State()) })
	mux.HandleFunc("GET "+wire.DirectorPathClock, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, wire.ClockReading{Now: metav1.NowMicro()})
	})
	mux.HandleFunc("GET "+wire.AgentPathResources, usage.Handle)
	mux.Handle("POST "+wire.DirectorPathRejoin, process.RequireToken(token, taking(d, func(ctx context.Context, r wire.RejoinRequest) error {
		return d.Rejoin(ctx, r.Node)
	})))
	mux.Handle("POST "+wire.DirectorPathSwitchover, process.RequireToken(token, taking(d, d.Switchover)))
	return mux
}

// taking answers 202 once a request is stored, or was before.
func taking[Request any](d *Director, take func(context.Context, Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request Request
		decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&request); err != nil {
			answer(w, http.StatusBadRequest, wire.ErrorResponse{Error: fmt.Sprintf("the body must be a %T: %v", request, err)})
			return
		}
		told(w, d, take(r.Context(), request))
	}
}

// told answers a request.
func told(w http.ResponseWriter, d *Director, err error) {
	switch {
	case err == nil:
		answer(w, http.StatusAccepted, d.State())
	case errors.Is(err, errNoSuchNode):
		answer(w, http.StatusNotFound, wire.ErrorResponse{Error: err.Error()})
	case errors.Is(err, errNotNow):
		answer(w, http.StatusConflict, wire.ErrorResponse{Error: err.Error()})
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return // the client is gone
	default:
		answer(w, http.StatusServiceUnavailable, wire.ErrorResponse{Error: err.Error()})
	}
}

func answer(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document) // an error means that the client is gone
}

var (
	errNotNow     = errors.New("not now")
	errNoSuchNode = errors.New("no such node")
)
