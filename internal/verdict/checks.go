package verdict

import (
	"fmt"

	"replab.dev/api/v1alpha1"
)

// contradictions make a run Invalid.
var contradictions = []check{identityOpen, ledgersDisagree, ghostsDisagree, logsDisagree, replicasDisagree, rebuiltDiffer, clientDisagrees, settingsContradict}

// gaps make a run Inconclusive.
var gaps = []check{somethingMissing, instrumentsDiffer, imagesDiffer, settingsUnknown, distanceUnsound, faultUnconfirmed, restless, nodesUnaudited, notRecounted, writerMoved, goalUnmeasured}

// remarks never change the verdict.
var remarks = []check{
	replicationRemarks, degradedUnknown, groupRemarks, distanceRemarks, outageRemarks, phasesUnknown, unapplied, reinstated, lossUnclear, ghostsUnknown, logsUnknown, rejoinsUnknown, clocksDiffer, dropped, someFailed, stoodStill, windowsCut, answeredLate, stagesEmpty, stagesUnnamed,
	closedLoopUnsound, notCompared, lossRemarks, sentTwice, staleReadsUnknown, recorderRestarted, pathRestarted,
}

func identityOpen(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Audit == nil || e.Audit.Writes == nil {
		return nil
	}
	w := e.Audit.Writes
	var found []string
	if w.Duplicates > 0 {
		found = append(found, fmt.Sprintf("%d writes are present more than once: something behind the app repeats writes.", w.Duplicates))
	}
	if w.Unexpected > 0 {
		found = append(found, fmt.Sprintf("%d writes are present that were rejected or never sent.", w.Unexpected))
	}
	if !w.Balanced {
		why := w.Why
		if why != "" {
			why = ". " + why
		}
		found = append(found, fmt.Sprintf("The sets of writes do not add up: sent %d, acknowledged %d, rejected %d, indeterminate %d, present %d, lost %d, recovered %d%s.",
			w.Sent, w.Acknowledged, w.Rejected, w.Indeterminate, w.Present, w.Lost, w.Recovered, why))
	}
	return found
}

// imagesDiffer finds a name that stood for several images during the run: its pods were not alike.
func imagesDiffer(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	return e.Provenance.Differences()
}

// ghostsDisagree compares rows with transactions: each write is a transaction of its own. With durability Volatile a killed
// server may have lost rows whose transactions it still names, so fewer rows are no contradiction there. Nor are they where the
// proxy may have sent a write to a second server: see sentTwice.
func ghostsDisagree(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Audit == nil {
		return nil
	}
	var found []string
	for _, n := range e.Audit.Nodes {
		if n.Extra == nil || n.ExtraProbeWrites == nil || n.GhostTransactions == nil {
			continue
		}
		rows := *n.Extra + *n.ExtraProbeWrites
		mayLack := e.SendsTwice || e.Spec.Topology.Durability == v1alpha1.DurabilityVolatile
		if rows > *n.GhostTransactions || (rows < *n.GhostTransactions && !mayLack) {
			found = append(found, fmt.Sprintf("Node %s has %d rows of its own (%d writes, %d of probes) but %d transactions of its own.",
				n.Name, rows, *n.Extra, *n.ExtraProbeWrites, *n.GhostTransactions))
		}
	}
	return found
}

// sentTwice tells of writes that were committed on two servers: the row is on both, and the old one has a transaction more.
func sentTwice(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Audit == nil || !e.SendsTwice || e.Spec.Topology.Durability == v1alpha1.DurabilityVolatile {
		return nil
	}
	var found []string
	for _, n := range e.Audit.Nodes {
		if n.Extra == nil || n.ExtraProbeWrites == nil || n.GhostTransactions == nil {
			continue
		}
		if twice := *n.GhostTransactions - *n.Extra - *n.ExtraProbeWrites; twice > 0 {
			found = append(found, fmt.Sprintf("Node %s has %d transactions of its own whose rows the others hold by other transactions: writes that the proxy sent twice.", n.Name, twice))
		}
	}
	return found
}

func somethingMissing(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	found := append([]string(nil), e.Missing...)
	if !e.State.Known {
		found = append(found, "The topology could not be asked for its state: "+e.State.Why+".")
	}
	if e.Recorder != nil && e.Recorder.Failed != "" {
		found = append(found, "The recorder failed: "+e.Recorder.Failed+".")
	}
	if e.Recorder != nil && e.Recorder.Incomplete != "" {
		found = append(found, "The recorder's figures are not whole: "+e.Recorder.Incomplete+".")
	}
	if e.Audit != nil && e.Audit.Failed != "" {
		found = append(found, "The audit could not compare the writes: "+e.Audit.Failed+".")
	}
	return found
}

func goalUnmeasured(e Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	var found []string
	for _, g := range status.Goals {
		if g.Met == "Unknown" {
			found = append(found, fmt.Sprintf("Goal %s (%s) cannot be judged: %s.", g.Metric, g.Limit, whyUnknown(g, e, status)))
		}
	}
	return found
}

func dropped(_ Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	if status.Load == nil || status.Load.DroppedIterations == nil || *status.Load.DroppedIterations == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d requests were not sent for want of free users: the latency percentiles are lower bounds.", *status.Load.DroppedIterations)}
}

// staleReadsUnknown says why there is no count: a user that was lost cannot be read either.
func staleReadsUnknown(e Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	if status.Load == nil || status.Load.StaleReads != nil {
		return nil
	}
	if e.Recorder.CheckedReads == 0 {
		return []string{"Stale reads are not stated: no user of an acknowledged write was read, with an answer."}
	}
	return []string{"Stale reads are not stated: reads of lost users look the same, and which these are is not known of all."}
}

func recorderRestarted(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Recorder == nil || e.Recorder.Restarts == 0 {
		return nil
	}
	return []string{fmt.Sprintf("The recorder restarted %d time(s): writes whose outcome it did not record, up to a whole block of ids, count as indeterminate.", e.Recorder.Restarts)}
}
