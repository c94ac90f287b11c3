package verdict

import (
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/protocol"
)

// fill copies the evidence's figures into the status. What was not measured stays absent.
func fill(e Evidence, s *v1alpha1.ReplicationExperimentStatus) {
	s.Load = loadStatus(e)
	s.Writes = writesStatus(e)
	s.Replication = replicationStatus(e.Witness)
	s.Nodes, s.GhostWrites = nodes(e)
	s.Failover = failover(e)
	s.Comparison = comparison(e, s)
}

func loadStatus(e Evidence) *v1alpha1.LoadStatus {
	if e.Witness == nil || e.Witness.Incomplete != "" {
		return nil
	}
	l := &v1alpha1.LoadStatus{StageFigures: stageFigures(e.Witness.Load), DroppedIterations: droppedIterations(e)}
	l.StaleReads = staleReads(e)
	for _, s := range e.Witness.Stages {
		l.Stages = append(l.Stages, v1alpha1.StageStatus{Name: s.Name, StageFigures: stageFigures(s), ClosedLoopPermille: closedLoop(e, s.Name)})
	}
	return l
}

// droppedIterations of the stages that count, or of all when a user's own script has stages that nobody knows.
func droppedIterations(e Evidence) *int64 {
	if e.K6 == nil {
		return nil
	}
	if e.Spec.Load.Script != nil {
		return ptr.To(e.K6.DroppedIterations)
	}
	sum := int64(0)
	for _, s := range e.Spec.Load.Stages {
		for _, k := range e.K6.Stages {
			if s.Name == k.Name && !s.Discard {
				sum += k.DroppedIterations
			}
		}
	}
	return &sum
}

func stageFigures(r protocol.StageResult) v1alpha1.StageFigures {
	f := v1alpha1.StageFigures{Requests: r.Requests, Failures: r.Failures, DurationMilliseconds: r.DurationMicroseconds / 1000}
	if r.DurationMicroseconds > 0 {
		f.RequestsPerSecond = ptr.To(int64(math.Round(float64(r.Requests) * 1e6 / float64(r.DurationMicroseconds))))
	}
	if l := r.Latency; l != nil {
		f.Latency = &v1alpha1.LatencyStatus{
			MeanMicroseconds: l.MeanMicroseconds, P50Microseconds: l.P50Microseconds, P95Microseconds: l.P95Microseconds,
			P99Microseconds: l.P99Microseconds, MaxMicroseconds: l.MaxMicroseconds,
		}
	}
	return f
}

// closedLoop is iterations x mean duration / (users x stage duration) in thousandths, of k6's own figures.
func closedLoop(e Evidence, stage string) *int64 {
	if e.K6 == nil || e.Spec.Load.Script != nil {
		return nil
	}
	for _, s := range e.Spec.Load.Stages {
		for _, k := range e.K6.Stages {
			if s.Name != stage || k.Name != stage || s.Users == 0 || k.Iterations == 0 {
				continue
			}
			busy := float64(k.Iterations) * float64(k.IterationMeanMicroseconds)
			return ptr.To(int64(math.Round(busy * 1000 / (float64(s.Users) * float64(s.DurationSeconds) * 1e6))))
		}
	}
	return nil
}

func writesStatus(e Evidence) *v1alpha1.WritesStatus {
	if e.Audit == nil || e.Audit.Writes == nil {
		if e.Witness == nil || e.Witness.Failed != "" {
			return nil
		}
		w := e.Witness.Writes
		return &v1alpha1.WritesStatus{Sent: w.Sent, Acknowledged: w.Acknowledged, Rejected: w.Rejected, Indeterminate: w.Indeterminate}
	}
	w := e.Audit.Writes
	s := &v1alpha1.WritesStatus{
		Sent: w.Sent, Acknowledged: w.Acknowledged, Rejected: w.Rejected, Indeterminate: w.Indeterminate,
		Present: &w.Present, Lost: &w.Lost, Recovered: &w.Recovered, Vanished: &w.Vanished, Duplicates: &w.Duplicates, Unexpected: &w.Unexpected,
		Balanced: metav1.ConditionFalse,
	}
	if w.Balanced {
		s.Balanced = metav1.ConditionTrue
	}
	s.LossWindowMilliseconds = lossWindow(e.Faults, w)
	return s
}

// answerUnderWay is how long after the death of a server its last answer may reach the client.
const answerUnderWay = time.Second

// lossWindow is how long before the fault that cost them the earliest of the lost writes was acknowledged. That fault is the first one
// after the last lost acknowledgement, whose answer may have been under way when the server died.
func lossWindow(faults []v1alpha1.FaultStatus, w *protocol.WriteSets) *int64 {
	if w.EarliestLostAt == nil || w.LatestLostAt == nil {
		return nil
	}
	var cause *metav1.MicroTime
	for i := range faults {
		at := faults[i].InjectedTime
		if at != nil && !at.Add(answerUnderWay).Before(w.LatestLostAt.Time) && (cause == nil || at.Before(cause)) {
			cause = at
		}
	}
	if cause == nil {
		return nil
	}
	return ptr.To(cause.Sub(w.EarliestLostAt.Time).Milliseconds())
}

func comparison(e Evidence, s *v1alpha1.ReplicationExperimentStatus) *v1alpha1.ComparisonStatus {
	if e.Spec.Baseline == nil {
		return nil
	}
	c := &v1alpha1.ComparisonStatus{Baseline: e.Spec.Baseline.Name, Note: "one run each: an anecdote, without an interval"}
	switch {
	case e.Baseline == nil || e.Baseline.Load == nil:
		c.Note = "the baseline has no figures: run it first, in this namespace"
	case e.Baseline.Verdict != v1alpha1.VerdictPassed && e.Baseline.Verdict != v1alpha1.VerdictFailed:
		c.Note = "the baseline's verdict is " + string(e.Baseline.Verdict) + ": its figures cannot be relied on"
	case s.Load == nil:
		c.Note = "this experiment has no figures of its load"
	default:
		c.RequestsPerSecondPercent = percent(s.Load.RequestsPerSecond, e.Baseline.Load.RequestsPerSecond)
		if s.Load.Latency != nil && e.Baseline.Load.Latency != nil {
			c.P99Percent = percent(&s.Load.Latency.P99Microseconds, &e.Baseline.Load.Latency.P99Microseconds)
		}
	}
	return c
}

// percent by which now differs from before.
func percent(now, before *int64) *int64 {
	if now == nil || before == nil || *before == 0 {
		return nil
	}
	return ptr.To(int64(math.Round(float64(*now-*before) * 100 / float64(*before))))
}
