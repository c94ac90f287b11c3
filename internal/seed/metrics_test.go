package seed

import (
	"maps"
	"testing"

	"replab.dev/internal/metrics/metricstest"
)

func TestMetricsTellHowFarItIs(t *testing.T) {
	s := &seeder{users: 300}
	s.done.Store(120)
	metricstest.Documented(t, "seed", families(), s.metrics())
	for family, want := range map[string]float64{"replab_seed_users": 120, "replab_seed_users_wanted": 300} {
		if got := metricstest.Values(t, s.metrics(), family); !maps.Equal(got, map[string]float64{"": want}) {
			t.Errorf("%s: %v, want %v", family, got, want)
		}
	}
}
