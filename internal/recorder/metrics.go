package recorder

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/ledger"
	"replab.dev/internal/metrics"
	"replab.dev/internal/recorder/figures"
	"replab.dev/internal/wire"
)

var (
	requestsFamily = metrics.Counter("replab_recorder_requests_total", "Requests of the load that have ended.", "stage", "operation")
	failuresFamily = metrics.Counter("replab_recorder_failures_total", "Requests of the load without a 2xx answer.", "stage", "operation")
	latencyFamily  = metrics.Histogram("replab_recorder_request_duration_seconds", "Latency of the load's requests, by outcome.", "stage", "operation", "outcome")
	inFlightFamily = metrics.Gauge("replab_recorder_requests_in_flight", "Requests of the load in progress.")
	startFamily    = metrics.Gauge("replab_recorder_load_start_timestamp_seconds", "When the first request of the load came; absent before.")
	stageFamily    = metrics.Gauge("replab_recorder_stage_start_timestamp_seconds", "When the first request of a stage came; absent before.", "stage")
	writesFamily   = metrics.Counter("replab_recorder_writes_total", "Writes in the ledger since this process began, by outcome.", "outcome")
	ackFamily      = metrics.Gauge("replab_recorder_node_last_acknowledged_write_timestamp_seconds", "When a node last acknowledged a write of the load or of the availability probe; absent before.", "node")
	staleFamily    = metrics.Counter("replab_recorder_stale_reads_total", "Reads in stages that count that missed a user whose write was acknowledged before.")
	lagFamily      = metrics.Gauge("replab_recorder_lag_seconds", "Largest replication lag in the last second, or age of the oldest unseen write; absent without either, or without the probe.", "node")
	probesFamily   = metrics.Counter("replab_recorder_availability_writes_total", "Writes of the availability probe, by outcome; absent without the probe.", "outcome")
	waitsFamily    = metrics.Counter("replab_recorder_commit_waits_total", "Waits of commits for replicas since the load began, with and without an acknowledgement; absent if servers do not count them.", "node", "outcome")
	degradedFamily = metrics.Counter("replab_recorder_degraded_seconds_total", "Minimum time since the load began in which commits did not wait for a standby; absent if servers do not report it.", "node")
	conflictFamily = metrics.Counter("replab_recorder_group_conflicts_total", "Failed transactions of a member's own clients since the load began, by cause; absent without a group.", "node", "kind")
	pausedFamily   = metrics.Counter("replab_recorder_group_flow_control_paused_seconds_total", "Time in stages that count in which flow control paused a member; absent without a group.", "node")
	coveredFamily  = metrics.Counter("replab_recorder_group_covered_seconds_total", "Time in stages that count for which it is known whether flow control paused a member; absent without a group.", "node")
	queueFamily    = metrics.Gauge("replab_recorder_group_receive_queue_peak_transactions", "Maximum of transactions received and not yet being applied, in samples of stages that count; absent without a group.", "node")
	restartsFamily = metrics.Gauge("replab_recorder_restarts", "How often a recorder started on an existing ledger.")
	failedFamily   = metrics.Gauge("replab_recorder_failed", "1 if the recorder's figures are not reliable.")
	finishedFamily = metrics.Gauge("replab_recorder_finished", "1 once the recorder has finished and its figures are final.")
)

func seconds(at time.Time) float64 { return float64(at.UnixMicro()) / 1e6 }

func families() []*metrics.Family {
	return []*metrics.Family{
		requestsFamily, failuresFamily, latencyFamily, inFlightFamily, startFamily, stageFamily, writesFamily, ackFamily, staleFamily, lagFamily,
		probesFamily, waitsFamily, degradedFamily, conflictFamily, pausedFamily, coveredFamily, queueFamily, restartsFamily, failedFamily, finishedFamily,
	}
}

