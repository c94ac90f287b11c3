package distance

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/degraded"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/verdict/load"
	"replab.dev/internal/wire"
)

// stateBounds compares each closed loop's throughput with its bound.
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

// boundMissing is the reason why a closed loop has no bound, if one lacks it.
func boundMissing(e evidence.Run, s *evidence.Status) finding.Finding {
	if why := noBound(e, s); !why.None() {
		return why
	}
	if unbounded(e, s) {
		return finding.Of(finding.NoBase)
	}
	return finding.Finding{}
}

// unbounded reports whether a closed loop has no bound though all nodes were there and at their distances.
func unbounded(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus) bool {
	return s.Load != nil && slices.ContainsFunc(s.Load.Stages, func(stage v1alpha1.StageStatus) bool {
		i := slices.IndexFunc(evidence.StagesOf(e), func(r wire.StageResult) bool { return r.Name == stage.Name })
		return stage.Distance == nil && isClosed(e.Spec, stage.Name) && (i < 0 || unheld(e, e.Recorder.Stages[i]).None())
	})
}

// noBound is the reason why no bound can be stated, if there is one. A bound is of one writer, and of operations in a known order.
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

// elsewhere reports whether another node than the first may have taken writes during the load. A change before the load is no harm.
func elsewhere(e evidence.Run) bool {
	during := func(f topology.Failover) bool { return evidence.InLoad(e, f) }
	other := func(writers []string) bool {
		return len(writers) > 0 && e.State.Known && (len(e.State.Nodes) == 0 || !slices.Equal(writers, []string{e.State.Nodes[0].Name}))
	}
	return slices.ContainsFunc(e.State.Failovers, during) ||
		e.Spec.Routing.Writes != v1alpha1.WritesAll && (other(e.State.Writers) || e.Recorder != nil && other(e.Recorder.Writers))
}

// didNotWait finds commits that did not wait for an acknowledgement, or of which this is unknown.
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

// stageDistance is nil for an open loop, for a stage that was not at its distance, and without a latency at no distance.
func stageDistance(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus, asked v1alpha1.Stage, r wire.StageResult) *v1alpha1.StageDistance {
	if !isClosed(e.Spec, asked.Name) || r.DurationMicroseconds == 0 || r.Requests == 0 || !unheld(e, r).None() {
		return nil
	}
	base, from := latencyWithout(e, s, r)
	if base == 0 {
		return nil
	}
	writes := float64(written(r)) / float64(r.Requests)
	trip, _ := commitTrip(e, r, from)
	bound := load.MeanUsers(asked) / ((float64(base) + writes*float64(trip)) / 1e6)
	measured := float64(r.Succeeded) * 1e6 / float64(r.DurationMicroseconds)
	return &v1alpha1.StageDistance{
		RoundTripMicroseconds: trip, WritesPermille: int64(math.Round(writes * 1000)), BaseMicroseconds: base, BaseFrom: from,
		BoundMilliRequestsPerSecond: int64(math.Round(bound * 1000)), OfBoundPermille: int64(math.Round(measured / bound * 1000)),
	}
}

// boundShares gives the bounds of stages, and what they made of these, the bounds of the throughput and of the mean latency without distance.
func boundShares(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	known := evidence.Status{Load: s.Load, Bounds: *b}
	for i, stage := range s.Load.Stages {
		prefix := "load.stages[" + stage.Name + "]."
		if rate := figure.Read(&known, prefix+"requestsPerSecondMilli"); stage.Distance != nil && rate.AtLeast != nil {
			boundShare(b, prefix+"distance.", *stage.Distance, rate, baseMean(e, &known, i))
		}
	}
}

