// Package metrics shows Prometheus what a process holds anyway. Nothing is measured for it: values are read when it asks, and the
// figures of an experiment stay those of its status and its results.
package metrics

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// New returns a registry with collectors, and with what this process itself uses.
func New(own ...prometheus.Collector) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(own...)
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// asksAtOnce bounds the answers that are made at the same moment: who asks more often than that gets 503.
const asksAtOnce = 2

// Handler answers Prometheus. It does not compress: within a cluster that costs more of a processor than it saves of the network.
func Handler(from prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(from, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, DisableCompression: true, MaxRequestsInFlight: asksAtOnce, Timeout: 5 * time.Second,
	})
}

// Serve answers Prometheus at the address in the environment variable wire.EnvMetrics until ctx ends; nowhere where that is not set.
// A process whose metrics cannot be served goes on without them: it has another purpose.
func Serve(ctx context.Context, from prometheus.Gatherer) {
	address := os.Getenv(wire.EnvMetrics)
	if address == "" {
		return
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+wire.MetricsPath, Handler(from))
	if err := process.Serve(ctx, &http.Server{Addr: address, Handler: mux}); err != nil {
		slog.Warn("the metrics endpoint failed: this process has no metrics", "address", address, "error", err)
	}
}
