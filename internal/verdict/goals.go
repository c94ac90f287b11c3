package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
)

// figureOf reads a metric off a status; nil when it was not measured. A new metric is one line here and one in its enum,
// and one in between or atLeast where the figure is not exact: where the status has an …AtMost beside it, or a lower bound is stated.
var figureOf = map[v1alpha1.Metric]func(*v1alpha1.ReplicationExperimentStatus) *int64{
	"lostWrites":            writes(func(w *v1alpha1.WritesStatus) *int64 { return w.Lost }),
	"indeterminateWrites":   writes(func(w *v1alpha1.WritesStatus) *int64 { return &w.Indeterminate }),
	"rejectedWrites":        writes(func(w *v1alpha1.WritesStatus) *int64 { return &w.Rejected }),
	"conflictingWrites":     writes(func(w *v1alpha1.WritesStatus) *int64 { return w.Conflicting }),
	"ghostWrites":           func(s *v1alpha1.ReplicationExperimentStatus) *int64 { return s.GhostWrites },
	"staleReads":            load(func(l *v1alpha1.LoadStatus) *int64 { return l.StaleReads }),
	"failedRequests":        load(func(l *v1alpha1.LoadStatus) *int64 { return &l.Failures }),
	"requestsPerSecond":     load(func(l *v1alpha1.LoadStatus) *int64 { return l.RequestsPerSecond }),
	"droppedIterations":     load(func(l *v1alpha1.LoadStatus) *int64 { return l.DroppedIterations }),
	"p50Microseconds":       latency(func(l *v1alpha1.LatencyStatus) int64 { return l.P50Microseconds }),
	"p95Microseconds":       latency(func(l *v1alpha1.LatencyStatus) int64 { return l.P95Microseconds }),
	"p99Microseconds":       latency(func(l *v1alpha1.LatencyStatus) int64 { return l.P99Microseconds }),
	"maxMicroseconds":       latency(func(l *v1alpha1.LatencyStatus) int64 { return l.MaxMicroseconds }),
	"lagP50Microseconds":    lag(func(l *v1alpha1.LagStatus) *int64 { return l.P50Microseconds }),
	"lagP99Microseconds":    lag(func(l *v1alpha1.LagStatus) *int64 { return l.P99Microseconds }),
	"lagMaxMicroseconds":    lag(func(l *v1alpha1.LagStatus) *int64 { return l.MaxMicroseconds }),
	"unacknowledgedCommits": func(s *v1alpha1.ReplicationExperimentStatus) *int64 { return unacknowledged(s) },
	"outageMilliseconds":    func(s *v1alpha1.ReplicationExperimentStatus) *int64 { return s.OutageMilliseconds },
	"certificationFailures": group(func(g *v1alpha1.GroupFigures) *int64 { return g.CertificationFailures }),
	"forcedAborts":          group(func(g *v1alpha1.GroupFigures) *int64 { return g.ForcedAborts }),

	"flowControlPausedPermille": group(func(g *v1alpha1.GroupFigures) *int64 { return g.FlowControlPausedPermille }),
}

// amongOf are what those metrics count that are a part of something: of nothing no part is measured.
var amongOf = map[v1alpha1.Metric]func(*v1alpha1.ReplicationExperimentStatus) *int64{
	"indeterminateWrites": writes(func(w *v1alpha1.WritesStatus) *int64 { return &w.Sent }),
	"rejectedWrites":      writes(func(w *v1alpha1.WritesStatus) *int64 { return &w.Sent }),
	"conflictingWrites":   writes(func(w *v1alpha1.WritesStatus) *int64 { return &w.Sent }),
	"failedRequests":      load(func(l *v1alpha1.LoadStatus) *int64 { return &l.Requests }),
}

func judgeGoals(e Evidence, status *v1alpha1.ReplicationExperimentStatus) []v1alpha1.GoalStatus {
	var judged []v1alpha1.GoalStatus
	for _, g := range e.Spec.Goals {
		s := v1alpha1.GoalStatus{Metric: g.Metric, Limit: limit(g), Met: metav1.ConditionUnknown}
		if f, ok := figureOf[g.Metric]; ok {
			s.Measured = f(status)
		}
		if all, ok := amongOf[g.Metric]; ok && ptr.Deref(all(status), 0) == 0 {
			s.Measured = nil
		}
		if s.Measured != nil {
			low, high := between(g.Metric, *s.Measured, e, status)
			s.Met = within(g, low, high)
		}
		judged = append(judged, s)
	}
	return judged
}

