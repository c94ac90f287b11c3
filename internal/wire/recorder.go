package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// Paths of the recorder's control port PortRecorderControl. POST needs the token.
const (
	RecorderPathHealth  = "/healthz"
	RecorderPathState   = "/state"  // GET RecorderState
	RecorderPathFinish  = "/finish" // POST: probes stop, the ledger closes, results are written; may be repeated
	RecorderPathLedger  = "/ledger" // GET: the ledger file as it is, only after finish (409 before)
	RecorderPathMetrics = "/metrics"
)

// Keys of the recorder's ConfigMap.
const (
	RecorderStateKey   = "state.json"      // data: RecorderState, renewed at each change that matters
	RecorderResultsKey = "results.json.gz" // binaryData: RecorderResults
)

// RecorderGoDebug is the value of GODEBUG in the recorder's environment. The monitor thread of Go's runtime sleeps while nothing
// runs; the next system call wakes it, and it then looks around every 20 µs for a while. In a process that relays requests,
// and so is idle for moments, that takes a fifth of its processor time, in the path that is measured. With a trace of the
// scheduler, even one of a line every 24 days, that thread does not sleep so and looks around every 10 ms.
const RecorderGoDebug = "schedtrace=2147483647"

// RecorderConfig configures `replab recorder`.
type RecorderConfig struct {
	Namespace     string   `json:"namespace"`
	StateMap      string   `json:"stateMap"` // its ConfigMap
	Listen        string   `json:"listen"`
	ListenControl string   `json:"listenControl"`
	App           Endpoint `json:"app"`
	SecretDir     string   `json:"secretDir"`
	LedgerPath    string   `json:"ledgerPath"`
	Engine        string   `json:"engine"`
	Nodes         []Node   `json:"nodes"`
	Writes        Endpoint `json:"writes"` // SQL write path, for the lag probe
	// Clocks are those that times in the results are by, beside the agents'.
	Clocks []ClockSource `json:"clocks,omitempty"`
	// Processes answer Resources at AgentPathResources below their URL.
	Processes []ProcessSource `json:"processes,omitempty"`
	// Stages in their order, each beginning when the one before it ends.
	Stages []Stage `json:"stages"`
	// SeveralWriters tells that nodes take writes side by side: one that acknowledges after another has not taken over from it.
	SeveralWriters bool `json:"severalWriters,omitempty"`
	// CountCommits tells whether to sample the counters of commits that replicas did and did not acknowledge.
	CountCommits bool `json:"countCommits"`
	// CountGroup tells whether to sample what the members of a group count.
	CountGroup bool `json:"countGroup,omitempty"`
	// CountLinks tells whether to sample what the nodes' agents hold up.
	CountLinks bool `json:"countLinks,omitempty"`
	// Settings that every node's server must run with.
	Settings []Setting `json:"settings"`
	// LagIntervalMilliseconds is 0 when the lag probe is off.
	LagIntervalMilliseconds int64   `json:"lagIntervalMilliseconds"`
	LagPayloadBytes         []int64 `json:"lagPayloadBytes"`
	// AvailabilityIntervalMilliseconds is 0 when the availability probe is off.
	AvailabilityIntervalMilliseconds int64 `json:"availabilityIntervalMilliseconds"`
	RequestTimeoutMilliseconds       int64 `json:"requestTimeoutMilliseconds"`
}

// Stage is one stage of the load as the recorder needs it. A request belongs to the stage that its HeaderStage names, and
// without one to the stage in whose planned time it arrives, counted from the load's start; after the last stage's end, to
// the last stage.
type Stage struct {
	Name            string `json:"name"`
	Discard         bool   `json:"discard"`
	DurationSeconds int64  `json:"durationSeconds"` // as planned
	// Rest: no request belongs to it. It lasts for its planned time, in which the probes pause.
	Rest bool `json:"rest,omitempty"`
	// TimeoutMilliseconds is how long a request takes at most that is no timeout. 0: timeouts are not counted.
	TimeoutMilliseconds int64 `json:"timeoutMilliseconds,omitempty"`
}

// RecorderState is what the operator follows while the load runs.
type RecorderState struct {
	Restarts      int64             `json:"restarts"`                // how often the recorder came up on an existing ledger
	LoadStartedAt *metav1.MicroTime `json:"loadStartedAt,omitempty"` // first request of the load
	FinishedAt    *metav1.MicroTime `json:"finishedAt,omitempty"`
	// Now is the recorder's time when it answered, absent in what it stores: who asks learns how far its own clock is off.
	Now *metav1.MicroTime `json:"now,omitempty"`
	// Failed says why the recorder can no longer vouch for its figures, such as a full disk. Never unset.
	Failed string `json:"failed,omitempty"`
}

