package social

import (
	"testing"
	"time"

	"replab.dev/internal/metrics/metricstest"
)

func TestMetricsAreThoseOfTheDocument(t *testing.T) {
	m := newMetrics()
	m.observe("register", answer{status: 503, rejected: "readOnly"}, 3*time.Millisecond)
	metricstest.Documented(t, "social", metricstest.Gathered(t, m.registry), m.registry)
	if got := metricstest.Values(t, m.registry, "replab_social_request_duration_seconds"); got["register"] != 1 {
		t.Errorf("durations by operation: %v, want one of register", got)
	}
}
