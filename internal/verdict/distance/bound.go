package distance

import (
	"math"
	"slices"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/degraded"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/verdict/load"
	"replab.dev/internal/wire"
)

// stateBounds holds each closed loop's throughput against what the distance allows.
func stateBounds(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus) {
	if s.Load == nil || !noBound(e, s).None() {
		return
	}
	for i := range s.Load.Stages {
		for _, r := range e.Recorder.Stages {
			for _, asked := range e.Spec.Load.Stages {
				if s.Load.Stages[i].Name == r.Name && asked.Name == r.Name {
					s.Load.Stages[i].Distance = stageDistance(e, s, asked, r)
				}
			}
		}
	}
}

// boundMissing says why a closed loop has no bound, nothing where none lacks it.
func boundMissing(e evidence.Run, s *evidence.Status) finding.Finding {
	if why := noBound(e, s); !why.None() {
		return why
	}
	if unbounded(e, s) {
		return finding.Of(finding.NoBase)
	}
	return finding.Finding{}
}

// unbounded tells whether a closed loop has no bound during which all nodes were in their places, and at their distances.
func unbounded(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus) bool {
	return s.Load != nil && slices.ContainsFunc(s.Load.Stages, func(stage v1alpha1.StageStatus) bool {
		i := slices.IndexFunc(evidence.StagesOf(e), func(r wire.StageResult) bool { return r.Name == stage.Name })
		return stage.Distance == nil && isClosed(e.Spec, stage.Name) && (i < 0 || unheld(e, e.Recorder.Stages[i]).None())
	})
}

// noBound says why there is no bound, nothing where there may be one. A bound is of one node that takes the writes, and of one operation after
// the other, of which it is known what each waits for.
func noBound(e evidence.Run, s *evidence.Status) finding.Finding {
	t := e.Spec.Topology
	switch {
	case len(t.Links) == 0:
		return finding.Of(finding.NoDistance)
	case e.CommitWaits == 0:
		return finding.Of(finding.NoWait)
	case farthestCommit(e) == 0:
		return finding.Of(finding.NoWaitAtDistance)
	case e.Spec.Load.Script != nil:
		return finding.Of(finding.OwnScript)
	case elsewhere(e):
		return finding.Of(finding.WriterElsewhere)
	case appFar(e.Spec, 0) || (e.Spec.Routing.Reads != v1alpha1.ReadsPrimary || e.Spec.Routing.Writes == v1alpha1.WritesAll) && appFarFromAny(e.Spec):
		return finding.Of(finding.AppFar)
	}
	return finding.First(didNotWait(e, s), placesUnknown(e))
}

// elsewhere tells whether another node than the first, from which the distance is taken, may have taken the writes during the load. A change
// before it, as while one member of a group brings another in, is no harm where the first node has them in the end. A proxy that chooses by
// itself is told by who acknowledged.
func elsewhere(e evidence.Run) bool {
	during := func(f topology.Failover) bool { return evidence.InLoad(e, f) }
	other := func(writers []string) bool {
		return len(writers) > 0 && e.State.Known && (len(e.State.Nodes) == 0 || !slices.Equal(writers, []string{e.State.Nodes[0].Name}))
	}
	return slices.ContainsFunc(e.State.Failovers, during) ||
		e.Spec.Routing.Writes != v1alpha1.WritesAll && (other(e.State.Writers) || e.Recorder != nil && other(e.Recorder.Writers))
}

// didNotWait says that commits went on without the acknowledgement that they were to wait for, or that this is unknown, nothing where none did.
func didNotWait(e evidence.Run, s *evidence.Status) finding.Finding {
	if e.Recorder == nil || e.Recorder.Commits == nil {
		return finding.Finding{}
	}
	if s.Replication == nil || s.Replication.DegradedCommits == nil {
		return finding.Of(finding.WaitsUnknown)
	}
	if n := *s.Replication.DegradedCommits; n > 0 {
		return finding.Of(finding.DidNotWait, n)
	}
	if n := degraded.Unsampled(e.Recorder); len(n) > 0 {
		return finding.Of(finding.WaitsUnsampled, finding.Of(finding.UnsampledTime, n[0].Name, evidence.Milliseconds(n[0].UncountedMicroseconds)))
	}
	if most := e.Recorder.Commits.DegradedCommitsAtMost; most > 0 {
		return finding.Of(finding.WaitsPerhaps, most)
	}
	return finding.Finding{}
}

func appFar(spec v1alpha1.ReplicationExperimentSpec, node int) bool {
	trip, _ := topology.RoundTrip(spec.Topology, spec.App.Zone, topology.ZoneOf(spec.Topology, node))
	return trip > 0
}

func appFarFromAny(spec v1alpha1.ReplicationExperimentSpec) bool {
	for node := range int(spec.Topology.Nodes) {
		if appFar(spec, node) {
			return true
		}
	}
	return false
}

// stageDistance is nil for an open loop, which does not wait, for a stage without distance or in which the links were set, where a node was out
// of its place, or packets came late, and where there is no figure without distance.
func stageDistance(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus, asked v1alpha1.Stage, r wire.StageResult) *v1alpha1.StageDistance {
	if !isClosed(e.Spec, asked.Name) || r.DurationMicroseconds == 0 || r.Requests == 0 || !unheld(e, r).None() {
		return nil
	}
	base, from := latencyWithout(e, s, r)
	if base == 0 {
		return nil
	}
	writes := float64(registered(r)) / float64(r.Requests)
	trip, _ := commitTrip(e, r, from)
	bound := load.MeanUsers(asked) / ((float64(base) + writes*float64(trip)) / 1e6)
	measured := float64(r.Succeeded) * 1e6 / float64(r.DurationMicroseconds)
	return &v1alpha1.StageDistance{
		RoundTripMicroseconds: trip, WritesPermille: int64(math.Round(writes * 1000)), BaseMicroseconds: base, BaseFrom: from,
		BoundMilliRequestsPerSecond: int64(math.Round(bound * 1000)), OfBoundPermille: int64(math.Round(measured / bound * 1000)),
	}
}

func registered(r wire.StageResult) int64 {
	for _, o := range r.Operations {
		if o.Name == wire.OperationRegister {
			return o.Requests
		}
	}
	return 0
}
