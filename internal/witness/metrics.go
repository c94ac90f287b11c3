package witness

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/ledger"
	"replab.dev/internal/witness/figures"
)

// latencyBuckets cover what a database answers in, from 0.25 ms to half a minute; exact percentiles are in the results.
var latencyBuckets = []float64{
	.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30,
}

var (
	requestsDesc = prometheus.NewDesc("replab_witness_requests_total", "Requests of the load that have ended.", []string{"stage", "operation"}, nil)
	failuresDesc = prometheus.NewDesc("replab_witness_failures_total", "Requests of the load without a 2xx answer.", []string{"stage", "operation"}, nil)
	writesDesc   = prometheus.NewDesc("replab_witness_writes_total", "Writes in the ledger by what became of them, since this process began.", []string{"outcome"}, nil)
	staleDesc    = prometheus.NewDesc("replab_witness_stale_reads_total", "Acknowledged users that a read did not find.", nil, nil)
	lagDesc      = prometheus.NewDesc("replab_witness_lag_seconds", "Largest replication lag in the second before; absent when nothing was seen.", []string{"node"}, nil)
	probesDesc   = prometheus.NewDesc("replab_witness_availability_writes_total", "Writes of the availability probe.", []string{"outcome"}, nil)
	restartsDesc = prometheus.NewDesc("replab_witness_restarts", "How often a witness came up on an existing ledger.", nil, nil)
	failedDesc   = prometheus.NewDesc("replab_witness_failed", "1 when the witness can no longer vouch for its figures.", nil, nil)
)

// metrics returns a registry that shows what the witness counts, and makes the figures observe latencies for it. It is
// called once.
func (w *witness) metrics() *prometheus.Registry {
	latencies := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "replab_witness_request_duration_seconds", Help: "Latency of the load's requests.", Buckets: latencyBuckets,
	}, []string{"stage", "operation", "outcome"})
	w.door.figures.Observe = func(stage string, o figures.Operation, latency time.Duration, ok bool) {
		outcome := "succeeded"
		if !ok {
			outcome = "failed"
		}
		latencies.WithLabelValues(stage, o.String(), outcome).Observe(latency.Seconds())
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(latencies, collector{w})
	return registry
}

// collector reads the counts when it is asked, so that they cost the load nothing.
type collector struct{ *witness }

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{requestsDesc, failuresDesc, writesDesc, staleDesc, lagDesc, probesDesc, restartsDesc, failedDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, t := range c.door.figures.Tallies() {
		counter(requestsDesc, t.Requests, t.Stage, t.Operation.String())
		counter(failuresDesc, t.Failures, t.Stage, t.Operation.String())
	}
	for _, o := range []ledger.Outcome{ledger.Acknowledged, ledger.Rejected, ledger.Indeterminate} {
		counter(writesDesc, c.door.outcomes[o].Load(), outcomeName(o))
	}
	counter(staleDesc, c.door.users.staleReads())
	if a := c.probes.availability; a != nil {
		counter(probesDesc, a.acknowledged.Load(), "acknowledged")
		counter(probesDesc, a.failed.Load(), "failed")
		counter(probesDesc, a.skipped.Load(), "skipped")
	}
	if lag := c.probes.lastLag.Load(); lag != nil {
		for i, us := range *lag {
			if us >= 0 {
				gauge(lagDesc, float64(us)/1e6, c.cfg.Nodes[i].Name)
			}
		}
	}
	doc := c.state.get()
	gauge(restartsDesc, float64(doc.Restarts))
	failed := 0.0
	if doc.Failed != "" {
		failed = 1
	}
	gauge(failedDesc, failed)
}