// boundShare of one stage. A mean that is not exact has no upper bound.
func boundShare(b *figure.Bounds, prefix string, d v1alpha1.StageDistance, rate, base figure.Figure) {
	bound, waits := d.BoundMilliRequestsPerSecond, float64(d.WritesPermille*d.RoundTripMicroseconds)/1000
	least, path := *rate.AtLeast*1000/bound, prefix+"ofBoundPermille"
	switch {
	case !base.IsExact() && (base.AtLeast == nil || float64(*base.AtLeast)+waits == 0):
		for _, name := range []string{"baseMicroseconds", "boundMilliRequestsPerSecond", "ofBoundPermille"} {
			b.Unknown(prefix+name, base.Because)
		}
	case !base.IsExact():
		shorter := (float64(*base.AtLeast) + waits) / (float64(d.BaseMicroseconds) + waits)
		b.AtLeast(prefix+"baseMicroseconds", *base.AtLeast, base.Because)
		b.AtMost(prefix+"boundMilliRequestsPerSecond", int64(math.Ceil(float64(bound)/shorter)), base.Because)
		b.AtLeast(path, int64(float64(least)*shorter), base.Because)
	case rate.AtMost == nil:
		b.AtLeast(path, least, rate.Because)
	case !rate.IsExact():
		b.Between(path, least, (*rate.AtMost*1000+bound-1)/bound, rate.Because)
	}
}

// baseMean is the mean latency without distance that the i-th stage's bound is by. The stage's pauses are those of its reads, too.
func baseMean(e evidence.Run, known *evidence.Status, i int) figure.Figure {
	const mean = "load.stages[%s].latency.meanMicroseconds"
	stage, r := known.Load.Stages[i], e.Recorder.Stages[i]
	switch stage.Distance.BaseFrom {
	case v1alpha1.BaseFromStage:
		without, _ := lastWithoutDistance(e)
		return figure.Read(known, fmt.Sprintf(mean, without.Name))
	case v1alpha1.BaseFromBaseline:
		return figure.Read(&e.Baseline.Status, fmt.Sprintf(mean, fewestUsers(e.Baseline.Spec.Load)))
	}
	base := figure.Exact("", stage.Distance.BaseMicroseconds)
	if r.PausedRequests > 0 {
		ran := 1 - float64(r.PausedMicroseconds)/float64(r.DurationMicroseconds)
		base.AtLeast, base.AtMost, base.Because = new(int64(float64(*base.Value)*ran)), nil, compare.Paused(stage.StageFigures)
	}
	return base
}

// commits tells whether an operation ends with a commit.
func commits(operation string) bool {
	return operation == wire.OperationRegister || operation == wire.OperationUpdate
}

func written(r wire.StageResult) (n int64) {
	for _, o := range r.Operations {
		if commits(o.Name) {
			n += o.Requests
		}
	}
	return n
}

// latencyWithout distance: of the last stage without it, or of a baseline without links, or of the reads. 0 if unknown.
func latencyWithout(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus, r wire.StageResult) (int64, v1alpha1.DistanceBase) {
	if stage, last := lastWithoutDistance(e); stage.ClosedUsers() > 0 && !linkedBefore(e, last) { // an open loop may be a queue
		if mean := meanLatency(s.Load, stage.Name); mean > 0 && calm(e, stage.Name) {
			return mean, v1alpha1.BaseFromStage
		}
	}
	if b := e.Baseline; b != nil && atNoDistance(b.Spec.Topology) && sameButForDistance(e.Spec, b.Spec) && compare.Unlike(evidence.Pair(e, s)) == "" {
		if stage := fewestUsers(b.Spec.Load); meanLatency(b.Status.Load, stage) > 0 && !faultBeforeEndOf(b.Spec, stage) {
			return meanLatency(b.Status.Load, stage), v1alpha1.BaseFromBaseline
		}
	}
	return ofReads(e, r)
}

// lastWithoutDistance is the last stage without distance, as asked and as measured.
func lastWithoutDistance(e evidence.Run) (v1alpha1.Stage, *wire.StageResult) {
	n := e.Spec.Load.StagesWithoutDistance()
	if n == 0 {
		return v1alpha1.Stage{}, nil
	}
	asked := e.Spec.Load.Stages[n-1]
	i := slices.IndexFunc(evidence.StagesOf(e), func(r wire.StageResult) bool { return r.Name == asked.Name })
	if i < 0 {
		return asked, nil
	}
	return asked, &e.Recorder.Stages[i]
}

