package figure

import (
	"slices"
	"strings"
)

// Direction is which way a figure gets better.
type Direction int

// Directions.
const (
	Neither Direction = iota
	Lower
	Higher
)

// Entry describes a figure. A new figure is an entry, its field in the status and its test: goals, comparisons, lists, reports and metrics loop
// over the entries.
type Entry struct {
	// Name in goals, comparisons and expectations, with the unit; unique.
	Name string
	// Path in the status. Empty brackets stand for each item of a list.
	Path string
	// Scale is how many units of the field make one of the name, a divisor of 1000; 0 is 1.
	Scale int64
	// Title for people.
	Title string
	// Better is which way it gets better.
	Better Direction
	// Goal tells that spec.goals may limit it.
	Goal bool
	// PartOf is the path of the count that it is a part of: where that is 0, nothing was measured.
	PartOf string
	// InStages tells that load.stages[] have it too, at the same path behind the stage.
	InStages bool
	// Compared tells that comparisons of runs state it.
	Compared bool
	// Rate tells of a count that is less where the recorder held requests up: such a run does not state a difference of it.
	Rate bool
	// ThroughApp tells that an app or a proxy that is away makes it worse, which is no finding about databases.
	ThroughApp bool
	// Column heads it in lists of runs; "" where lists leave it out.
	Column string
	// Tile tells that a report shows it first.
	Tile bool
	// Main tells that it is listed even if it is absent.
	Main bool
	// Gauge is its Prometheus metric, if it has one.
	Gauge Gauge
	// Absent says why it is absent where the run says nothing about that.
	Absent string
}

// Gauge is a Prometheus metric of experiments. It has the base unit of its name, so the value is divided by Divisor (0: 1).
type Gauge struct {
	Name string
	// Help of the metric, in the first of the entries that share it.
	Help    string
	Divisor float64
	// Label and Of tell apart the entries that share one metric.
	Label, Of string
}

// Divisors of gauges whose base unit is the second.
const (
	microseconds = 1e6
	milliseconds = 1e3
)

var catalogue = slices.Concat(ofLoad, ofReplication, ofOutages, ofWrites, ofGroup, ofNodes, ofResources, ofDistance, ofComparison)

var ofLoad = []Entry{
	{
		Name: "requestsPerSecond", Path: "load.requestsPerSecondMilli", Scale: 1000, Title: "successful requests/s", Better: Higher, Goal: true, InStages: true,
		Compared: true, ThroughApp: true, Column: "REQUESTS/S", Tile: true, Main: true, Gauge: Gauge{Name: "replab_experiment_load_requests_per_second", Help: "Successful requests per second, over the stages that count.", Divisor: 1000},
	},
	{Name: "meanMicroseconds", Path: "load.latency.meanMicroseconds", Title: "latency mean (successes)", Better: Lower, InStages: true},
	{Name: "standardDeviationMicroseconds", Path: "load.latency.standardDeviationMicroseconds", Title: "standard deviation (successes)", Better: Lower, InStages: true, Absent: "no request succeeded"},
	latency("p50"), between("p75"), between("p90"), latency("p95"), latency("p99"), latency("max"),
	{Name: "requests", Path: "load.requests", Title: "requests", InStages: true, Compared: true, Rate: true, Main: true, Gauge: Gauge{Name: "replab_experiment_load_requests", Help: "Requests, in the stages that count."}},
	{
		Name: "failedRequests", Path: "load.failures", Title: "failed requests", Better: Lower, Goal: true, PartOf: "load.requests", InStages: true,
		Compared: true, Rate: true, ThroughApp: true, Main: true, Gauge: Gauge{Name: "replab_experiment_load_failures", Help: "Failed requests: without a 2xx answer, in the stages that count."},
	},
	{Name: "timeouts", Path: "load.timeouts", Title: "timeouts", Better: Lower, PartOf: "load.requests", InStages: true, ThroughApp: true, Absent: "spec.load.timeoutMilliseconds is not set"},
	{
		Name: "droppedIterations", Path: "load.droppedIterations", Title: "requests never sent", Better: Lower, Goal: true, InStages: true, ThroughApp: true,
		Main: true, Absent: "k6 did not report it",
	},
	{Name: "staleReads", Path: "load.staleReads", Title: "stale reads", Better: Lower, Goal: true, Compared: true, Rate: true, Main: true},
	{Name: "closedLoopPermille", Path: "load.stages[].closedLoopPermille", Title: "closed loop", Absent: "the loop was open, or the script is not replab's"},
}