// RecorderResults is everything that the recorder measured.
type RecorderResults struct {
	RecorderState
	// Incomplete says why the figures do not cover the whole load, such as a recorder that was restarted in the middle of
	// it. Then everything but Writes (which the ledger holds) covers a part only. Empty when they cover all of it.
	Incomplete string `json:"incomplete,omitempty"`
	// LoadEndedAt is when the last request of the load had its answer, or none; absent without a request.
	LoadEndedAt *metav1.MicroTime `json:"loadEndedAt,omitempty"`
	Load        StageResult       `json:"load"`   // all stages that are not discarded, from merged histograms
	Stages      []StageResult     `json:"stages"` // in order; those without a request too
	Writes      LedgerCounts      `json:"writes"`
	// Acknowledgements are those of the ledger; absent without a load.
	Acknowledgements *Acknowledgements `json:"acknowledgements,omitempty"`
	// Writers are the nodes that acknowledged writes of the load or of the availability probe, by name.
	Writers []string `json:"writers,omitempty"`
	// UnnamedWrites are the acknowledged ones among these writes whose answers named no node: any node may have taken them.
	UnnamedWrites int64               `json:"unnamedWrites,omitempty"`
	StaleReads    int64               `json:"staleReads"`   // reads in stages that count that did not find a user whom a client had been told of before
	CheckedReads  int64               `json:"checkedReads"` // reads of such users in these stages, found or not: StaleReads are some of them
	StaleUsers    []StaleUser         `json:"staleUsers,omitempty"`
	Lag           *LagResult          `json:"lag,omitempty"` // absent when the probe was off
	Availability  *AvailabilityResult `json:"availability,omitempty"`
	Commits       *CommitsResult      `json:"commits,omitempty"`
	Group         *GroupResult        `json:"group,omitempty"`
	// Rejections count the rejected writes of the load by their reasons, which are HeaderRejected's. Those before a restart are not in it.
	Rejections map[string]int64 `json:"rejections"`
	// Settings are what each node's server ran with, an entry for each of RecorderConfig.Nodes.
	Settings []NodeSettings `json:"settings,omitempty"`
	Timeline []Second       `json:"timeline"`
	// K6Version is what the load's requests say of themselves, absent when none does.
	K6Version string `json:"k6Version,omitempty"`
	// TimelineStepSeconds is how many seconds each entry of Timeline covers: 1, or more when the results would not have
	// fitted into their ConfigMap. Then requests, failures and lag are whole, and the percentiles are absent: they cannot be
	// made from those of single seconds.
	TimelineStepSeconds int64 `json:"timelineStepSeconds"`
	// TimelineOmittedSeconds are the seconds after the last of Timeline, when the load took longer than it may hold. They
	// are part of all other figures.
	TimelineOmittedSeconds int64           `json:"timelineOmittedSeconds,omitempty"`
	Resources              []NodeResources `json:"resources,omitempty"`
	// Traffic of replication, an entry for each node, other node and stage that was sampled at least twice.
	Traffic []NodeTraffic `json:"traffic,omitempty"`
	// Links are of the nodes whose agents hold packets up, an entry for each stage in which one could be asked.
	Links  []NodeLinks `json:"links,omitempty"`
	Clocks []Clock     `json:"clocks,omitempty"`
}

// StaleUser are the reads that did not find one user, whom the write had made. Nobody knows yet whether a read came before
// the user was there, or after it was lost.
type StaleUser struct {
	WriteID uint64 `json:"writeID"`
	Reads   int64  `json:"reads"`
}

// MaxStaleUsers bounds RecorderResults.StaleUsers; StaleReads has the reads of all.
const MaxStaleUsers = 10_000

