package validation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"replab.dev/api/v1alpha1"
)

// Metrics that need writes of the load.
var ofWrites = []v1alpha1.Metric{
	"lostWrites", "ghostWrites", "indeterminateWrites", "rejectedWrites", "conflictingWrites", "certificationFailures", "forcedAborts", "flowControlPausedPercent", "divergentRows",
}

// Percentiles, each at most the one after it.
var percentiles = [][]v1alpha1.Metric{
	{"p50Microseconds", "p95Microseconds", "p99Microseconds", "maxMicroseconds"},
	{"lagP50Microseconds", "lagP99Microseconds", "lagMaxMicroseconds"},
}

// differences from a baseline, in percent: they may be below 0 and above 100. Suites name them, goals do not.
var differences = []v1alpha1.Metric{"requestsPerSecondPercent", "p99Percent"}

// belowZero are metrics that may be below 0: a row may be seen before its commit is acknowledged, moments of two clocks may be out of order,
// and a difference has a sign.
var belowZero = slices.Concat(differences, []v1alpha1.Metric{
	"lagP50Microseconds", "lagP99Microseconds", "lagMaxMicroseconds", "nodeLagP50Microseconds", "nodeLagP99Microseconds", "nodeLagMaxMicroseconds",
	"lagSizeBareP50Microseconds", "lagSizeBareP99Microseconds", "detectionMilliseconds", "routingMilliseconds",
})

// goals: limits that no value or every value meets, and figures that this run does not measure.
func goals(s *spec) {
	for i, g := range s.Goals {
		path := at("goals", i)
		limits(s, path, g)
		countable(s, path, g)
		outage(s, path, g)
		measured(s, path.Child("metric"), g)
		ofBaseline(s, path, g)
	}
	for _, order := range percentiles {
		contradicting(s, order)
	}
}

// ofBaseline refuses limits in percent without a baseline, and a minimum above the maximum.
func ofBaseline(s *spec, path *field.Path, g v1alpha1.Goal) {
	least, most := g.MinPercentOfBaseline, g.MaxPercentOfBaseline
	const missing = "the experiment has no baseline. Set spec.baseline, or use min and max."
	s.refuse(least != nil && s.Baseline == nil, path.Child("minPercentOfBaseline"), missing)
	s.refuse(most != nil && s.Baseline == nil, path.Child("maxPercentOfBaseline"), missing)
	s.refuse(least != nil && most != nil && *least > *most, path.Child("minPercentOfBaseline"),
		"minPercentOfBaseline is above maxPercentOfBaseline, so no value meets both. Exchange them, or remove one.")
}

// ofLag tells of a metric that the lag probe measures.
func ofLag(m v1alpha1.Metric) bool {
	return strings.HasPrefix(string(m), "lag") || strings.HasPrefix(string(m), "nodeLag")
}

// limits that no value of a metric or every value meets, of a goal or of a suite's expectation.
func limits(s *spec, path *field.Path, g v1alpha1.Goal) {
	percent := strings.HasSuffix(string(g.Metric), "Percent") && !slices.Contains(differences, g.Metric)
	signed := slices.Contains(belowZero, g.Metric)
	if g.Max != nil && g.Min != nil {
		s.refuse(*g.Min > *g.Max, path.Child("min"), "min is above max, so no value meets both. Exchange them, or remove one.")
	}
	if g.Max != nil {
		s.refuse(*g.Max < 0 && !signed, path.Child("max"), fmt.Sprintf("%s is never below 0, so no value meets this limit. Use 0 or more.", g.Metric))
		s.refuse(*g.Max == 0 && slices.Contains(percentiles[0], g.Metric), path.Child("max"), "every request takes some time, so no value meets this limit. Use 1 or more.")
		s.refuse(percent && *g.Max >= 100, path.Child("max"), "every percentage is at most 100, so every value meets this limit. Use less.")
	}
	if g.Min != nil {
		s.refuse(*g.Min < 0 && !signed, path.Child("min"), fmt.Sprintf("%s is never below 0, so this limits nothing. Use 1 or more, or remove min.", g.Metric))
		s.refuse(*g.Min == 0 && g.Max == nil && !signed, path.Child("min"), "every value meets this limit. Use 1 or more, or set max.")
		s.refuse(percent && *g.Min > 100, path.Child("min"), "every percentage is at most 100, so no value meets this limit. Use less.")
	}
}

