// Package metrics serves the figures of experiments' and suites' statuses to Prometheus, if the API server allows the request.
package metrics

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/cached"
	"replab.dev/internal/figure"
	"replab.dev/internal/metrics"
)

// Register the metrics of experiments and suites, which are served while the operator leads. They are read from the caches at each scrape: those of
// a deleted object end with it.
func Register(experiments *cached.Experiments, suites client.Reader, leads <-chan struct{}) error {
	return crmetrics.Registry.Register(showing(func() (shown, error) {
		select {
		case <-leads:
		default:
			return shown{}, nil // the leader serves them
		}
		var list v1alpha1.ReplicationExperimentList
		if err := experiments.List(context.Background(), &list); err != nil {
			return shown{}, err
		}
		bad, err := experiments.Undecodable()
		if err != nil {
			return shown{}, err
		}
		var all v1alpha1.ReplicationSuiteList
		err = suites.List(context.Background(), &all)
		return shown{list.Items, bad, all.Items}, err
	}))
}

// shown are the experiments and suites that have metrics.
type shown struct {
	decoded     []v1alpha1.ReplicationExperiment
	undecodable []*cached.Undecodable
	suites      []v1alpha1.ReplicationSuite
}

// showing collects their metrics. If a list fails, the scrape fails: that is not the same as no experiments.
func showing(list func() (shown, error)) metrics.Collector {
	return metrics.Collector{Families: shownFamilies(), Try: func(tell metrics.Tell) error {
		all, err := list()
		if err != nil {
			return fmt.Errorf("list experiments and suites: %w", err)
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
		for i := range all.suites {
			tellSuite(tell, &all.suites[i])
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

// tellExperiment takes a tell that adds the labels of the experiment.
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
	for _, f := range s.Faults {
		tellFault(tell, f)
	}
	tellFigures(tell, s)
	for _, g := range s.Goals {
		if g.Met == metav1.ConditionTrue || g.Met == metav1.ConditionFalse { // else unknown
			tell(goalFamily, metrics.Bool(g.Met == metav1.ConditionTrue), string(g.Metric))
		}
	}
}

// tellFigures of the catalogue that are known. A bound would look exact.
func tellFigures(tell metrics.Tell, s *v1alpha1.ReplicationExperimentStatus) {
	for _, entry := range figure.All() {
		if entry.Gauge.Name == "" {
			continue
		}
		for _, one := range items(s, entry) {
			f := figure.Read(s, one.path)
			if !f.Known() {
				continue
			}
			if entry.Gauge.Label != "" {
				one.labels = append(one.labels, entry.Gauge.Of)
			}
			tell(ofFigures[entry.Gauge.Name], float64(*f.Value)/cmp.Or(entry.Gauge.Divisor, 1), one.labels...)
		}
	}
	for _, b := range s.Bounds {
		for side, value := range map[string]*int64{"atLeast": b.AtLeast, "atMost": b.AtMost} {
			if value != nil {
				tell(boundFamily, float64(*value), b.Figure, side)
			}
		}
	}
}

// item of a list, or the one figure of an entry that is of no list.
type item struct {
	path   string
	labels []string
}

func items(s *v1alpha1.ReplicationExperimentStatus, entry figure.Entry) (all []item) {
	switch entry.Segments()[0] {
	case "faults":
		for _, f := range s.Faults {
			all = append(all, item{entry.Of(f.Name), []string{f.Name, f.Pod}})
		}
	case "nodes":
		for _, n := range s.Nodes {
			all = append(all, item{entry.Of(n.Name), []string{n.Name}})
		}
	default:
		all = []item{{path: entry.Path}}
	}
	return all
}

func tellFault(tell metrics.Tell, f v1alpha1.FaultStatus) {
	if t := f.InjectedTime; t != nil {
		tell(injectedFamily, stamp(t.Time), f.Name, f.Pod)
	}
	if t := f.ReleasedTime; t != nil {
		tell(releasedFamily, stamp(t.Time), f.Name, f.Pod)
	}
}

func stamp(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

var experimentsFamily = metrics.Gauge("replab_experiments", "Experiments by topology, phase and verdict.", "topology", "phase", "verdict")

// Of one experiment, as its status says.
var (
	infoFamily = ofExperiment("replab_experiment_info", "1 for each experiment that there is.", "topology", "engine", "proxy")
	// UndecodableFamily names the experiments that the operator cannot decode.
	UndecodableFamily = ofExperiment("replab_experiment_undecodable", "1 for each experiment that the operator cannot decode, and does nothing for. Its event and the operator's log say why.")
	phaseFamily       = ofExperiment("replab_experiment_phase", "1 for the phase that the experiment is in.", "phase")
	verdictFamily     = ofExperiment("replab_experiment_verdict", "1 for the verdict: Passed, Failed, Inconclusive or Invalid; absent before it is judged.", "verdict")
	startFamily       = ofExperiment("replab_experiment_start_timestamp_seconds", "When the experiment was accepted.")
	loadStartFamily   = ofExperiment("replab_experiment_load_start_timestamp_seconds", "When the first request of the load came.")
	completionFamily  = ofExperiment("replab_experiment_completion_timestamp_seconds", "When the experiment was over.")
	injectedFamily    = ofExperiment("replab_experiment_fault_injected_timestamp_seconds", "When a fault was injected, by the clock of its node, the operator (DeletePod) or the manager (Switchover).", "fault", "node")
	releasedFamily    = ofExperiment("replab_experiment_fault_released_timestamp_seconds", "When the hold of a fault ended, by the clock of its node, the operator (DeletePod) or the manager (Switchover).", "fault", "node")
	goalFamily        = ofExperiment("replab_experiment_goal_met", "1 for a goal that was met, 0 for one that was not; absent where it could not be told.", "metric")
)

func ofExperiment(name, help string, labels ...string) *metrics.Family {
	return metrics.Gauge(name, help, append([]string{"namespace", "experiment"}, labels...)...)
}

// ofFigures are the families of the catalogue's figures, by their names. boundFamily has the bounds of the others.
var (
	ofFigures   = figureFamilies()
	boundFamily = ofExperiment("replab_experiment_figure_bound", "Bounds of the figures that are not exact, in the unit of the figure's name: bound is atLeast or atMost.", "figure", "bound")
)

func figureFamilies() map[string]*metrics.Family {
	families := map[string]*metrics.Family{}
	for _, entry := range figure.All() {
		g := entry.Gauge
		if g.Name == "" || families[g.Name] != nil {
			continue
		}
		labels := slices.Clone(labelsOf[entry.Segments()[0]])
		if g.Label != "" {
			labels = append(labels, g.Label)
		}
		families[g.Name] = ofExperiment(g.Name, g.Help+" Absent where unknown or inexact.", labels...)
	}
	return families
}

// labelsOf the items of a list of the status.
var labelsOf = map[string][]string{"faults": {"fault", "node"}, "nodes": {"node"}}

func shownFamilies() []*metrics.Family {
	all := []*metrics.Family{
		experimentsFamily, infoFamily, UndecodableFamily, phaseFamily, verdictFamily, startFamily, loadStartFamily, completionFamily, injectedFamily,
		releasedFamily, goalFamily, boundFamily,
	}
	for _, name := range slices.Sorted(maps.Keys(ofFigures)) {
		all = append(all, ofFigures[name])
	}
	return append(all, suiteFamilies...)
}
