package protocol

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Paths of the witness's control port PortWitnessControl. POST needs the token.
const (
	WitnessPathHealth  = "/healthz"
	WitnessPathState   = "/state"  // GET WitnessState
	WitnessPathFinish  = "/finish" // POST: probes stop, the ledger closes, results are written; may be repeated
	WitnessPathLedger  = "/ledger" // GET: the ledger file as it is, only after finish (409 before)
	WitnessPathMetrics = "/metrics"
)

// Keys of the witness's ConfigMap.
const (
	WitnessStateKey   = "state.json"      // data: WitnessState, renewed at each change that matters
	WitnessResultsKey = "results.json.gz" // binaryData: WitnessResults
)

// WitnessConfig configures `replab witness`.
type WitnessConfig struct {
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
	// Stages in their order; requests without a HeaderStage belong to DefaultStage.
	Stages       []Stage `json:"stages"`
	DefaultStage string  `json:"defaultStage"`
	SemiSync     bool    `json:"semiSync"` // whether to sample the semi-sync counters
	// LagIntervalMilliseconds is 0 when the lag probe is off.
	LagIntervalMilliseconds int64   `json:"lagIntervalMilliseconds"`
	LagPayloadBytes         []int64 `json:"lagPayloadBytes"`
	// AvailabilityIntervalMilliseconds is 0 when the availability probe is off.
	AvailabilityIntervalMilliseconds int64 `json:"availabilityIntervalMilliseconds"`
	RequestTimeoutMilliseconds       int64 `json:"requestTimeoutMilliseconds"`
}

// Stage is one stage of the load as the witness needs it.
type Stage struct {
	Name    string `json:"name"`
	Discard bool   `json:"discard"`
}

// WitnessState is what the operator follows while the load runs.
type WitnessState struct {
	Restarts      int64             `json:"restarts"`                // how often the witness came up on an existing ledger
	LoadStartedAt *metav1.MicroTime `json:"loadStartedAt,omitempty"` // first request of the load
	FinishedAt    *metav1.MicroTime `json:"finishedAt,omitempty"`
	// Failed says why the witness can no longer vouch for its figures, such as a full disk. Never unset.
	Failed string `json:"failed,omitempty"`
}

// WitnessResults is everything that the witness measured.
type WitnessResults struct {
	WitnessState
	// Incomplete says why the figures do not cover the whole load, such as a witness that was restarted in the middle of
	// it. Then everything but Writes (which the ledger holds) covers a part only. Empty when they cover all of it.
	Incomplete   string              `json:"incomplete,omitempty"`
	Load         StageResult         `json:"load"`   // all stages that are not discarded, from merged histograms
	Stages       []StageResult       `json:"stages"` // in order; those without a request too
	Writes       LedgerCounts        `json:"writes"`
	StaleReads   int64               `json:"staleReads"`    // profiles that were acknowledged to a client and then not found
	Lag          *LagResult          `json:"lag,omitempty"` // absent when the probe was off
	Availability *AvailabilityResult `json:"availability,omitempty"`
	SemiSync     *SemiSyncResult     `json:"semiSync,omitempty"`
	Timeline     []Second            `json:"timeline"`
	// TimelineStepSeconds is how many seconds each entry of Timeline covers: 1, or more when the results would not have
	// fitted into their ConfigMap. Then requests, failures and lag are whole, and the percentiles are absent: they cannot be
	// made from those of single seconds.
	TimelineStepSeconds int64 `json:"timelineStepSeconds"`
	// TimelineOmittedSeconds are the seconds after the last of Timeline, when the load took longer than it may hold. They
	// are part of all other figures.
	TimelineOmittedSeconds int64           `json:"timelineOmittedSeconds,omitempty"`
	Resources              []NodeResources `json:"resources,omitempty"`
}

// StageResult are the figures of one stage, or of several together.
type StageResult struct {
	Name      string `json:"name"`
	Discarded bool   `json:"discarded"`
	Requests  int64  `json:"requests"`
	Failures  int64  `json:"failures"` // answers that are not 2xx, and none
	// StartedAt is the first arrival, absent without one. DurationMicroseconds goes to the last completion.
	StartedAt            *metav1.MicroTime `json:"startedAt,omitempty"`
	DurationMicroseconds int64             `json:"durationMicroseconds"`
	Latency              *Latency          `json:"latency,omitempty"` // absent without a request
	Operations           []OperationResult `json:"operations,omitempty"`
}

// OperationResult are the figures of one operation of the app: register, profile, search, login, other.
type OperationResult struct {
	Name     string   `json:"name"`
	Requests int64    `json:"requests"`
	Failures int64    `json:"failures"`
	Latency  *Latency `json:"latency,omitempty"`
}

// Latency is read off an HdrHistogram of 1 µs to 5 min with 3 significant digits.
type Latency struct {
	MeanMicroseconds int64 `json:"meanMicroseconds"`
	P50Microseconds  int64 `json:"p50Microseconds"`
	P95Microseconds  int64 `json:"p95Microseconds"`
	P99Microseconds  int64 `json:"p99Microseconds"`
	MaxMicroseconds  int64 `json:"maxMicroseconds"`
}

// LedgerCounts are the sizes of the ledger's sets: sent = acknowledged + rejected + indeterminate.
type LedgerCounts struct {
	Sent          int64 `json:"sent"`
	Acknowledged  int64 `json:"acknowledged"`
	Rejected      int64 `json:"rejected"`
	Indeterminate int64 `json:"indeterminate"`
}