// atMost are requests that open loops send at most in some stages, and their seconds. It is false where a closed loop or a script has no bound.
func (s *spec) atMost(discarded bool) (requests, seconds int64, bounded bool) {
	for _, stage := range s.Load.Stages {
		if stage.Discard && !discarded {
			continue
		}
		if stage.RequestsPerSecond == 0 {
			return 0, 0, false
		}
		requests += stage.RequestsPerSecond * stage.DurationSeconds
		seconds += stage.DurationSeconds
	}
	return requests, seconds, seconds > 0
}

// countable: limits on what open loops send. Figures of requests are of the stages that count; the audit is of all writes.
func countable(s *spec, path *field.Path, g v1alpha1.Goal) {
	ofAudit := slices.Contains([]v1alpha1.Metric{"lostWrites", "indeterminateWrites", "rejectedWrites"}, g.Metric)
	most, seconds, bounded := s.atMost(ofAudit)
	rate := g.Metric == "requestsPerSecond"
	if !bounded || !rate && !ofAudit && g.Metric != "failedRequests" && g.Metric != "droppedIterations" {
		return
	}
	unit, per := "requests in all", int64(1)
	if rate {
		unit, per = "requests a second on average", seconds
	}
	sends := fmt.Sprintf("open loops send %d %s, so", (most+per-1)/per, unit)
	s.refuse(g.Max != nil && *g.Max >= (most+per-1)/per, path.Child("max"), sends+" every value meets this limit. Use less.")
	s.refuse(g.Min != nil && *g.Min > most/per, path.Child("min"), sends+" no value meets this limit. Lower min, or raise requestsPerSecond.")
}

// outage: limits that an outage within the load cannot reach, or that the probe cannot resolve.
func outage(s *spec, path *field.Path, g v1alpha1.Goal) {
	if g.Metric != "outageMilliseconds" {
		return
	}
	load, interval := s.Load.Seconds()*1000, s.Probes.Availability.IntervalMilliseconds
	s.refuse(g.Max != nil && *g.Max >= load, path.Child("max"), fmt.Sprintf("the load ends at %d ms, so no outage exceeds it. Use less.", load))
	s.refuse(g.Min != nil && *g.Min > load, path.Child("min"), fmt.Sprintf("the load ends at %d ms, so no value meets this limit. Use less.", load))
	s.refuse(g.Max != nil && s.Load.Script == nil && s.Load.Mix.Register == 0 && *g.Max < interval, path.Child("max"),
		fmt.Sprintf("the availability probe writes only every %d ms. Raise max, or lower probes.availability.intervalMilliseconds.", interval))
}

// need of figures that only some experiments have.
type need struct {
	metrics string // names between blanks; a star stands for any part of a name
	met     func(*spec) bool
	message string
}

// needs that one part of the spec decides. The others are in measured.
var needs = []need{
	{
		"certificationFailures forcedAborts flowControlPausedPercent deadlocks receiveQueue*", (*spec).galera,
		"only type Galera has this figure. Use another metric, or change the type.",
	},
	{
		"divergentRows nodeLostWrites replicationSent*", (*spec).dualPrimary,
		"only two primaries have this figure. Use another metric, or change the type to DualPrimary.",
	},
	{
		"degradedMilliseconds lostWhileDegraded", func(s *spec) bool { return s.Topology.Type == v1alpha1.TopologyPatroni },
		"only type Patroni has this figure. Use another metric, or change the type.",
	},
	{
		"timeouts", func(s *spec) bool { return s.Load.TimeoutMilliseconds > 0 },
		"no timeout is set. Set load.timeoutMilliseconds, or use another metric.",
	},
	{
		"requestsPerSecondPercent p99Percent", func(s *spec) bool { return s.Baseline != nil },
		"there is no baseline. Set baseline, or use another metric.",
	},
	{
		"lagSize*", func(s *spec) bool { return len(s.Probes.Lag.SweepPayloadBytes) > 1 },
		"the lag probe writes rows of one size. Set probes.lag.sweepPayloadBytes, or use another metric.",
	},
	{
		"failoverMilliseconds detectionMilliseconds promotionMilliseconds routingMilliseconds faultOutageMilliseconds lossWindowMilliseconds rejoinMilliseconds resync*",
		func(s *spec) bool { return len(s.Faults) > 0 },
		"the experiment has no fault. Add one, or use another metric.",
	},
	{
		"stageRoundTripMicroseconds stageWritesPermille stageBaseMicroseconds stageBoundRequestsPerSecond stageOfBoundPermille *RoundTripMicroseconds",
		func(s *spec) bool { return len(s.Topology.Links) > 0 },
		"no link has a distance. Set topology.links, or use another metric.",
	},
}

