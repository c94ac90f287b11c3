package seed

import (
	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/metrics"
)

var (
	usersFamily  = metrics.Gauge("replab_seed_users", "Users that are known to be in the table.")
	wantedFamily = metrics.Gauge("replab_seed_users_wanted", "Users that are to be in the table.")
)

func families() []*metrics.Family { return []*metrics.Family{usersFamily, wantedFamily} }

func (s *seeder) metrics() *prometheus.Registry {
	return metrics.New(metrics.Collector{Families: families(), Read: func(tell metrics.Tell) {
		tell(usersFamily, float64(s.done.Load()))
		tell(wantedFamily, float64(s.users))
	}})
}
