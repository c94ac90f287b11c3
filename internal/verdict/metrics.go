package verdict

import (
	"fmt"
	"math"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
)

type status = v1alpha1.ReplicationExperimentStatus

// metric is what a goal may limit.
type metric struct {
	// figure is read off the status; nil when it was not measured.
	figure func(*status) *int64
	// among is what the metric counts a part of, where it does: of nothing no part is measured.
	among func(*status) *int64
	// bounds are what the true figure lies between, where it is not always the measured one.
	bounds func(measured int64, e Evidence, s *status) (low, high int64)
	// why says why a goal cannot be judged, where that is not said of each metric alike; "" where it is.
	why func(measured *int64, e Evidence, s *status) string
	// milli is whether figure and bounds are in thousandths of the limit's unit.
	milli bool
	// path is whether an app or a proxy that is not there makes it worse: see pathRestarted.
	path bool
}

// metrics are all that goals may limit. A new one is a line here and one in its enum.
var metrics = map[v1alpha1.Metric]metric{
	"lostWrites": {
		figure: writes(func(w *v1alpha1.WritesStatus) *int64 { return w.Lost }),
		bounds: fromBelow(func(e Evidence, _ *status) bool { return riskless(e) != "" }),
		why:    whyLossesUnknown,
	},
	"indeterminateWrites": {figure: writes(func(w *v1alpha1.WritesStatus) *int64 { return &w.Indeterminate }), among: sent, path: true},
	"rejectedWrites":      {figure: writes(func(w *v1alpha1.WritesStatus) *int64 { return &w.Rejected }), among: sent, path: true},
	"conflictingWrites":   {figure: writes(func(w *v1alpha1.WritesStatus) *int64 { return w.Conflicting }), among: sent},
	"ghostWrites":         {figure: func(s *status) *int64 { return s.GhostWrites }},
	"staleReads": {
		figure: load(func(l *v1alpha1.LoadStatus) *int64 { return l.StaleReads }),
		// Of a user that was lost later, reads may have been stale.
		bounds: fromBelow(func(e Evidence, s *status) bool { return *s.Load.StaleReads < e.Witness.StaleReads }),
	},
	"failedRequests": {
		figure: load(func(l *v1alpha1.LoadStatus) *int64 { return &l.Failures }),
		among:  load(func(l *v1alpha1.LoadStatus) *int64 { return &l.Requests }),
		path:   true,
	},
	"requestsPerSecond": {
		figure: load(func(l *v1alpha1.LoadStatus) *int64 { return l.RequestsPerSecondMilli }),
		milli:  true,
		path:   true,
		bounds: func(measured int64, _ Evidence, s *status) (int64, int64) {
			return measured, ptr.Deref(s.Load.RequestsPerSecondMilliAtMost, math.MaxInt64)
		},
		why: whyRateUnknown,
	},
	"droppedIterations":  {figure: load(func(l *v1alpha1.LoadStatus) *int64 { return l.DroppedIterations }), path: true},
	"p50Microseconds":    latency(v1alpha1.P50, func(l *v1alpha1.LatencyStatus) int64 { return l.P50Microseconds }),
	"p95Microseconds":    latency(v1alpha1.P95, func(l *v1alpha1.LatencyStatus) int64 { return l.P95Microseconds }),
	"p99Microseconds":    latency(v1alpha1.P99, func(l *v1alpha1.LatencyStatus) int64 { return l.P99Microseconds }),
	"maxMicroseconds":    latency(v1alpha1.Max, func(l *v1alpha1.LatencyStatus) int64 { return l.MaxMicroseconds }),
	"lagP50Microseconds": lag(v1alpha1.P50, func(l *v1alpha1.LagStatus) *int64 { return l.P50Microseconds }),
	"lagP99Microseconds": lag(v1alpha1.P99, func(l *v1alpha1.LagStatus) *int64 { return l.P99Microseconds }),
	"lagMaxMicroseconds": lag(v1alpha1.Max, func(l *v1alpha1.LagStatus) *int64 { return l.MaxMicroseconds }),
	"unacknowledgedCommits": {
		figure: func(s *status) *int64 {
			if s.Replication == nil {
				return nil
			}
			return s.Replication.UnacknowledgedCommits
		},
		bounds: func(measured int64, e Evidence, _ *status) (int64, int64) {
			if len(unsampled(e.Witness)) > 0 { // a primary that died took its last count along
				return measured, math.MaxInt64
			}
			return measured, e.Witness.Commits.UnacknowledgedCommitsAtMost
		},
	},
	"outageMilliseconds": {
		path:   true,
		figure: func(s *status) *int64 { return s.OutageMilliseconds },
		bounds: func(_ int64, e Evidence, _ *status) (int64, int64) {
			_, all, _ := outages(e)
			return all.bounds()
		},
		why: func(measured *int64, e Evidence, _ *status) string {
			if measured == nil {
				return ""
			}
			return "it was " + boundsOfOutage(e)
		},
	},
	"certificationFailures": {figure: group(func(g *v1alpha1.GroupFigures) *int64 { return g.CertificationFailures }), bounds: fromBelow(uncountedGroup)},
	"forcedAborts":          {figure: group(func(g *v1alpha1.GroupFigures) *int64 { return g.ForcedAborts }), bounds: fromBelow(uncountedGroup)},
	"flowControlPausedPermille": {
		figure: group(func(g *v1alpha1.GroupFigures) *int64 { return g.FlowControlPausedPermille }),
		bounds: func(measured int64, _ Evidence, s *status) (int64, int64) {
			return measured, *s.Replication.Group.FlowControlPausedPermilleAtMost
		},
	},
}

