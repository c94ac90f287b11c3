package part

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/agent/history"
	"replab.dev/internal/metrics"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// maxBody bounds a request, in bytes.
const maxBody = 1 << 20

// Serve runs an agent until ctx ends: its loops, its metrics and its answers.
func Serve(ctx context.Context, listen string, h http.Handler, m *prometheus.Registry, run func(context.Context)) error {
	ctx, cancel := context.WithCancel(ctx)
	var loops sync.WaitGroup
	loops.Go(func() { run(ctx) })
	loops.Go(func() { metrics.Serve(ctx, m) })
	defer loops.Wait()
	defer cancel()
	slog.Info("the agent listens", "address", listen)
	return process.Serve(ctx, &http.Server{Addr: listen, Handler: h})
}

// Decode reads a request's body. It answers the request where that fails.
func Decode(w http.ResponseWriter, r *http.Request, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err != nil {
		http.Error(w, "read the request's body: "+err.Error(), http.StatusBadRequest)
	}
	return err
}

// Decided answers with 200 for a yes and 503 for a no.
func Decided(w http.ResponseWriter, ok bool, why string) {
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = fmt.Fprintln(w, why) // the client may be gone
}

// JSON answers with a document.
func JSON(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document) // the client may be gone
}

// SwitchOver answers wire.AgentPathSwitchover.
func SwitchOver(s Switcher) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request wire.SwitchoverRequest
		if err := Decode(w, r, &request); err != nil {
			return
		}
		if self := os.Getenv(wire.EnvPodName); request.From != self || request.Name == "" {
			http.Error(w, fmt.Sprintf("this is %s, and switchover %q is from %q", self, request.Name, request.From), http.StatusBadRequest)
			return
		}
		switch err := s.SwitchOver(request.Name); {
		case errors.Is(err, history.ErrRefused):
			http.Error(w, err.Error(), http.StatusConflict)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}
}
