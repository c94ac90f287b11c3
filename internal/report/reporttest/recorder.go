package reporttest

import (
	"math/rand/v2"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// outage of the run, in seconds.
const outage = 1.6

func recorder(x *v1alpha1.ReplicationExperiment, shape Shape, nodes []string) *wire.RecorderResults {
	w := &wire.RecorderResults{
		RecorderState: wire.RecorderState{LoadStartedAt: ptr.To(at(0)), FinishedAt: ptr.To(at(float64(shape.Seconds) + 12))},
		Timeline:      timeline(shape, len(nodes), nodes), TimelineStepSeconds: 1, K6Version: "1.4.0", Writers: nodes[:2], CheckedReads: 900, StaleReads: 0,
		Rejections: map[string]int64{"unavailable": 31},
	}
	from := 0.0
	for i, s := range x.Spec.Load.Stages {
		part := w.Timeline[int(from):min(len(w.Timeline), int(from)+int(s.DurationSeconds))]
		requests := sum(part, func(s wire.Second) int64 { return s.Requests })
		failures := sum(part, func(s wire.Second) int64 { return s.Failures })
		stage := wire.StageResult{
			Name: s.Name, Discarded: s.Discard, Requests: requests, Failures: failures, StartedAt: ptr.To(at(from)), EndedAt: ptr.To(at(from + float64(s.DurationSeconds))),
			DurationMicroseconds: s.DurationSeconds * 1_000_000, Answered: requests, Succeeded: requests - failures, Latency: latency(2_900+int64(i)*400, v1alpha1.P99, v1alpha1.Max),
		}
		stage.Operations = []wire.OperationResult{
			{Name: "register", Requests: requests / 3, Failures: failures, Latency: latency(4_400, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max), FailedLatency: latency(9_100)},
			{Name: "profile", Requests: requests / 3, Latency: latency(2_100)},
			{Name: "search", Requests: requests - 2*(requests/3), Latency: latency(2_700)},
		}
		w.Stages = append(w.Stages, stage)
		from += float64(s.DurationSeconds)
	}
	w.Load = w.Stages[len(w.Stages)-1]
	w.Load.Name = ""
	w.Load.Histogram = histogram(2_300, w.Load.Succeeded)
	w.LoadEndedAt = ptr.To(at(from))
	writes := sum(w.Timeline, func(s wire.Second) int64 { return s.Requests }) / 3
	w.Writes = wire.LedgerCounts{Sent: writes, Acknowledged: writes - 35, Rejected: 31, Indeterminate: 4}
	w.Acknowledgements = wire.NewAcknowledgements(began)
	for ms := 0; ms < shape.Seconds*1000; ms += 100 {
		if s := float64(ms) / 1000; s < shape.FaultAt || s > shape.FaultAt+outage {
			w.Acknowledgements.Mark(at(s).Time)
		}
	}
	instruments(w, shape, nodes)
	return w
}

// instruments adds what the probes, the counters and the clocks told.
func instruments(w *wire.RecorderResults, shape Shape, nodes []string) {
	gap := wire.Gap{
		LastNode: nodes[0], LastAcknowledgedAt: at(shape.FaultAt), FirstErrorAt: ptr.To(at(shape.FaultAt + 0.02)), NextNode: nodes[1],
		NextAcknowledgedAt: ptr.To(at(shape.FaultAt + outage)), DurationMicroseconds: ptr.To(time.Duration(outage * float64(time.Second)).Microseconds()), Errors: 31,
	}
	end := time.Duration((shape.FaultAt + outage) * float64(time.Second)).Microseconds()
	w.Availability = &wire.AvailabilityResult{
		IntervalMilliseconds: 20, Sent: 80, Acknowledged: 9, StallMilliseconds: 1000, Gaps: []wire.Gap{gap},
		Silences: &wire.Silences{From: at(0), BucketMicroseconds: 100_000, Longest: []wire.Silence{{EndMicroseconds: end, LengthMicroseconds: *gap.DurationMicroseconds}}},
	}
	lag := wire.LagDistribution{Samples: 400, Censored: 12, P50Microseconds: ptr.To[int64](640), P99Microseconds: ptr.To[int64](5_230), MaxMicroseconds: ptr.To[int64](48_000), ResolutionP50Microseconds: ptr.To[int64](70)}
	w.Lag = &wire.LagResult{LagDistribution: lag, Histogram: histogram(300, lag.Samples), Acknowledged: 200, Uncounted: 20}
	w.Commits = &wire.CommitsResult{}
	for i, name := range nodes {
		own := lag
		own.MaxMicroseconds = ptr.To(48_000 - int64(i)*1_300)
		w.Lag.Nodes = append(w.Lag.Nodes, wire.NodeLag{Name: name, FormerPrimary: i == 0, LagDistribution: own, EngineApplyP50Microseconds: ptr.To[int64](300)})
		c := wire.NodeCommits{Name: name, Samples: int64(shape.Seconds), AcknowledgedWaits: 500}
		switch i {
		case 0:
			c.LastWriteAt, c.UncountedMicroseconds = ptr.To(at(shape.FaultAt)), 120_001
		case 1:
			c.LastWriteAt = w.LoadEndedAt
		}
		w.Commits.Nodes = append(w.Commits.Nodes, c)
		w.Clocks = append(w.Clocks, wire.Clock{Name: name, LeastAheadMicroseconds: -40, MostAheadMicroseconds: 60})
		version, identity := "8.4.6", "identity-of-"+name
		w.Settings = append(w.Settings, wire.NodeSettings{Node: name, Version: version, Identity: identity, Settings: []wire.SettingRead{
			{Setting: wire.Setting{Name: "sync_binlog", Value: "1"}, Actual: ptr.To("1")},
			{Setting: wire.Setting{Name: "innodb_flush_log_at_trx_commit", Value: "1"}, Actual: ptr.To("1")},
		}})
		for _, s := range w.Stages {
			w.Resources = append(w.Resources, wire.NodeResources{
				Node: name, Stage: s.Name, DurationMicroseconds: s.DurationMicroseconds, CPUMillicores: 300 - int64(i)*90, ResidentPeakBytes: 410 << 20, ThreadsPeak: 61 + int64(i), WrittenBytes: 5 << 20,
				NetworkReceivedBytes: 7 << 20, NetworkSentBytes: 9 << 20,
			})
		}
	}
	w.Clocks = append(w.Clocks, wire.Clock{Name: "director", LeastAheadMicroseconds: -90, MostAheadMicroseconds: 110})
}

// histogram of values from a least one, each bucket with two thirds of what the ones before it left.
func histogram(from, values int64) (all []wire.Bucket) {
	for values > 0 {
		n := (2*values + 2) / 3
		all = append(all, wire.Bucket{FromMicroseconds: from, ToMicroseconds: from * 5 / 4, Count: n})
		from, values = from*5/4, values-n
	}
	return all
}

func timeline(shape Shape, nodes int, names []string) (all []wire.Second) {
	r := random()
	seconds := 5 + shape.Seconds
	for i := range seconds {
		s := wire.Second{At: at(float64(i)), Requests: 78 + r.Int64N(5), Writer: names[0]}
		if float64(i) > shape.FaultAt {
			s.Writer = names[1]
		}
		p50 := 2_500 + r.Int64N(1_400)
		p99 := p50*3 + r.Int64N(9_000)
		if f := float64(i); f >= shape.FaultAt-0.5 && f < shape.FaultAt+outage {
			s.Failures, p99 = 15+r.Int64N(3), 1_400_000
			s.LowerBounds = []v1alpha1.Percentile{v1alpha1.P99}
		}
		s.P50Microseconds, s.P99Microseconds = &p50, &p99
		for n := range nodes {
			s.LagMicroseconds = append(s.LagMicroseconds, lagOf(r, n, float64(i), shape))
		}
		all = append(all, s)
	}
	return all
}

// lagOf a node in a second: the primary has none, the killed one none until it is back, and then much.
func lagOf(r *rand.Rand, node int, second float64, shape Shape) int64 {
	down := second >= shape.FaultAt && second < shape.FaultAt+10
	switch {
	case node == 0 && second < shape.FaultAt, node == 1 && second > shape.FaultAt+outage:
		return -1
	case node == 0 && down:
		return int64(1_000_000 * (second - shape.FaultAt + 1))
	}
	return 400 + r.Int64N(5_000)
}
