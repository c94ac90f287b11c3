// Package metrics serves the operator's metrics: what experiments' statuses say, to whom the API server lets read it.
package metrics

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/cached"
	"replab.dev/internal/compare"
	"replab.dev/internal/metrics"
)

// Register has the operator tell of the experiments while it leads. They are read from the cache when they are asked for, so that those of a
// deleted experiment are gone with it.
func Register(experiments *cached.Experiments, leads <-chan struct{}) error {
	return crmetrics.Registry.Register(showing(func() (shown, error) {
		select {
		case <-leads:
		default:
			return shown{}, nil // another one tells
		}
		var list v1alpha1.ReplicationExperimentList
		if err := experiments.List(context.Background(), &list); err != nil {
			return shown{}, err
		}
		bad, err := experiments.Undecodable()
		return shown{list.Items, bad}, err
	}))
}

// shown are the experiments that metrics tell of.
type shown struct {
	decoded     []v1alpha1.ReplicationExperiment
	undecodable []*cached.Undecodable
}

// showing tells what the statuses of experiments say. Where they cannot be read Prometheus gets no answer, which is other than that there are none.
func showing(list func() (shown, error)) metrics.Collector {
	return metrics.Collector{Families: shownFamilies(), Try: func(tell metrics.Tell) error {
		all, err := list()
		if err != nil {
			return fmt.Errorf("list experiments: %w", err)
		}
		for _, u := range all.undecodable {
			tell(UndecodableFamily, 1, u.Namespace, u.Name)
		}
		items := all.decoded
		tellCounts(tell, items)
		for i := range items {
			x := &items[i]
			tellExperiment(func(f *metrics.Family, value float64, labels ...string) {
				tell(f, value, append([]string{x.Namespace, x.Name}, labels...)...)
			}, x)
		}
		return nil
	}}
}

func tellCounts(tell metrics.Tell, items []v1alpha1.ReplicationExperiment) {
	type key struct{ topology, phase, verdict string }
	counts := map[key]int{}
	for _, x := range items {
		counts[key{string(x.Spec.Topology.Type), x.Status.Phase, string(x.Status.Verdict)}]++
	}
	for k, n := range counts {
		tell(experimentsFamily, float64(n), k.topology, k.phase, k.verdict)
	}
}

// tellExperiment takes a tell that knows which one it is.
func tellExperiment(tell metrics.Tell, x *v1alpha1.ReplicationExperiment) {
	s := &x.Status
	tell(infoFamily, 1, string(x.Spec.Topology.Type), string(x.Spec.Topology.Engine), string(x.Spec.Routing.Proxy))
	if s.Phase != "" {
		tell(phaseFamily, 1, s.Phase)
	}
	if s.Verdict != "" {
		tell(verdictFamily, 1, string(s.Verdict))
	}
	if t := s.StartTime; t != nil {
		tell(startFamily, stamp(t.Time))
	}
	if t := s.LoadStartTime; t != nil {
		tell(loadStartFamily, stamp(t.Time))
	}
	if t := s.CompletionTime; t != nil {
		tell(completionFamily, stamp(t.Time))
	}
	if s.Load != nil {
		tellLoad(tell, x.Spec, s.Load)
	}
	if s.Writes != nil {
		tellWrites(tell, s)
	}
	tellReplication(tell, s)
	for _, f := range s.Faults {
		tellFault(tell, f)
	}
	for _, n := range s.Nodes {
		optional(tell, nodeGhostsFamily, n.GhostWrites, 1, n.Name)
	}
	for _, g := range s.Goals {
		if g.Met == metav1.ConditionTrue || g.Met == metav1.ConditionFalse { // else it is not known
			tell(goalFamily, metrics.Bool(g.Met == metav1.ConditionTrue), string(g.Metric))
		}
	}
}

func tellLoad(tell metrics.Tell, spec v1alpha1.ReplicationExperimentSpec, l *v1alpha1.LoadStatus) {
	tell(requestsFamily, float64(l.Requests))
	tell(failuresFamily, float64(l.Failures))
	optional(tell, rateFamily, l.RequestsPerSecondMilli, 1000)
	optional(tell, rateMostFamily, l.RequestsPerSecondMilliAtMost, 1000)
	if l.Latency == nil || compare.Contradicted(spec, l) != "" {
		return
	}
	percentiles(tell, latencyFamily, l.Latency.LowerBounds, map[v1alpha1.Percentile]*int64{
		v1alpha1.P50: &l.Latency.P50Microseconds, v1alpha1.P95: &l.Latency.P95Microseconds, v1alpha1.P99: &l.Latency.P99Microseconds,
		v1alpha1.Max: &l.Latency.MaxMicroseconds,
	})
}

// percentiles tells those that are known: one of which only a lower bound is known would look as if it were exact.
func percentiles(tell metrics.Tell, f *metrics.Family, lower []v1alpha1.Percentile, all map[v1alpha1.Percentile]*int64) {
	for p, us := range all {
		if !slices.Contains(lower, p) {
			optional(tell, f, us, 1e6, strings.TrimSuffix(string(p), "Microseconds"))
		}
	}
}

func tellWrites(tell metrics.Tell, s *v1alpha1.ReplicationExperimentStatus) {
	w := *s.Writes
	open := slices.ContainsFunc(s.Goals, func(g v1alpha1.GoalStatus) bool { return g.Metric == "lostWrites" && g.Met == metav1.ConditionUnknown })
	if open || slices.Contains(w.LowerBounds, v1alpha1.Lost) {
		w.Lost = nil // a lower bound, if there is one
	}
	for set, n := range map[string]*int64{
		"sent": &w.Sent, "acknowledged": &w.Acknowledged, "rejected": &w.Rejected, "indeterminate": &w.Indeterminate, "present": w.Present,
		"lost": w.Lost, "recovered": w.Recovered, "vanished": w.Vanished, "duplicates": w.Duplicates, "unexpected": w.Unexpected,
	} {
		optional(tell, writesFamily, n, 1, set)
	}
}

func tellReplication(tell metrics.Tell, s *v1alpha1.ReplicationExperimentStatus) {
	optional(tell, ghostsFamily, s.GhostWrites, 1)
	if !s.OutageLowerBound {
		optional(tell, outageFamily, s.OutageMilliseconds, 1e3)
	}
	if s.Replication == nil || s.Replication.Lag == nil {
		return
	}
	lag := s.Replication.Lag
	percentiles(tell, lagFamily, lag.LowerBounds, map[v1alpha1.Percentile]*int64{
		v1alpha1.P50: lag.P50Microseconds, v1alpha1.P99: lag.P99Microseconds, v1alpha1.Max: lag.MaxMicroseconds,
	})
}

func tellFault(tell metrics.Tell, f v1alpha1.FaultStatus) {
	if t := f.InjectedTime; t != nil {
		tell(injectedFamily, stamp(t.Time), f.Name, f.Pod)
	}
	if t := f.ReleasedTime; t != nil {
		tell(releasedFamily, stamp(t.Time), f.Name, f.Pod)
	}
	if !f.OutageLowerBound {
		optional(tell, faultOutageFamily, f.OutageMilliseconds, 1e3, f.Name, f.Pod)
	}
}

// optional tells a figure in its unit's parts, and nothing where it is absent.
func optional(tell metrics.Tell, f *metrics.Family, value *int64, parts float64, labels ...string) {
	if value != nil {
		tell(f, float64(*value)/parts, labels...)
	}
}

func stamp(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
