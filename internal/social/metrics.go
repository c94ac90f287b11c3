package social

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	shown "replab.dev/internal/metrics"
)

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
