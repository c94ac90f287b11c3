// Package load judges throughput, latency, stale reads, and the instruments that measured them. It is pure.
package load

import (
	"math"
	"slices"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// Fill states what the load got, and what it took of each node.
func Fill(e evidence.Run, s *evidence.Status) {
	s.Load = figures(e)
	for i := range s.Nodes {
		s.Nodes[i].Resources = resources(e.Recorder, s.Nodes[i].Name)
	}
}

// Findings of the load and of what measured it.
func Findings(e evidence.Run, s *evidence.Status) []finding.Finding {
	return slices.Concat(
		clientDisagrees(e), instrumentsDiffer(e),
		dropped(s), someFailed(s), stoodStill(e, s), windowsCut(e, s), answeredLate(e, s), stagesEmpty(s), stagesUnnamed(e, s), closedLoopUnsound(e, s),
		staleReadsUnknown(e, s), recorderRestarted(e), pathRestarted(e),
	)
}

func figures(e evidence.Run) *v1alpha1.LoadStatus {
	if e.Recorder == nil || e.Recorder.Incomplete != "" {
		return nil
	}
	l := &v1alpha1.LoadStatus{StageFigures: stageFigures(e.Recorder.Load, droppedIterations(e)), StaleReads: staleReads(e)}
	for _, s := range e.Recorder.Stages {
		stage := v1alpha1.StageStatus{Name: s.Name, StageFigures: stageFigures(s, droppedIn(e, s.Name))}
		if c := closedLoopOf(e, s); c != nil {
			stage.ClosedLoopPermille, stage.ClosedLoopHolds = ptr.To(int64(math.Round(c.share*1000))), c.holds()
		}
		l.Stages = append(l.Stages, stage)
	}
	return l
}

// droppedIterations of the stages that count, or of all when a user's own script has stages that nobody knows.
func droppedIterations(e evidence.Run) *int64 {
	if e.K6 == nil {
		return nil
	}
	if e.Spec.Load.Script != nil {
		return ptr.To(e.K6.DroppedIterations)
	}
	sum := int64(0)
	for _, s := range e.Spec.Load.Stages {
		if s.Discard {
			continue
		}
		dropped := droppedIn(e, s.Name)
		if dropped == nil {
			return nil
		}
		sum += *dropped
	}
	return &sum
}

// droppedIn a stage; nil when that is not known.
func droppedIn(e evidence.Run, stage string) *int64 {
	if e.K6 == nil {
		return nil
	}
	if e.Spec.Load.Script != nil && e.K6.DroppedIterations == 0 {
		return ptr.To[int64](0)
	}
	for _, k := range e.K6.Stages {
		if k.Name == stage {
			return ptr.To(k.DroppedIterations)
		}
	}
	return nil
}

func stageFigures(r wire.StageResult, dropped *int64) v1alpha1.StageFigures {
	f := v1alpha1.StageFigures{
		Requests: r.Requests, Failures: r.Failures, DroppedIterations: dropped, Latency: latencyStatus(r.Latency),
	}
	if r.PausedMicroseconds > 0 {
		f.PausedMilliseconds = ptr.To(evidence.Milliseconds(r.PausedMicroseconds))
	}
	if d := r.DurationMicroseconds; d > 0 {
		f.DurationMilliseconds = ptr.To((d + 500) / 1000)
	}
	least, most := rate(r)
	f.RequestsPerSecondMilli, f.RequestsPerSecond = least, rounded(least, most)
	return f
}