// metrics returns a registry that reads the recorder's counts when asked, so that it costs the load nothing.
func (w *recorder) metrics() *prometheus.Registry {
	natives, began := figures.NewNatives(w.forwarder.figures), w.now()
	return metrics.New(metrics.Collector{
		Families: families(),
		Read: func(tell metrics.Tell) {
			w.tellLoad(tell)
			w.tellWrites(tell)
			w.tellProbes(tell)
			w.tellSelf(tell)
		},
		More: func(ch chan<- prometheus.Metric) {
			for _, n := range natives.Read() {
				outcome := "succeeded"
				if !n.Succeeded {
					outcome = "failed"
				}
				ch <- prometheus.MustNewConstNativeHistogram(latencyFamily.Desc(), n.Count, n.Sum, n.Buckets, nil, 0, figures.NativeSchema, 0, began,
					n.Stage, n.Operation.String(), outcome)
			}
		},
	})
}

func (w *recorder) tellLoad(tell metrics.Tell) {
	for _, t := range w.forwarder.figures.Tallies() {
		tell(requestsFamily, float64(t.Requests), t.Stage, t.Operation.String())
		tell(failuresFamily, float64(t.Failures), t.Stage, t.Operation.String())
	}
	inFlight, starts := w.forwarder.figures.UnderWay()
	tell(inFlightFamily, float64(inFlight))
	for stage, at := range starts {
		tell(stageFamily, seconds(at), stage)
	}
	if at := w.state.get().LoadStartedAt; at != nil {
		tell(startFamily, seconds(at.Time))
	}
}

func (w *recorder) tellWrites(tell metrics.Tell) {
	for _, o := range []ledger.Outcome{ledger.Acknowledged, ledger.Rejected, ledger.Indeterminate} {
		tell(writesFamily, float64(w.forwarder.outcomes[o].Load()), outcomeName(o))
	}
	for node, at := range w.forwarder.outage.Writers() {
		tell(ackFamily, seconds(at), node)
	}
	tell(staleFamily, float64(w.forwarder.users.staleReads()))
}

func (w *recorder) tellProbes(tell metrics.Tell) {
	p := w.probes
	if a := p.availability; a != nil {
		tell(probesFamily, float64(a.acknowledged.Load()), "acknowledged")
		tell(probesFamily, float64(a.failed.Load()), "failed")
		tell(probesFamily, float64(a.skipped.Load()), "skipped")
	}
	if lag := p.lastLag.Load(); lag != nil {
		for i, us := range *lag {
			if us >= 0 {
				tell(lagFamily, metrics.Seconds(us), w.cfg.Nodes[i].Name)
			}
		}
	}
	if p.commits != nil {
		tellCommits(tell, p.commits.result())
	}
	if p.group != nil {
		for _, n := range p.group.result().Nodes {
			tellMember(tell, n)
		}
	}
}

// tellCommits tells waits of servers that count them, and of others for how long commits waited for nobody.
func tellCommits(tell metrics.Tell, r *wire.CommitsResult) {
	for _, n := range r.Nodes {
		if n.Samples == 0 {
			continue // nothing is known of it
		}
		if r.OfTransactions {
			tell(degradedFamily, metrics.Seconds(n.DegradedMicroseconds), n.Name)
			continue
		}
		tell(waitsFamily, float64(n.AcknowledgedWaits), n.Name, "acknowledged")
		tell(waitsFamily, float64(n.UnacknowledgedWaits), n.Name, "unacknowledged")
	}
}

func tellMember(tell metrics.Tell, n wire.NodeGroup) {
	if n.Samples == 0 {
		return // nothing is known of it
	}
	tell(conflictFamily, float64(n.CertificationFailures), n.Name, "certification")
	tell(conflictFamily, float64(n.ForcedAborts), n.Name, "forced_abort")
	if n.Deadlocks != nil {
		tell(conflictFamily, float64(*n.Deadlocks), n.Name, "deadlock")
	}
	tell(pausedFamily, metrics.Seconds(n.FlowControlPausedMicroseconds), n.Name)
	tell(coveredFamily, metrics.Seconds(n.CoveredMicroseconds), n.Name)
	if n.ReceiveQueueMax != nil {
		tell(queueFamily, float64(*n.ReceiveQueueMax), n.Name)
	}
}

func (w *recorder) tellSelf(tell metrics.Tell) {
	doc := w.state.get()
	tell(restartsFamily, float64(doc.Restarts))
	tell(failedFamily, metrics.Bool(doc.Failed != ""))
	tell(finishedFamily, metrics.Bool(doc.FinishedAt != nil))
}