// titles of percentiles.
var titles = map[string]string{"p50": "p50", "p95": "p95", "p99": "p99", "max": "maximum"}

func latency(p string) Entry {
	return Entry{
		Name: p + "Microseconds", Path: "load.latency." + p + "Microseconds", Title: "latency " + titles[p], Better: Lower, Goal: true, InStages: true, Compared: true,
		ThroughApp: true, Tile: p == "p99", Column: only(p == "p99", "P99"), Main: true, Absent: "no request succeeded",
		Gauge: Gauge{Name: "replab_experiment_load_latency_seconds", Help: "Latency of all requests: p50, p95, p99 and max. A failed request counts as slowest.", Divisor: microseconds, Label: "percentile", Of: p},
	}
}

// between are percentiles that some documents print, and that say little beside the others.
func between(p string) Entry {
	return Entry{Name: p + "Microseconds", Path: "load.latency." + p + "Microseconds", Title: "latency " + p, Better: Lower, InStages: true, ThroughApp: true, Absent: "no request succeeded"}
}

func lag(p string) Entry {
	return Entry{
		Name: "lag" + strings.ToUpper(p[:1]) + p[1:] + "Microseconds", Path: "replication.lag." + p + "Microseconds", Title: "replication lag " + titles[p], Better: Lower, Goal: true,
		Compared: true, Tile: p == "p99", Column: only(p == "p99", "LAG-P99"), Main: true, Absent: "there is no replica, the lag probe was off, or it saw no write",
		Gauge: Gauge{Name: "replab_experiment_replication_lag_seconds", Help: "Replication lag over all replicas: p50, p99 and max.", Divisor: microseconds, Label: "percentile", Of: p},
	}
}

const noSizes = "the lag probe wrote rows of one size"

func lagSize(field, title string) Entry {
	return Entry{Name: "lagSize" + strings.ToUpper(field[:1]) + field[1:] + "Microseconds", Path: "replication.lagSizes[]." + field + "Microseconds", Title: title, Better: Lower, Absent: noSizes}
}

