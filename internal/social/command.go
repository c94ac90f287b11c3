// Package social is the social app that experiments drive: `replab social`, an HTTP API over the users table, a part of the system under test.
// It never sends a write twice, and answers HeaderRejected only when a failed write certainly left nothing in the database.
package social

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"replab.dev/internal/engine"
	shown "replab.dev/internal/metrics"
	"replab.dev/internal/password"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// Timeouts of the HTTP server around a request's own. Idle connections stay longer than HTTP clients keep theirs (Go:
// 90 s): the side that closes should be the one that knows whether it is about to send.
const (
	readTimeout      = 10 * time.Second
	writeTimeoutMore = 10 * time.Second
	idleTimeout      = 5 * time.Minute
)

// Command returns `replab social`. engines open the store.
func Command(engines engine.Lookup[Open]) *cobra.Command {
	return process.Command("social", "Serve the social app, which the load drives", func(ctx context.Context, cfg wire.SocialConfig) error {
		open, err := engines.For(cfg.Engine)
		if err != nil {
			return fmt.Errorf("social: %w", err)
		}
		return run(ctx, cfg, open)
	})
}

func run(ctx context.Context, cfg wire.SocialConfig, open Open) error {
	if err := check(cfg); err != nil {
		return err
	}
	password, err := process.Secret(cfg.SecretDir, wire.AccountApp)
	if err != nil {
		return err
	}
	store, err := open(cfg, password)
	if err != nil {
		return err
	}
	m := newMetrics()
	m.registry.MustRegister(store.Collectors()...)
	slog.Info("serving the social app", "listen", cfg.Listen, "writes", cfg.Writes, "reads", cfg.Reads)
	go shown.Serve(ctx, m.registry)
	return errors.Join(process.Serve(ctx, newServer(cfg, newHandler(cfg, store, m))), store.Close())
}

func newServer(cfg wire.SocialConfig, h http.Handler) *http.Server {
	return &http.Server{
		Addr: cfg.Listen, Handler: h, MaxHeaderBytes: headerLimitBytes,
		ReadTimeout: readTimeout, IdleTimeout: idleTimeout,
		WriteTimeout: time.Duration(cfg.RequestTimeoutMilliseconds)*time.Millisecond + writeTimeoutMore,
	}
}

func hasher(cfg wire.SocialConfig) password.Hasher {
	return password.Hasher{Hash: cfg.PasswordHash, Cost: cfg.PasswordHashCost}
}

// check refuses a configuration that the app could only misread.
func check(cfg wire.SocialConfig) error {
	if err := hasher(cfg).Check(); err != nil {
		return fmt.Errorf("social: %w", err)
	}
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"maxConnections", int64(cfg.MaxConnections)},
		{"maxInFlight", int64(cfg.MaxInFlight)},
		{"requestTimeoutMilliseconds", cfg.RequestTimeoutMilliseconds},
	} {
		if n.value < 1 {
			return fmt.Errorf("social: %s is %d: it must be above 0", n.name, n.value)
		}
	}
	return nil
}

// metrics are the app's own view of its requests, for dashboards. The experiment's figures are the recorder's.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	rejected *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

func newMetrics() *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "replab_social_requests_total", Help: "Requests answered, by operation and HTTP status code.",
		}, []string{"operation", "code"}),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "replab_social_rejected_writes_total", Help: "Writes that failed and certainly were not committed, by reason.",
		}, []string{"reason"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "replab_social_request_duration_seconds", Help: "Time from a request's arrival to its answer, by operation.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 15), // 0.5 ms to 8 s
		}, []string{"operation"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "replab_social_requests_in_flight", Help: "Requests that are being served.",
		}),
	}
	m.registry = shown.New(m.requests, m.rejected, m.duration, m.inFlight)
	return m
}

func (m *metrics) observe(operation string, a answer, took time.Duration) {
	m.requests.WithLabelValues(operation, strconv.Itoa(a.status)).Inc()
	m.duration.WithLabelValues(operation).Observe(took.Seconds())
	if a.rejected != "" {
		m.rejected.WithLabelValues(a.rejected).Inc()
	}
}

func (m *metrics) handler() http.Handler {
	return shown.Handler(m.registry)
}