// within tells whether a figure that lies between two bounds meets a goal: Unknown when that depends on where it lies.
func within(g v1alpha1.Goal, low, high int64) metav1.ConditionStatus {
	switch {
	case g.Max != nil && low > *g.Max, g.Min != nil && high < *g.Min:
		return metav1.ConditionFalse
	case g.Max != nil && high > *g.Max, g.Min != nil && low < *g.Min:
		return metav1.ConditionUnknown
	}
	return metav1.ConditionTrue
}

// between returns the bounds that the true figure lies between: the measured one, when that is exact.
func between(m v1alpha1.Metric, measured int64, e Evidence, status *v1alpha1.ReplicationExperimentStatus) (low, high int64) {
	_, isLatency := latencyPercentile[m]
	switch {
	case isLatency && contradicted(e.Spec, status.Load) != "":
		return math.MinInt64, math.MaxInt64
	case m == "outageMilliseconds":
		_, all, _ := outages(e)
		return all.bounds()
	case atLeast(m, e, status):
		return measured, math.MaxInt64
	case m == "flowControlPausedPermille":
		return measured, *status.Replication.Group.FlowControlPausedPermilleAtMost
	case m == "unacknowledgedCommits":
		return measured, e.Witness.Commits.UnacknowledgedCommitsAtMost
	}
	return measured, measured
}

// atLeast tells whether a figure is only a lower bound of the true one.
func atLeast(m v1alpha1.Metric, e Evidence, status *v1alpha1.ReplicationExperimentStatus) bool {
	if p, ok := latencyPercentile[m]; ok {
		return isLower(p, status.Load.StageFigures)
	}
	if p, ok := lagPercentile[m]; ok {
		return slices.Contains(status.Replication.Lag.LowerBounds, p)
	}
	switch m {
	case "lostWrites":
		return riskless(e) != ""
	case "staleReads": // of a user that was lost later, reads may have been stale
		return *status.Load.StaleReads < e.Witness.StaleReads
	case "unacknowledgedCommits": // a primary that died took its last count along
		return len(unsampled(e.Witness)) > 0
	case "certificationFailures", "forcedAborts":
		return len(uncountedMembers(e.Witness)) > 0
	}
	return false
}

func limit(g v1alpha1.Goal) string {
	var parts []string
	if g.Min != nil {
		parts = append(parts, fmt.Sprintf("min %d", *g.Min))
	}
	if g.Max != nil {
		parts = append(parts, fmt.Sprintf("max %d", *g.Max))
	}
	return strings.Join(parts, ", ")
}

func writes(f func(*v1alpha1.WritesStatus) *int64) func(*v1alpha1.ReplicationExperimentStatus) *int64 {
	return func(s *v1alpha1.ReplicationExperimentStatus) *int64 {
		if s.Writes == nil {
			return nil
		}
		return f(s.Writes)
	}
}

func load(f func(*v1alpha1.LoadStatus) *int64) func(*v1alpha1.ReplicationExperimentStatus) *int64 {
	return func(s *v1alpha1.ReplicationExperimentStatus) *int64 {
		if s.Load == nil {
			return nil
		}
		return f(s.Load)
	}
}

func latency(f func(*v1alpha1.LatencyStatus) int64) func(*v1alpha1.ReplicationExperimentStatus) *int64 {
	return load(func(l *v1alpha1.LoadStatus) *int64 {
		if l.Latency == nil {
			return nil
		}
		return ptr.To(f(l.Latency))
	})
}

func lag(f func(*v1alpha1.LagStatus) *int64) func(*v1alpha1.ReplicationExperimentStatus) *int64 {
	return func(s *v1alpha1.ReplicationExperimentStatus) *int64 {
		if s.Replication == nil || s.Replication.Lag == nil {
			return nil
		}
		return f(s.Replication.Lag)
	}
}

func group(f func(*v1alpha1.GroupFigures) *int64) func(*v1alpha1.ReplicationExperimentStatus) *int64 {
	return func(s *v1alpha1.ReplicationExperimentStatus) *int64 {
		if s.Replication == nil || s.Replication.Group == nil {
			return nil
		}
		return f(s.Replication.Group)
	}
}

func unacknowledged(s *v1alpha1.ReplicationExperimentStatus) *int64 {
	if s.Replication == nil {
		return nil
	}
	return s.Replication.UnacknowledgedCommits
}