func only(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

var ofReplication = []Entry{
	{Name: "lagSamples", Path: "replication.lag.samples", Title: "replication lag samples"},
	{Name: "lagCensored", Path: "replication.lag.censored", Title: "replication lag found at the first look"},
	{Name: "lagUnseen", Path: "replication.lag.unseen", Title: "replication lag never seen", Better: Lower},
	lag("p50"), lag("p99"), lag("max"),
	{Name: "lagResolutionP50Microseconds", Path: "replication.lag.resolutionP50Microseconds", Title: "replication lag resolution p50", Better: Lower},
	{Name: "lagSizeSamples", Path: "replication.lagSizes[].samples", Title: "samples", Absent: noSizes},
	{Name: "lagSizeCensored", Path: "replication.lagSizes[].censored", Title: "found at the first look", Absent: noSizes},
	{Name: "lagSizeUnseen", Path: "replication.lagSizes[].unseen", Title: "never seen", Better: Lower, Absent: noSizes},
	lagSize("insertP50", "insert p50"), lagSize("insertP99", "insert p99"), lagSize("retrievalP50", "retrieval p50"), lagSize("retrievalP99", "retrieval p99"),
	lagSize("totalP50", "total p50"), lagSize("totalP99", "total p99"), lagSize("bareP50", "bare time p50"), lagSize("bareP99", "bare time p99"),
	{
		Name: "degradedCommits", Path: "replication.degradedCommits", Title: "degraded commits", Better: Lower, Goal: true, Compared: true, Rate: true, Main: true,
		Absent: "in this topology no commit waits for another node",
	},
	{Name: "degradedMilliseconds", Path: "replication.degradedMilliseconds", Title: "degraded for", Better: Lower, Absent: "this topology does not report how long commits did not wait"},
	{Name: "replicationSentBytes", Path: "replication.traffic[].sentBytes", Title: "replication sent in all", Absent: "it is counted between two primaries only"},
	{Name: "replicationSentBytesPerSecond", Path: "replication.traffic[].sentBytesPerSecond", Title: "replication sent", Absent: "it is counted between two primaries only"},
}

var ofOutages = []Entry{
	{
		Name: "outageMilliseconds", Path: "outageMilliseconds", Title: "longest outage", Better: Lower, Goal: true, Compared: true, ThroughApp: true, Column: "OUTAGE", Tile: true, Main: true,
		Gauge: Gauge{Name: "replab_experiment_outage_seconds", Help: "Longest outage after a fault; without a fault, the longest time under load without an acknowledged write.", Divisor: milliseconds}, Absent: "the availability probe was off",
	},
	{Name: "failoverMilliseconds", Path: "failover.outageMilliseconds", Title: "outage of the failover", Better: Lower, Main: true, Absent: "no other node took over after a fault"},
	{Name: "detectionMilliseconds", Path: Detection.Path(), Title: "detection", Better: Lower, Absent: "the change was planned, or the time of detection is unknown"},
	{Name: "promotionMilliseconds", Path: Promotion.Path(), Title: "promotion", Better: Lower, Absent: "the change was planned, or the time of the promotion is unknown"},
	{Name: "routingMilliseconds", Path: Routing.Path(), Title: "routing", Better: Lower, Absent: "the time of the promotion is unknown"},
	{
		Name: "faultOutageMilliseconds", Path: "faults[].outageMilliseconds", Title: "outage", Better: Lower,
		Gauge: Gauge{Name: "replab_experiment_fault_outage_seconds", Help: "Longest time without an acknowledged write after this fault and before the next one.", Divisor: milliseconds}, Absent: "the availability probe was off",
	},
	{Name: "lossWindowMilliseconds", Path: "faults[].lossWindowMilliseconds", Title: "loss window", Better: Lower, Absent: "no write was lost by this fault, or the clocks leave it open"},
	{Name: "rejoinMilliseconds", Path: "faults[].rejoinMilliseconds", Title: "rejoin time", Better: Lower, Absent: "the node did not leave its place, or did not come back"},
	{Name: "resyncMilliseconds", Path: "faults[].resync.durationMilliseconds", Title: "resync time", Better: Lower, Absent: "the node received no data, or the end was not seen"},
	{Name: "resyncReceivedBytes", Path: "faults[].resync.receivedBytes", Title: "data received", Better: Lower, Absent: "the node received no data, or does not count it"},
	{Name: "resyncNetworkBytes", Path: "faults[].resync.networkReceivedBytes", Title: "received by its pod", Better: Lower, Absent: "receivedBytes is known, or the pod's traffic was not counted"},
}

// set of the writes: each is a value of one gauge.
func set(name string, e Entry) Entry {
	e.Path, e.Main, e.Gauge = "writes."+name, true, Gauge{
		Name: "replab_experiment_writes", Label: "set", Of: name,
		Help: "Writes by set: sent, acknowledged, rejected, indeterminate; after the audit present, lost, recovered, vanished, duplicates, unexpected.",
	}
	return e
}

var ofWrites = []Entry{
	set("sent", Entry{Name: "sentWrites", Title: "sent writes"}),
	set("acknowledged", Entry{Name: "acknowledgedWrites", Title: "acknowledged writes", Compared: true, Rate: true}),
	set("rejected", Entry{Name: "rejectedWrites", Title: "rejected writes", Better: Lower, Goal: true, PartOf: "writes.sent", ThroughApp: true}),
	set("indeterminate", Entry{
		Name: "indeterminateWrites", Title: "indeterminate writes", Better: Lower, Goal: true, PartOf: "writes.sent", ThroughApp: true, Compared: true, Rate: true,
	}),
	set("present", Entry{Name: "presentWrites", Title: "writes present after the run"}),
	set("lost", Entry{Name: "lostWrites", Title: "acknowledged writes lost", Better: Lower, Goal: true, Compared: true, Column: "LOST", Tile: true}),
	set("recovered", Entry{Name: "recoveredWrites", Title: "recovered writes"}),
	set("vanished", Entry{Name: "vanishedWrites", Title: "vanished writes"}),
	set("duplicates", Entry{Name: "duplicateWrites", Title: "duplicate writes", Better: Lower}),
	set("unexpected", Entry{Name: "unexpectedWrites", Title: "unexpected writes", Better: Lower}),
	{Name: "conflictingWrites", Path: "writes.conflicting", Title: "conflicting writes", Better: Lower, Goal: true, PartOf: "writes.sent"},
	{Name: "divergentRows", Path: "writes.divergentRows", Title: "divergent rows", Better: Lower, Goal: true, Absent: "only the rows of two primaries are compared"},
	{Name: "lostWhileDegraded", Path: "writes.lostWhileDegraded", Title: "lost while degraded", Better: Lower},
	{
		Name: "ghostWrites", Path: "ghostWrites", Title: "ghost writes", Better: Lower, Goal: true, Compared: true, Column: "GHOSTS", Tile: true, Main: true,
		Gauge: Gauge{Name: "replab_experiment_ghost_writes", Help: "Rows that only an old primary has."}, Absent: "no old primary was compared",
	},
}

const onlyGroups = "only the members of a group count it"

var ofGroup = []Entry{
	{Name: "certificationFailures", Path: "replication.group.certificationFailures", Title: "certification failures", Better: Lower, Goal: true, Absent: onlyGroups},
	{Name: "forcedAborts", Path: "replication.group.forcedAborts", Title: "forced aborts", Better: Lower, Goal: true, Absent: onlyGroups},
	{Name: "deadlocks", Path: "replication.group.deadlocks", Title: "deadlocks", Better: Lower, Absent: onlyGroups},
	{
		Name: "flowControlPausedPercent", Path: "replication.group.flowControlPausedPermille", Scale: 10, Title: "time paused by flow control", Better: Lower, Goal: true,
		Absent: onlyGroups,
	},
	{Name: "receiveQueueMeanThousandths", Path: "replication.group.receiveQueueMeanThousandths", Title: "mean receive queue", Better: Lower, Absent: onlyGroups},
	{Name: "receiveQueueMax", Path: "replication.group.receiveQueueMax", Title: "longest receive queue", Better: Lower, Absent: onlyGroups},
}

const (
	noCounters = "the server's processor and memory could not be read"
	unread     = "the node could not be read"
)

var ofNodes = []Entry{
	{Name: "nodeRows", Path: "nodes[].rows", Title: "rows", Absent: unread},
	{Name: "nodeMissingWrites", Path: "nodes[].missing", Title: "missing writes", Better: Lower, Absent: "the node is the reference of the comparison, or could not be read"},
	{Name: "nodeLostWrites", Path: "nodes[].lost", Title: "acknowledged writes that it lacks", Better: Lower, Absent: "each node's losses are counted only with two primaries"},
	{Name: "nodeGhostWrites", Path: "nodes[].ghostWrites", Title: "ghost writes", Better: Lower, Gauge: Gauge{Name: "replab_experiment_node_ghost_writes", Help: "Rows that only this old primary has."}, Absent: "no old primary was compared"},
	{Name: "nodeGhostTransactions", Path: "nodes[].ghostTransactions", Title: "ghost transactions", Better: Lower, Absent: "no old primary was compared, or its engine counts none"},
	{Name: "nodeRejoinedRows", Path: "nodes[].rejoinedRows", Title: "rows after rejoining", Absent: "the node was compared with the others, or did not come back"},
	{Name: "nodeLagSamples", Path: "nodes[].lag.samples", Title: "samples"},
	{Name: "nodeLagCensored", Path: "nodes[].lag.censored", Title: "found at the first look"},
	{Name: "nodeLagUnseen", Path: "nodes[].lag.unseen", Title: "never seen", Better: Lower},
	{Name: "nodeLagP50Microseconds", Path: "nodes[].lag.p50Microseconds", Title: "p50", Better: Lower},
	{Name: "nodeLagP99Microseconds", Path: "nodes[].lag.p99Microseconds", Title: "p99", Better: Lower},
	{Name: "nodeLagMaxMicroseconds", Path: "nodes[].lag.maxMicroseconds", Title: "maximum", Better: Lower},
	{Name: "nodeLagResolutionP50Microseconds", Path: "nodes[].lag.resolutionP50Microseconds", Title: "resolution p50", Better: Lower},
}

var ofResources = slices.Concat(resources("node", "nodes[].resources."), resources("stage", "load.stages[].resources[]."), []Entry{
	{Name: "stageCPUPerRequestMicroseconds", Path: "load.stages[].resources[].cpuPerRequestMicroseconds", Title: "processor per request", Absent: "no request was answered"},
})

// resources that a server used, as figures below a path.
func resources(of, path string) (all []Entry) {
	for _, e := range []struct{ name, title string }{
		{"cpuMillicores", "processor"},
		{"memoryPeakBytes", "peak memory"},
		{"threadsPeak", "peak threads"},
		{"blockReadBytes", "disk read"},
		{"blockWrittenBytes", "disk written"},
		{"networkReceivedBytes", "network received"},
		{"networkSentBytes", "network sent"},
	} {
		name := strings.ToUpper(e.name[:1]) + e.name[1:]
		all = append(all, Entry{Name: of + strings.Replace(name, "Cpu", "CPU", 1), Path: path + e.name, Title: e.title, Absent: noCounters})
	}
	return all
}

var ofDistance = []Entry{
	roundTrip("requested", "requestedMicroseconds", "requested"),
	roundTrip("before", "before.p50Microseconds", "p50 before the load"), roundTrip("beforeP99", "before.p99Microseconds", "p99 before the load"),
	roundTrip("withoutDistance", "withoutDistance.p50Microseconds", "p50 without distance"),
	roundTrip("after", "after.p50Microseconds", "p50 after the load"), roundTrip("afterP99", "after.p99Microseconds", "p99 after the load"),
	{Name: "stageRoundTripMicroseconds", Path: "load.stages[].distance.roundTripMicroseconds", Title: "round trip"},
	{Name: "stageWritesPermille", Path: "load.stages[].distance.writesPermille", Title: "writes"},
	{Name: "stageBaseMicroseconds", Path: "load.stages[].distance.baseMicroseconds", Title: "latency without distance"},
	{Name: "stageBoundRequestsPerSecond", Path: "load.stages[].distance.boundMilliRequestsPerSecond", Scale: 1000, Title: "bound", Better: Higher},
	{Name: "stageOfBoundPermille", Path: "load.stages[].distance.ofBoundPermille", Title: "share of the bound", Better: Higher},
}

func roundTrip(when, field, title string) Entry {
	return Entry{Name: when + "RoundTripMicroseconds", Path: "distance.roundTrips[]." + field, Title: title}
}

var ofComparison = []Entry{
	{Name: "requestsPerSecondPercent", Path: "comparison.requestsPerSecondPercent", Title: "successful requests/s", Better: Higher},
	{Name: "p99Percent", Path: "comparison.p99Percent", Title: "latency p99", Better: Lower},
}

// All entries, in the order in which they are shown.
func All() []Entry { return slices.Clone(catalogue) }

// OfStage is the path of the figure in a stage, for entries that stages have.
func (e Entry) OfStage(name string) string {
	return "load.stages[" + name + "]." + strings.TrimPrefix(e.Path, "load.")
}

// Segments of the path.
func (e Entry) Segments() []string { return Segments(e.Path) }

// Of is the path of the figure for one item of its list.
func (e Entry) Of(item string) string { return strings.Replace(e.Path, "[]", "["+item+"]", 1) }

// Matches tells whether a path leads to the figure, or to that of a stage.
func (e Entry) Matches(path string) bool {
	want, got := Segments(e.Path), Segments(path)
	if e.InStages && len(got) > 3 && got[1] == "stages" {
		got = append([]string{"load"}, got[3:]...)
	}
	return slices.EqualFunc(want, got, func(a, b string) bool { return a == "" || a == b })
}

// Named returns the entry of a name.
func Named(name string) (Entry, bool) {
	i := slices.IndexFunc(catalogue, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return catalogue[i], true
}
