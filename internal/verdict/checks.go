package verdict

import (
	"fmt"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/degraded"
	"replab.dev/internal/verdict/distance"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/faults"
	"replab.dev/internal/verdict/group"
	"replab.dev/internal/verdict/load"
	"replab.dev/internal/verdict/outage"
	"replab.dev/internal/verdict/rejoin"
	"replab.dev/internal/verdict/settings"
	"replab.dev/internal/verdict/writes"
)

// contradictions make a run Invalid.
var contradictions = []check{writes.IdentityOpen, writes.LedgersDisagree, writes.GhostsDisagree, writes.LogsDisagree, writes.ReplicasDisagree, writes.RebuiltDiffer, load.ClientDisagrees, settings.SettingsContradict}

// gaps make a run Inconclusive.
var gaps = []check{somethingMissing, load.InstrumentsDiffer, settings.ImagesDiffer, settings.SettingsUnknown, distance.DistanceUnsound, faults.FaultUnconfirmed, writes.Restless, writes.NodesUnaudited, writes.NotRecounted, writes.WriterMoved, goalUnmeasured}

// remarks never change the verdict.
var remarks = []check{
	replicationRemarks, degraded.DegradedUnknown, group.GroupRemarks, distance.DistanceRemarks, outage.OutageRemarks, outage.PhasesUnknown, outage.Unapplied, outage.Reinstated, writes.LossUnclear, writes.GhostsUnknown, writes.LogsUnknown, rejoin.RejoinsUnknown, faults.ClocksDiffer, load.Dropped, load.SomeFailed, load.StoodStill, load.WindowsCut, load.AnsweredLate, load.StagesEmpty, load.StagesUnnamed,
	load.ClosedLoopUnsound, notCompared, writes.LossRemarks, writes.SentTwice, load.StaleReadsUnknown, load.RecorderRestarted, load.PathRestarted,
}

func somethingMissing(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
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

func goalUnmeasured(e evidence.Run, status *v1alpha1.ReplicationExperimentStatus) []string {
	var found []string
	for _, g := range status.Goals {
		if g.Met == "Unknown" {
			found = append(found, fmt.Sprintf("Goal %s (%s) cannot be judged: %s.", g.Metric, g.Limit, whyUnknown(g, e, status)))
		}
	}
	return found
}