// linkedBefore reports whether links may have been set before the last answer of a stage without distance.
func linkedBefore(e evidence.Run, r *wire.StageResult) bool {
	if r == nil || r.Requests == 0 {
		return false
	}
	if r.EndedAt == nil || e.Distance == nil {
		return true
	}
	return slices.ContainsFunc(e.Distance.Nodes, func(n v1alpha1.LinkedNodeStatus) bool {
		if n.LinkingTime == nil { // linkingUnsound tells of one that should have been linked
			return false
		}
		by := evidence.ClockOf(e.Recorder, n.Name)
		return by == nil || !evidence.Told(n.LinkingTime.Time, *by).Earliest.After(r.EndedAt.Time)
	})
}

// ofReads is the mean latency of a stage's reads in microseconds. 0 if unknown, or if reads wait for other nodes.
func ofReads(e evidence.Run, r wire.StageResult) (int64, v1alpha1.DistanceBase) {
	if e.ReadsWait {
		return 0, ""
	}
	var sum, n int64
	for _, o := range r.Operations {
		if !commits(o.Name) && o.Latency != nil {
			sum += o.Latency.MeanMicroseconds * (o.Requests - o.Failures)
			n += o.Requests - o.Failures
		}
	}
	if n == 0 {
		return 0, ""
	}
	return sum / n, v1alpha1.BaseFromReads
}

// calm reports whether no node was away during a stage.
func calm(e evidence.Run, stage string) bool {
	i := slices.IndexFunc(evidence.StagesOf(e), func(r wire.StageResult) bool { return r.Name == stage })
	return i >= 0 && disturbed(e, e.Recorder.Stages[i]).None()
}

// faultBeforeEndOf reports whether a fault was planned for a stage or an earlier one, which may have changed its latency.
func faultBeforeEndOf(spec v1alpha1.ReplicationExperimentSpec, stage string) bool {
	var end int64
	for _, s := range spec.Load.Stages {
		if end += s.DurationSeconds; s.Name == stage {
			break
		}
	}
	return slices.ContainsFunc(spec.Faults, func(f v1alpha1.Fault) bool { return f.AtSeconds < end })
}

// meanLatency of a stage in microseconds, 0 where it is not known.
func meanLatency(load *v1alpha1.LoadStatus, stage string) int64 {
	for _, s := range load.Stages {
		if s.Name == stage && s.Latency != nil {
			return s.Latency.MeanMicroseconds
		}
	}
	return 0
}

// fewestUsers is the counting closed loop with the fewest users.
func fewestUsers(load v1alpha1.LoadSpec) string {
	name, fewest := "", int64(math.MaxInt64)
	for _, s := range load.Stages {
		if users := s.ClosedUsers(); users > 0 && users < fewest && !s.Discard {
			name, fewest = s.Name, users
		}
	}
	return name
}

// atNoDistance reports whether no link delays packets.
func atNoDistance(t v1alpha1.TopologySpec) bool {
	return !slices.ContainsFunc(t.Links, func(l v1alpha1.Link) bool { return l.RoundTripMilliseconds > 0 })
}

// sameButForDistance reports whether requests go the same ways through the same servers, apart from the interval of routing checks.
func sameButForDistance(a, b v1alpha1.ReplicationExperimentSpec) bool {
	for _, s := range []*v1alpha1.ReplicationExperimentSpec{&a, &b} {
		s.Topology.Zones, s.Topology.Links, s.Routing.Check = nil, nil, v1alpha1.RoutingCheck{}
	}
	return equality.Semantic.DeepEqual(a.Topology, b.Topology) && equality.Semantic.DeepEqual(a.Routing, b.Routing) && equality.Semantic.DeepEqual(a.Pods, b.Pods)
}