func (n need) of(m v1alpha1.Metric) bool {
	return slices.ContainsFunc(strings.Fields(n.metrics), func(name string) bool {
		begin, end, open := strings.Cut(name, "*")
		return name == string(m) || open && strings.HasPrefix(string(m), begin) && strings.HasSuffix(string(m), end)
	})
}

// measured: figures that this run does not have.
func measured(s *spec, metric *field.Path, g v1alpha1.Goal) {
	refuse := func(wrong bool, message string) { s.refuse(wrong, metric, message) }
	for _, n := range needs {
		refuse(n.of(g.Metric) && !n.met(s), n.message)
	}
	refuse(ofLag(g.Metric) && (s.Topology.Nodes == 1 || s.Probes.Lag.IntervalMilliseconds == 0),
		"the lag needs replicas and its probe. Set topology.nodes to 2 or more and probes.lag.intervalMilliseconds above 0, or use another metric.")
	patroni := s.Topology.Type == v1alpha1.TopologyPatroni && (s.Topology.Patroni == nil || s.Topology.Patroni.SynchronousMode != modeOff)
	acks, _ := s.semiSync()
	refuse(g.Metric == "degradedCommits" && acks == 0 && !patroni,
		"no commit waits for a replica here. Use type SemiSync, or Patroni with a synchronousMode, or use another metric.")
	if s.Load.Script == nil { // what another one sends is not known
		offers(s, g.Metric, refuse)
	}
}

// offers: figures of requests that the built-in script does not send.
func offers(s *spec, metric v1alpha1.Metric, refuse func(wrong bool, message string)) {
	mix := s.Load.Mix
	refuse(mix.Register == 0 && slices.Contains(ofWrites, metric), "the load has no writes. Set load.mix.register above 0, or use another metric.")
	refuse((mix.Register == 0 || mix.Profile == 0) && metric == "staleReads",
		"no registered user is read. Set load.mix.register and load.mix.profile above 0, or use another metric.")
	open := slices.ContainsFunc(s.Load.Stages, func(stage v1alpha1.Stage) bool { return stage.RequestsPerSecond > 0 })
	refuse(!open && metric == "droppedIterations", "only an open loop drops requests. Give a stage requestsPerSecond, or use another metric.")
	refuse(mix.Register == 0 && s.Probes.Availability.IntervalMilliseconds == 0 && metric == "outageMilliseconds",
		"no write could fail. Set probes.availability.intervalMilliseconds or load.mix.register above 0, or use another metric.")
}

// contradicting: a lower percentile that must be above a higher one.
func contradicting(s *spec, order []v1alpha1.Metric) {
	for i, g := range s.Goals {
		for j, other := range s.Goals {
			low, high := slices.Index(order, g.Metric), slices.Index(order, other.Metric)
			s.refuse(low >= 0 && high > low && g.Min != nil && other.Max != nil && *g.Min > *other.Max, at("goals", i, "min"),
				fmt.Sprintf("%s is at most %s, which goals[%d] keeps below this. Lower min, or raise the other's max.", g.Metric, other.Metric, j))
		}
	}
}
