package controllers

import "replab.dev/internal/metrics"

var experimentsFamily = metrics.Gauge("replab_experiments", "Experiments by topology, phase and verdict.", "topology", "phase", "verdict")

// Of one experiment, as its status says.
var (
	infoFamily        = ofExperiment("info", "1 for each experiment that there is.", "topology", "engine", "proxy")
	phaseFamily       = ofExperiment("phase", "1 for the phase that the experiment is in.", "phase")
	verdictFamily     = ofExperiment("verdict", "1 for the verdict: Passed, Failed, Inconclusive or Invalid; absent before it is judged.", "verdict")
	startFamily       = ofExperiment("start_timestamp_seconds", "When the experiment was accepted.")
	loadStartFamily   = ofExperiment("load_start_timestamp_seconds", "When the first request of the load came.")
	completionFamily  = ofExperiment("completion_timestamp_seconds", "When the experiment was over.")
	requestsFamily    = ofExperiment("load_requests", "Requests of all stages that count.")
	failuresFamily    = ofExperiment("load_failures", "Of these, those without a 2xx answer.")
	rateFamily        = ofExperiment("load_requests_per_second", "Requests that succeeded within the stages that count, a second.")
	latencyFamily     = ofExperiment("load_latency_seconds", "Latency of all requests, a failed one slower than every one that succeeded: p50, p95, p99 and max.", "percentile")
	writesFamily      = ofExperiment("writes", "Writes by the sets of the ledger and of the tables: sent, acknowledged, rejected, indeterminate, and after the audit present, lost, recovered, vanished, duplicates, unexpected.", "set")
	ghostsFamily      = ofExperiment("ghost_writes", "Rows that only an old primary has; absent where that is not known.")
	nodeGhostsFamily  = ofExperiment("node_ghost_writes", "Of these, those of one node.", "node")
	outageFamily      = ofExperiment("outage_seconds", "The longest outage of a fault; without a fault the longest time under load without an acknowledged write.")
	lagFamily         = ofExperiment("replication_lag_seconds", "Replication lag of all nodes that follow: p50, p99 and max.", "percentile")
	injectedFamily    = ofExperiment("fault_injected_timestamp_seconds", "When a fault was injected, by the clock of who did it.", "fault", "target")
	releasedFamily    = ofExperiment("fault_released_timestamp_seconds", "When its hold ended, likewise.", "fault", "target")
	faultOutageFamily = ofExperiment("fault_outage_seconds", "The longest time without an acknowledged write after a fault and before the next.", "fault", "target")
	goalFamily        = ofExperiment("goal_met", "1 for a goal that was met, 0 for one that was not; absent where it could not be told.", "metric")
)

func ofExperiment(name, help string, labels ...string) *metrics.Family {
	return metrics.Gauge("replab_experiment_"+name, help, append([]string{"namespace", "experiment"}, labels...)...)
}

func shownFamilies() []*metrics.Family {
	return []*metrics.Family{
		experimentsFamily, infoFamily, phaseFamily, verdictFamily, startFamily, loadStartFamily, completionFamily, requestsFamily, failuresFamily,
		rateFamily, latencyFamily, writesFamily, ghostsFamily, nodeGhostsFamily, outageFamily, lagFamily, injectedFamily, releasedFamily,
		faultOutageFamily, goalFamily,
	}
}
