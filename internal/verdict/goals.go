package verdict

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// figure reads a metric off a status; nil when it was not measured. A new metric is one line here and one in its enum.
var figureOf = map[v1alpha1.Metric]func(*v1alpha1.ReplicationExperimentStatus) *int64{
	"lostWrites":            writes(func(w *v1alpha1.WritesStatus) *int64 { return w.Lost }),
	"indeterminateWrites":   writes(func(w *v1alpha1.WritesStatus) *int64 { return &w.Indeterminate }),
	"rejectedWrites":        writes(func(w *v1alpha1.WritesStatus) *int64 { return &w.Rejected }),
	"ghostWrites":           func(s *v1alpha1.ReplicationExperimentStatus) *int64 { return s.GhostWrites },
	"staleReads":            load(func(l *v1alpha1.LoadStatus) *int64 { return l.StaleReads }),
	"failedRequests":        load(func(l *v1alpha1.LoadStatus) *int64 { return &l.Failures }),
	"requestsPerSecond":     load(func(l *v1alpha1.LoadStatus) *int64 { return l.RequestsPerSecond }),
	"droppedIterations":     load(func(l *v1alpha1.LoadStatus) *int64 { return l.DroppedIterations }),
	"p50Milliseconds":       latency(func(l *v1alpha1.LatencyStatus) int64 { return l.P50Microseconds }),
	"p95Milliseconds":       latency(func(l *v1alpha1.LatencyStatus) int64 { return l.P95Microseconds }),
	"p99Milliseconds":       latency(func(l *v1alpha1.LatencyStatus) int64 { return l.P99Microseconds }),
	"lagP50Microseconds":    lag(func(l *v1alpha1.LagStatus) *int64 { return l.P50Microseconds }),
	"lagP99Microseconds":    lag(func(l *v1alpha1.LagStatus) *int64 { return l.P99Microseconds }),
	"lagMaxMicroseconds":    lag(func(l *v1alpha1.LagStatus) *int64 { return l.MaxMicroseconds }),
	"unacknowledgedCommits": func(s *v1alpha1.ReplicationExperimentStatus) *int64 { return unacknowledged(s) },
	"outageMilliseconds": func(s *v1alpha1.ReplicationExperimentStatus) *int64 {
		if s.Failover == nil {
			return nil
		}
		return s.Failover.OutageMilliseconds
	},
}

// figures binds figureOf to a status.
func figures(s *v1alpha1.ReplicationExperimentStatus) func(v1alpha1.Metric) *int64 {
	return func(m v1alpha1.Metric) *int64 {
		if f, ok := figureOf[m]; ok {
			return f(s)
		}
		return nil
	}
}

func judgeGoals(goals []v1alpha1.Goal, figure func(v1alpha1.Metric) *int64) []v1alpha1.GoalStatus {
	var judged []v1alpha1.GoalStatus
	for _, g := range goals {
		s := v1alpha1.GoalStatus{Metric: g.Metric, Limit: limit(g), Measured: figure(g.Metric), Met: metav1.ConditionUnknown}
		if s.Measured != nil {
			s.Met = metav1.ConditionTrue
			if g.Max != nil && *s.Measured > *g.Max || g.Min != nil && *s.Measured < *g.Min {
				s.Met = metav1.ConditionFalse
			}
		}
		judged = append(judged, s)
	}
	return judged
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

// latency is rounded up to milliseconds: a limit of 500 ms is not met by 500.4.
func latency(f func(*v1alpha1.LatencyStatus) int64) func(*v1alpha1.ReplicationExperimentStatus) *int64 {
	return load(func(l *v1alpha1.LoadStatus) *int64 {
		if l.Latency == nil {
			return nil
		}
		ms := (f(l.Latency) + 999) / 1000
		return &ms
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

func unacknowledged(s *v1alpha1.ReplicationExperimentStatus) *int64 {
	if s.Replication == nil {
		return nil
	}
	return s.Replication.UnacknowledgedCommits
}