// parts of the limit's unit that figure and bounds are in.
func (m metric) parts() int64 {
	if m.milli {
		return 1000
	}
	return 1
}

func whyRateUnknown(measured *int64, _ Evidence, s *status) string {
	if measured == nil {
		return ""
	}
	f := s.Load.StageFigures
	if f.RequestsPerSecondMilliAtMost == nil {
		return "it is not known how many requests there would have been, since " + compare.Paused(f)
	}
	return fmt.Sprintf("the measured %s may have been up to %s, since %s", thousandths(*f.RequestsPerSecondMilli), thousandths(*f.RequestsPerSecondMilliAtMost), compare.Paused(f))
}

var sent = writes(func(w *v1alpha1.WritesStatus) *int64 { return &w.Sent })

func uncountedGroup(e Evidence, _ *status) bool { return len(uncountedMembers(e.Witness)) > 0 }

// fromBelow are the bounds of a figure that is a lower bound where is says so.
func fromBelow(is func(Evidence, *status) bool) func(int64, Evidence, *status) (int64, int64) {
	return func(measured int64, e Evidence, s *status) (int64, int64) {
		if is(e, s) {
			return measured, math.MaxInt64
		}
		return measured, measured
	}
}

func whyLossesUnknown(measured *int64, _ Evidence, s *status) string {
	switch {
	case measured != nil:
		return fmt.Sprintf("the measured %d is a lower bound, since it is not known of every fault that it had something to destroy", *measured)
	case s.Writes != nil && s.Writes.Present != nil:
		return "it is not known that there was anything to lose"
	}
	return ""
}

func writes(f func(*v1alpha1.WritesStatus) *int64) func(*status) *int64 {
	return func(s *status) *int64 {
		if s.Writes == nil {
			return nil
		}
		return f(s.Writes)
	}
}

func load(f func(*v1alpha1.LoadStatus) *int64) func(*status) *int64 {
	return func(s *status) *int64 {
		if s.Load == nil {
			return nil
		}
		return f(s.Load)
	}
}

// latency is a percentile of it. Where the closed loop contradicts it nothing is known of it.
func latency(p v1alpha1.Percentile, f func(*v1alpha1.LatencyStatus) int64) metric {
	return metric{
		path: true,
		figure: load(func(l *v1alpha1.LoadStatus) *int64 {
			if l.Latency == nil {
				return nil
			}
			return ptr.To(f(l.Latency))
		}),
		bounds: func(measured int64, e Evidence, s *status) (int64, int64) {
			switch {
			case compare.Contradicted(e.Spec, s.Load) != "":
				return math.MinInt64, math.MaxInt64
			case compare.WhyLower(p, s.Load.StageFigures) != "":
				return measured, math.MaxInt64
			}
			return measured, measured
		},
		why: func(measured *int64, e Evidence, s *status) string {
			if measured == nil {
				return ""
			}
			if cause := compare.Contradicted(e.Spec, s.Load); cause != "" {
				return fmt.Sprintf("the measured %d cannot be relied on, since %s", *measured, cause)
			}
			return fmt.Sprintf("the measured %d is a lower bound, since %s", *measured, compare.WhyLower(p, s.Load.StageFigures))
		},
	}
}

func group(f func(*v1alpha1.GroupFigures) *int64) func(*status) *int64 {
	return func(s *status) *int64 {
		if s.Replication == nil || s.Replication.Group == nil {
			return nil
		}
		return f(s.Replication.Group)
	}
}
