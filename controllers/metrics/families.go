package metrics

import "replab.dev/internal/metrics"

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
	requestsFamily    = ofExperiment("replab_experiment_load_requests", "Requests of all stages that count.")
	failuresFamily    = ofExperiment("replab_experiment_load_failures", "Of these, those without a 2xx answer.")
	rateFamily        = ofExperiment("replab_experiment_load_requests_per_second", "Requests that succeeded within the stages that count, a second; a lower bound where replab_experiment_load_requests_per_second_at_most is higher.")
	rateMostFamily    = ofExperiment("replab_experiment_load_requests_per_second_at_most", "The upper bound of replab_experiment_load_requests_per_second: the rate over the time in which the recorder ran; absent where it never did.")
	latencyFamily     = ofExperiment("replab_experiment_load_latency_seconds", "Latency of all requests, a failed one slower than every one that succeeded: p50, p95, p99 and max; absent where only a lower bound is known, or a closed loop contradicts it.", "percentile")
	writesFamily      = ofExperiment("replab_experiment_writes", "Writes by the sets of the ledger and of the tables: sent, acknowledged, rejected, indeterminate, and after the audit present, lost, recovered, vanished, duplicates, unexpected. Of lost it may be a lower bound, as the status says, and is absent where its goal could not be told for that.", "set")
	ghostsFamily      = ofExperiment("replab_experiment_ghost_writes", "Rows that only an old primary has; absent where that is not known.")
	nodeGhostsFamily  = ofExperiment("replab_experiment_node_ghost_writes", "Of these, those of one node.", "node")
	outageFamily      = ofExperiment("replab_experiment_outage_seconds", "The longest outage of a fault; without a fault the longest time under load without an acknowledged write; may have been shorter by status.outageUncertaintyMilliseconds; absent where it had not ended.")
	lagFamily         = ofExperiment("replab_experiment_replication_lag_seconds", "Replication lag of all nodes that follow: p50, p99 and max; absent where only a lower bound is known.", "percentile")
	injectedFamily    = ofExperiment("replab_experiment_fault_injected_timestamp_seconds", "When a fault was injected, by the clock of who did it.", "fault", "node")
	releasedFamily    = ofExperiment("replab_experiment_fault_released_timestamp_seconds", "When its hold ended, likewise.", "fault", "node")
	faultOutageFamily = ofExperiment("replab_experiment_fault_outage_seconds", "The longest time without an acknowledged write after a fault and before the next; may have been shorter by its outageUncertaintyMilliseconds; absent where it had not ended.", "fault", "node")
	goalFamily        = ofExperiment("replab_experiment_goal_met", "1 for a goal that was met, 0 for one that was not; absent where it could not be told.", "metric")
)

func ofExperiment(name, help string, labels ...string) *metrics.Family {
	return metrics.Gauge(name, help, append([]string{"namespace", "experiment"}, labels...)...)
}

func shownFamilies() []*metrics.Family {
	return []*metrics.Family{
		experimentsFamily, infoFamily, UndecodableFamily, phaseFamily, verdictFamily, startFamily, loadStartFamily, completionFamily, requestsFamily,
		failuresFamily, rateFamily, rateMostFamily, latencyFamily, writesFamily, ghostsFamily, nodeGhostsFamily, outageFamily, lagFamily, injectedFamily,
		releasedFamily,
		faultOutageFamily, goalFamily,
	}
}
