package metrics

import (
	"maps"
	"slices"

	"replab.dev/internal/figure"
	"replab.dev/internal/metrics"
)

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
	injectedFamily    = ofExperiment("replab_experiment_fault_injected_timestamp_seconds", "When a fault was injected, by the clock of who did it.", "fault", "node")
	releasedFamily    = ofExperiment("replab_experiment_fault_released_timestamp_seconds", "When its hold ended, likewise.", "fault", "node")
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
		families[g.Name] = ofExperiment(g.Name, g.Help+" Absent where it was not measured, or its bounds differ by more than a twentieth.", labels...)
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
	return all
}
