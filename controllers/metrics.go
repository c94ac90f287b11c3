package controllers

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"replab.dev/api/v1alpha1"
)

// experimentsByPhase counts the experiments when it is asked.
type experimentsByPhase struct {
	reader client.Reader
	desc   *prometheus.Desc
}

func registerMetrics(reader client.Reader) error {
	return metrics.Registry.Register(&experimentsByPhase{reader, prometheus.NewDesc("replab_experiments",
		"Experiments by topology, phase and verdict.", []string{"topology", "phase", "verdict"}, nil)})
}

// Describe implements prometheus.Collector.
func (c *experimentsByPhase) Describe(out chan<- *prometheus.Desc) { out <- c.desc }

// Collect implements prometheus.Collector.
func (c *experimentsByPhase) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var list v1alpha1.ReplicationExperimentList
	if err := c.reader.List(ctx, &list); err != nil {
		return
	}
	type key struct{ topology, phase, verdict string }
	counts := map[key]int{}
	for _, x := range list.Items {
		counts[key{string(x.Spec.Topology.Type), x.Status.Phase, string(x.Status.Verdict)}]++
	}
	for k, n := range counts {
		out <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(n), k.topology, k.phase, k.verdict)
	}
}