// LagResult is the lag of all nodes together and of each.
type LagResult struct {
	LagDistribution
	Acknowledged int64     `json:"acknowledged"` // writes that count: each is awaited on every node but its own server
	Discarded    int64     `json:"discarded"`    // writes whose fate is unknown, of which no lag was taken
	Missed       int64     `json:"missed"`       // writes that were due while the previous one was out, or no server took writes
	Nodes        []NodeLag `json:"nodes"`
	Sizes        []SizeLag `json:"sizes,omitempty"` // one per payload size, when several were swept
}

// LagDistribution is a distribution of lags: end of the bracket minus acknowledgement, negative when the row was
// visible before its writer knew. Percentiles are absent without samples.
type LagDistribution struct {
	Samples                int64  `json:"samples"`
	Censored               int64  `json:"censored"` // the first read already saw the row: the lag is at most this
	Unseen                 int64  `json:"unseen"`   // writes that the node never showed before the probe ended
	Lost                   int64  `json:"lost"`     // of Unseen: writes that the primary of the moment does not have either
	P50Microseconds        *int64 `json:"p50Microseconds,omitempty"`
	P99Microseconds        *int64 `json:"p99Microseconds,omitempty"`
	MaxMicroseconds        *int64 `json:"maxMicroseconds,omitempty"`
	BracketP50Microseconds *int64 `json:"bracketP50Microseconds,omitempty"`
	// OldestUnseenMicroseconds is the age of the oldest write not seen when the probe ended, absent when there is none. Lost
	// writes have no age: the node is not behind for lacking them.
	OldestUnseenMicroseconds *int64 `json:"oldestUnseenMicroseconds,omitempty"`
}

// NodeLag is the lag of one node, with the engine's own view beside it.
type NodeLag struct {
	Name string `json:"name"`
	LagDistribution
	// Engine figures are medians over one sample a second, by the servers' clocks. Absent when never sampled.
	EngineTransportP50Microseconds *int64 `json:"engineTransportP50Microseconds,omitempty"`
	EngineApplyP50Microseconds     *int64 `json:"engineApplyP50Microseconds,omitempty"`
}

// SizeLag is a row of the size sweep.
type SizeLag struct {
	PayloadBytes          int64 `json:"payloadBytes"`
	InsertP50Microseconds int64 `json:"insertP50Microseconds"`
	LagDistribution
}

// AvailabilityResult is what the availability probe saw: which node acknowledged writes from when to when.
type AvailabilityResult struct {
	IntervalMilliseconds int64 `json:"intervalMilliseconds"`
	// Sent and Acknowledged are the probe's own writes. It writes when no write of the load was acknowledged for an interval,
	// and during that at the interval: without a load that writes 1000/interval a second, with a dense one hardly any.
	Sent         int64 `json:"sent"`
	Acknowledged int64 `json:"acknowledged"`
	// Skipped are writes that were due and not sent, since too many before them had no answer yet.
	Skipped int64 `json:"skipped"`
	// MaxLateMicroseconds is by how much the time without an acknowledged write of the load and without an attempt of the
	// probe was longer than the interval at most: no gap is told more finely than both together.
	MaxLateMicroseconds int64 `json:"maxLateMicroseconds"`
	// Gaps are the times without an acknowledged write (of the probe or of the load) in which a write failed, or after
	// which another node acknowledged. The longest MaxGaps, in order of time.
	Gaps []Gap `json:"gaps,omitempty"`
}

// MaxGaps bounds AvailabilityResult.Gaps.
const MaxGaps = 100

// Gap lies between two acknowledged writes. After* is absent while none has come.
type Gap struct {
	LastNode             string            `json:"lastNode"`
	LastAcknowledgedAt   metav1.MicroTime  `json:"lastAcknowledgedAt"`
	FirstErrorAt         *metav1.MicroTime `json:"firstErrorAt,omitempty"`
	NextNode             string            `json:"nextNode,omitempty"`
	NextAcknowledgedAt   *metav1.MicroTime `json:"nextAcknowledgedAt,omitempty"`
	DurationMicroseconds *int64            `json:"durationMicroseconds,omitempty"`
	Errors               int64             `json:"errors"`
}

// SemiSyncResult counts commits that the primaries did not get acknowledged by a replica, sampled once a second: a
// primary that died may have had more since the last sample.
type SemiSyncResult struct {
	AcknowledgedCommits   int64 `json:"acknowledgedCommits"`
	UnacknowledgedCommits int64 `json:"unacknowledgedCommits"`
	Samples               int64 `json:"samples"`
}

// Second is one second of the timeline.
type Second struct {
	At              metav1.MicroTime `json:"at"`
	Requests        int64            `json:"requests"`
	Failures        int64            `json:"failures"`
	P50Microseconds *int64           `json:"p50Microseconds,omitempty"`
	P99Microseconds *int64           `json:"p99Microseconds,omitempty"`
	// LagMicroseconds is per node, in the order of WitnessConfig.Nodes: the largest lag seen in this second, or the age of
	// the oldest write not yet seen, whichever is larger; -1 for a node with neither.
	LagMicroseconds []int64 `json:"lagMicroseconds,omitempty"`
	Writer          string  `json:"writer,omitempty"` // node that acknowledged the last write of this second
}

// NodeResources are what a node's server used in one stage: differences of counters, and the peak of memory.
type NodeResources struct {
	Node                 string `json:"node"`
	Stage                string `json:"stage"`
	DurationMicroseconds int64  `json:"durationMicroseconds"`
	CPUMillicores        int64  `json:"cpuMillicores"`
	ResidentPeakBytes    int64  `json:"residentPeakBytes"`
	ReadBytes            int64  `json:"readBytes"`
	WrittenBytes         int64  `json:"writtenBytes"`
	NetworkReceivedBytes int64  `json:"networkReceivedBytes"`
	NetworkSentBytes     int64  `json:"networkSentBytes"`
}