// StageResult are the figures of one stage, or of several together.
//
// Throughput is over a window, so that one late answer does not stretch the time that it is divided by. It begins with the
// stage's first arrival and is as long as the stage was planned, or ends with the load when that was shorter: with the last
// answer, or one mean interval of the arrivals after the last of them. Nobody knows the planned end of the last stage of a
// load whose requests name no stages: its window always ends with the load.
type StageResult struct {
	Name      string `json:"name"`
	Discarded bool   `json:"discarded"`
	Requests  int64  `json:"requests"`
	Failures  int64  `json:"failures"`           // answers that are not 2xx, and none
	Timeouts  *int64 `json:"timeouts,omitempty"` // of Requests: those that took longer than their stage allows; absent where none does
	Unnamed   int64  `json:"unnamed,omitempty"`  // of Requests: those that named no stage
	// StartedAt is the first arrival, absent without one. A stage at rest begins and ends as planned.
	StartedAt *metav1.MicroTime `json:"startedAt,omitempty"`
	// EndedAt is when the last of the requests had its answer, or none; absent without one.
	EndedAt              *metav1.MicroTime `json:"endedAt,omitempty"`
	DurationMicroseconds int64             `json:"durationMicroseconds"` // of the window, of all windows together; 0 without one
	// PausedMicroseconds of the window the recorder itself did not run: what arrived then was measured too short, and what was under
	// way too long.
	PausedMicroseconds int64 `json:"pausedMicroseconds,omitempty"`
	// PausedRequests came right after such a time, so that they may have come in it.
	PausedRequests int64             `json:"pausedRequests,omitempty"`
	Answered       int64             `json:"answered"`           // of Requests: those that ended within the window
	Succeeded      int64             `json:"succeeded"`          // of Answered: those that did not fail
	Trailing       int64             `json:"trailing,omitempty"` // of Requests: those that ended when no more arrived
	Latency        *Latency          `json:"latency,omitempty"`  // of all requests, absent when none succeeded
	FailedLatency  *Latency          `json:"failedLatency,omitempty"`
	Operations     []OperationResult `json:"operations,omitempty"`
	// Histogram of the requests that succeeded, of RecorderResults.Load alone. Failures are in none of its buckets.
	Histogram []Bucket `json:"histogram,omitempty"`
}

// Bucket of a histogram counts the values from one to before another. A histogram has those that are not empty, in order.
type Bucket struct {
	FromMicroseconds int64 `json:"fromMicroseconds"`
	ToMicroseconds   int64 `json:"toMicroseconds"`
	Count            int64 `json:"count"`
}

// OperationResult are the figures of one operation of the app: register, profile, search, login, update, other.
type OperationResult struct {
	Name          string   `json:"name"`
	Requests      int64    `json:"requests"`
	Failures      int64    `json:"failures"`
	Latency       *Latency `json:"latency,omitempty"` // of all, absent when none succeeded
	FailedLatency *Latency `json:"failedLatency,omitempty"`
}

// Latency is read off an HdrHistogram of 1 µs to 5 min with 3 significant digits. Percentiles are by nearest rank, of all
// requests: one that failed never got its answer, so it is slower than every one that succeeded, however soon it failed.
//
// In a FailedLatency they are of the failed requests, and of the time until each failed.
type Latency struct {
	MeanMicroseconds int64 `json:"meanMicroseconds"` // of those that succeeded alone
	// StandardDeviationMicroseconds likewise, by the histogram.
	StandardDeviationMicroseconds int64 `json:"standardDeviationMicroseconds,omitempty"`

	P50Microseconds int64 `json:"p50Microseconds"`
	P75Microseconds int64 `json:"p75Microseconds,omitempty"` // 0 in documents of older versions
	P90Microseconds int64 `json:"p90Microseconds,omitempty"` // likewise
	P95Microseconds int64 `json:"p95Microseconds"`
	P99Microseconds int64 `json:"p99Microseconds"`
	MaxMicroseconds int64 `json:"maxMicroseconds"`
	// LowerBounds are those whose rank falls among the failed requests, so that they are the slowest success and the true one is
	// more, and those that leave out less than the part of the time in which the recorder did not run: their
	// true value may be more.
	LowerBounds []v1alpha1.Percentile `json:"lowerBounds,omitempty"`
	// Unpaused has the latencies less the recorder's pauses within each request: no true one is less. Absent where there were none.
	Unpaused *Latency `json:"unpaused,omitempty"`
}

// LedgerCounts are the sizes of the ledger's sets: sent = acknowledged + rejected + indeterminate.
type LedgerCounts struct {
	Sent          int64 `json:"sent"`
	Acknowledged  int64 `json:"acknowledged"`
	Rejected      int64 `json:"rejected"`
	Indeterminate int64 `json:"indeterminate"`
}

// Second is one second of the timeline.
type Second struct {
	At              metav1.MicroTime      `json:"at"`
	Requests        int64                 `json:"requests"`
	Failures        int64                 `json:"failures"`
	P50Microseconds *int64                `json:"p50Microseconds,omitempty"` // as in Latency: absent when no request succeeded
	P99Microseconds *int64                `json:"p99Microseconds,omitempty"`
	LowerBounds     []v1alpha1.Percentile `json:"lowerBounds,omitempty"` // as in Latency
	// PausedMicroseconds of it the recorder itself did not run.
	PausedMicroseconds int64 `json:"pausedMicroseconds,omitempty"`
	// LagMicroseconds is per node, in the order of RecorderConfig.Nodes: the largest lag seen in this second, or the age of
	// the oldest write not yet seen, whichever is larger; -1 for a node with neither.
	LagMicroseconds []int64 `json:"lagMicroseconds,omitempty"`
	Writer          string  `json:"writer,omitempty"` // node that acknowledged the last write of this second
}

// NodeLinks is what became, in one stage, of the packets that a node's links held up. It is told by samples a second apart: of packets between
// one of another stage and one of this, or none, nobody knows in which they were. A packet is counted as late when it is let go, and belongs
// to the stage in which it was due.
type NodeLinks struct {
	Node  string `json:"node"`
	Stage string `json:"stage"`
	// DelayedPackets in it, at least: without those that may have been in another.
	DelayedPackets int64 `json:"delayedPackets"`
	// LatePackets and HeldUpPackets in it, at most: with those that may have been in another. See LinkCounts.
	LatePackets   int64 `json:"latePackets"`
	HeldUpPackets int64 `json:"heldUpPackets"`
	// Delays of the DelayedPackets. None where the agent does not tell.
	Delays []DelayCounts `json:"delays,omitempty"`
	// UncoveredMicroseconds of it, at most, no sample tells of: what was late then is in none of these.
	UncoveredMicroseconds int64 `json:"uncoveredMicroseconds,omitempty"`
}

// NodeResources are what a node's server, or another process, used in one stage: differences of counters, and the peaks of memory and threads.
type NodeResources struct {
	Node                 string `json:"node"` // or RecorderConfig.Processes, or ProcessRecorder
	Stage                string `json:"stage"`
	DurationMicroseconds int64  `json:"durationMicroseconds"`
	CPUMillicores        int64  `json:"cpuMillicores"`
	ResidentPeakBytes    int64  `json:"residentPeakBytes"`
	ThreadsPeak          int64  `json:"threadsPeak,omitempty"`
	ReadBytes            int64  `json:"readBytes"`
	WrittenBytes         int64  `json:"writtenBytes"`
	NetworkReceivedBytes int64  `json:"networkReceivedBytes"`
	NetworkSentBytes     int64  `json:"networkSentBytes"`
}

// NodeTraffic are the bytes of replication that a node sent its peer in one stage: differences of its counters.
type NodeTraffic struct {
	Node                 string `json:"node"`
	Peer                 string `json:"peer"`
	Stage                string `json:"stage"`
	DurationMicroseconds int64  `json:"durationMicroseconds"`
	SentBytes            int64  `json:"sentBytes"`
}

// ProcessSource is a process beside the nodes whose use of resources is sampled.
type ProcessSource struct {
	Name string `json:"name"` // app, director, proxy, k6; no node has such a name
	URL  string `json:"url"`
	// Each tells that every address of the URL's host is a process of its own. Their use is summed.
	Each bool `json:"each,omitempty"`
}

// ProcessRecorder names the recorder among the sampled processes.
const ProcessRecorder = "recorder"

// ClockSource is a process whose clock is measured: its URL answers ClockReading.
type ClockSource struct {
	Name string `json:"name"` // as topology.Failover.Clock has it
	URL  string `json:"url"`
}

// ClockReading is what a clock shows.
type ClockReading struct {
	Now metav1.MicroTime `json:"now"`
}

// Clock bounds how far another process's clock was ahead of the recorder's (below 0: behind), by the round trips of questions.
type Clock struct {
	Name                   string `json:"name"` // of a node: its agent's clock; else of who manages the topology
	LeastAheadMicroseconds int64  `json:"leastAheadMicroseconds"`
	MostAheadMicroseconds  int64  `json:"mostAheadMicroseconds"`
	// SteppedMicroseconds is by how much its answers contradict each other: it was set, or is the clock of another machine
	// since. The bounds cover what it was before and after.
	SteppedMicroseconds int64 `json:"steppedMicroseconds,omitempty"`
}
