package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// LagResult is the lag of all nodes while they were replicas, and of each node. Writes count that began while a stage of the load ran that is
// not discarded, whenever a node then showed them.
type LagResult struct {
	LagDistribution
	// Histogram of the lags that were seen, of all nodes. Its first bucket has all below 0, from the least of them.
	Histogram    []Bucket  `json:"histogram,omitempty"`
	Acknowledged int64     `json:"acknowledged"` // writes that count: each is awaited on every node but its own server
	Uncounted    int64     `json:"uncounted"`    // acknowledged writes that began at other times: of them Second has the lag
	Discarded    int64     `json:"discarded"`    // writes whose fate is unknown, of which no lag was taken
	Missed       int64     `json:"missed"`       // writes that were due while the previous one was out, or no server took writes
	Nodes        []NodeLag `json:"nodes"`
	Sizes        []SizeLag `json:"sizes,omitempty"` // one per payload size, when several were swept
}

// LagDistribution is a distribution of lags: end of the bracket minus acknowledgement, negative when the row was
// visible before its writer knew. Writes that were never seen and are not lost are in it with their age when the probe
// ended, and a percentile at or above the least of these is a lower bound. Percentiles are by nearest rank, and absent
// without a value.
type LagDistribution struct {
	Samples                   int64  `json:"samples"`
	Censored                  int64  `json:"censored"` // the first read already saw the row: the lag is at most this
	Unseen                    int64  `json:"unseen"`   // writes that the node never showed before the probe ended
	Lost                      int64  `json:"lost"`     // of Unseen: writes that the primary of the moment does not have either
	P50Microseconds           *int64 `json:"p50Microseconds,omitempty"`
	P99Microseconds           *int64 `json:"p99Microseconds,omitempty"`
	MaxMicroseconds           *int64 `json:"maxMicroseconds,omitempty"`
	ResolutionP50Microseconds *int64 `json:"resolutionP50Microseconds,omitempty"`
	// Unpaused percentiles are of the lags less the recorder's pauses within each: no true lag is less. They are absent where there were none.
	UnpausedP50Microseconds *int64 `json:"unpausedP50Microseconds,omitempty"`
	UnpausedP99Microseconds *int64 `json:"unpausedP99Microseconds,omitempty"`
	UnpausedMaxMicroseconds *int64 `json:"unpausedMaxMicroseconds,omitempty"`
	// Unwatched are acknowledged writes that count and that no node was to show: each had been the primary before and was not seen to follow
	// again. A percentile that leaves out fewer of them is a lower bound.
	Unwatched int64 `json:"unwatched,omitempty"`
	// AtMostMicroseconds is a bound from above of the percentiles that are lower bounds on account of Unwatched: no node took longer to show
	// any write. Absent where there are none, or where nobody knows.
	AtMostMicroseconds *int64 `json:"atMostMicroseconds,omitempty"`
	// LowerBounds are the percentiles of the lag of which the true one may be more: P50, P99 or Max.
	LowerBounds []v1alpha1.Percentile `json:"lowerBounds,omitempty"`
	// OldestUnseenMicroseconds is the age of the oldest write not seen when the probe ended, absent when there is none. Lost
	// writes have no age: the node is not behind for lacking them.
	OldestUnseenMicroseconds *int64 `json:"oldestUnseenMicroseconds,omitempty"`
}

// NodeLag is the lag of one node, with the engine's own view beside it.
type NodeLag struct {
	Name string `json:"name"`
	// FormerPrimary tells that the node took the probe's writes until another did, and has shown no write since that another server took.
	// Never so with RecorderConfig.SeveralWriters.
	FormerPrimary bool `json:"formerPrimary,omitempty"`
	// Away are the acknowledged writes that count and began while the node was such: they are none of its lag.
	Away int64 `json:"away,omitempty"`
	LagDistribution
	// Engine figures are medians over one sample a second while a stage ran that is not discarded, by the servers' clocks.
	// Absent when never sampled.
	EngineTransportP50Microseconds *int64 `json:"engineTransportP50Microseconds,omitempty"`
	EngineApplyP50Microseconds     *int64 `json:"engineApplyP50Microseconds,omitempty"`
}

// SizeLag is a row of the size sweep.
type SizeLag struct {
	PayloadBytes          int64 `json:"payloadBytes"`
	InsertP50Microseconds int64 `json:"insertP50Microseconds"`
	InsertP99Microseconds int64 `json:"insertP99Microseconds"`
	LagDistribution
	ResolutionP99Microseconds *int64 `json:"resolutionP99Microseconds,omitempty"`
	// Total is from the begin of the insert to the end of the look that saw the row, Bare the same without the insert and the sample's resolution.
	// Both are absent where a node has not shown a write of this size.
	TotalP50Microseconds *int64 `json:"totalP50Microseconds,omitempty"`
	TotalP99Microseconds *int64 `json:"totalP99Microseconds,omitempty"`
	BareP50Microseconds  *int64 `json:"bareP50Microseconds,omitempty"`
	BareP99Microseconds  *int64 `json:"bareP99Microseconds,omitempty"`
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
	// StallMilliseconds is how long a silence in which no write failed must last to be one of Gaps.
	StallMilliseconds int64 `json:"stallMilliseconds"`
	// Gaps are the times without an acknowledged write (of the probe or of the load) after which another node acknowledged, in
	// which a write failed, or that lasted StallMilliseconds. At most MaxGaps, in order of time: all of the first kind, then
	// the longest.
	Gaps []Gap `json:"gaps,omitempty"`
	// Silences are all times without an acknowledged write, as far as they can matter.
	Silences *Silences `json:"silences,omitempty"`
}

// Silences lie between two acknowledged writes, of the probe or of the load, whatever became of others meanwhile; the first
// begins with the load. One follows the other without overlap.
type Silences struct {
	From metav1.MicroTime `json:"from"` // the load's start
	// BucketMicroseconds is the width of the buckets of time, the first of which begins at From.
	BucketMicroseconds int64 `json:"bucketMicroseconds"`
	// Longest has for each bucket the longest silence that ended in it, and the longest without the times in which the recorder
	// did not run behind it, where that is another. So a silence that is not here is shorter than a bucket, and no longer than
	// the first here that ended in the same bucket.
	Longest []Silence `json:"longest,omitempty"`
	// Last began with the last acknowledgement and had not ended when the probe did, absent when that was at once.
	Last *Silence `json:"last,omitempty"`
}

// Silence is one of Silences. Of Last the end is that of the probe.
type Silence struct {
	EndMicroseconds    int64 `json:"endMicroseconds"` // after Silences.From
	LengthMicroseconds int64 `json:"lengthMicroseconds"`
	// PausedMicroseconds of it the recorder did not run: for so much less nothing may have been acknowledged.
	PausedMicroseconds int64 `json:"pausedMicroseconds,omitempty"`
}

// MaxSilenceBuckets bounds the buckets of Silences: beyond ten minutes they are wider than 0.1 s.
const MaxSilenceBuckets = 6000

// MaxGaps bounds AvailabilityResult.Gaps.
const MaxGaps = 100

// Gap lies between two acknowledged writes. What is of the second one is absent while none has come. Its nodes have no
// names with RecorderConfig.SeveralWriters.
type Gap struct {
	LastNode             string            `json:"lastNode"`
	LastAcknowledgedAt   metav1.MicroTime  `json:"lastAcknowledgedAt"`
	FirstErrorAt         *metav1.MicroTime `json:"firstErrorAt,omitempty"`
	NextNode             string            `json:"nextNode,omitempty"`
	NextAcknowledgedAt   *metav1.MicroTime `json:"nextAcknowledgedAt,omitempty"`
	DurationMicroseconds *int64            `json:"durationMicroseconds,omitempty"`
	Errors               int64             `json:"errors"`
	// PausedMicroseconds is for how long of it the recorder itself did not run: the gap may be that much shorter.
	PausedMicroseconds int64 `json:"pausedMicroseconds,omitempty"`
}

// Moved tells that another node acknowledged after the gap.
func (g Gap) Moved() bool {
	return g.LastNode != "" && g.NextAcknowledgedAt != nil && g.NextNode != g.LastNode
}

// ChangesKnown tells whether the recorder has kept all changes of the node that acknowledges. While a gap is open, there is
// room for one change less.
func (a *AvailabilityResult) ChangesKnown() bool {
	if a == nil {
		return false
	}
	changes := 0
	for _, g := range a.Gaps {
		if g.Moved() {
			changes++
		}
	}
	return changes < MaxGaps-1
}

// CommitsResult counts commits that the primaries did not get acknowledged by a replica, by samples of the servers' own counters.
// It is the whole truth when every node that wrote has samples and no UncountedMicroseconds. Where servers count waits, of which
// one may be that of many commits, it lies between two bounds; so it does where they tell only whether commits wait.
type CommitsResult struct {
	DegradedCommits       int64         `json:"degradedCommits"`       // at least
	DegradedCommitsAtMost int64         `json:"degradedCommitsAtMost"` // apart from UncountedMicroseconds
	Nodes                 []NodeCommits `json:"nodes"`
	// OfTransactions: the servers count no waits. They tell whether commits wait, and what is counted are transactions that wrote, those that
	// were rolled back among them.
	OfTransactions bool `json:"ofTransactions,omitempty"`
}

// NodeCommits are the commits of one node.
type NodeCommits struct {
	Name                  string `json:"name"`
	AcknowledgedWaits     int64  `json:"acknowledgedWaits"`
	UnacknowledgedWaits   int64  `json:"unacknowledgedWaits"`
	DegradedCommits       int64  `json:"degradedCommits"`
	DegradedCommitsAtMost int64  `json:"degradedCommitsAtMost"`
	Samples               int64  `json:"samples"` // since the load began
	// LastWriteAt is when the node acknowledged its last write to a client, absent for one that never did.
	LastWriteAt *metav1.MicroTime `json:"lastWriteAt,omitempty"`
	// UncountedMicroseconds is for how long a server that took writes may have run since the load began that no sample tells of: from the
	// last sample before its death to the beginning of the next one, or to when it was asked last. It may have had more commits, also where
	// it acknowledged nothing then. Of one that took no writes at its last sample it is the time until the last one that it acknowledged
	// all the same. Where only its uptime went back, its clock may have been set back instead: then the time is here too.
	UncountedMicroseconds int64 `json:"uncountedMicroseconds,omitempty"`
	// DegradedSpans are when commits may have waited for no standby, where servers tell that and count no waits. They are in order; what lies
	// outside of them, and is not uncounted, waited. One that was under way at the last sample lasts until LastWriteAt at least.
	DegradedSpans []DegradedSpan `json:"degradedSpans,omitempty"`
	// StandbySpans are when every commit waited for each of these nodes, where servers name them. They are in order. In between two that
	// follow one another either may have been; what lies outside of them is unknown.
	StandbySpans []StandbySpan `json:"standbySpans,omitempty"`
	// DegradedMicroseconds is for how long at least they waited for no standby.
	DegradedMicroseconds int64 `json:"degradedMicroseconds,omitempty"`
}

// DegradedSpan is a time by the recorder's clock.
type DegradedSpan struct {
	From metav1.MicroTime `json:"from"`
	To   metav1.MicroTime `json:"to"`
}

// StandbySpan is a time by the recorder's clock.
type StandbySpan struct {
	From  metav1.MicroTime `json:"from"`
	To    metav1.MicroTime `json:"to"`
	Nodes []string         `json:"nodes"`
}

// MaxStandbySpans bounds NodeCommits.StandbySpans: what comes after them is unknown.
const MaxStandbySpans = 200

// MaxDegradedSpans bounds NodeCommits.DegradedSpans: beyond that the last one goes on over the times between.
const MaxDegradedSpans = 200

// GroupResult is what the members of a group counted, by samples of the servers' own counters once a second. Nodes are those that were
// asked since the load began; one that never answered has no samples.
type GroupResult struct {
	Nodes []NodeGroup `json:"nodes"`
}

// NodeGroup is what one member counted. Of a server that was started again both processes count.
type NodeGroup struct {
	Name    string `json:"name"`
	Samples int64  `json:"samples"` // since the load began
	// Transactions of the server's own clients that failed since the load began: see engine.GroupCounts.
	CertificationFailures int64  `json:"certificationFailures"`
	ForcedAborts          int64  `json:"forcedAborts"`
	Deadlocks             *int64 `json:"deadlocks,omitempty"` // absent where the server does not count them
	// UncountedMicroseconds is for how long a server may have run since the load began that no sample tells of: from the last sample before
	// its death to the beginning of the next one, or to when it was asked last. It may have had more of these, also where it
	// acknowledged nothing then. Where only its uptime went back, its clock may have been set back instead: then what it counted since
	// the sample before is in the sums, and the time is here all the same.
	UncountedMicroseconds int64 `json:"uncountedMicroseconds,omitempty"`
	// FlowControlPausedMicroseconds of CoveredMicroseconds the server could hand nothing to the group. These are times between two
	// samples, at both of which, and at each that was missed between them, a stage was under way that is not discarded. UncoveredMicroseconds of such stages no sample tells of.
	CoveredMicroseconds           int64 `json:"coveredMicroseconds"`
	UncoveredMicroseconds         int64 `json:"uncoveredMicroseconds,omitempty"`
	FlowControlPausedMicroseconds int64 `json:"flowControlPausedMicroseconds"`
	// ReceiveQueueMeanThousandths is the mean of how many transactions were received and not yet begun to be applied, in thousandths of
	// one, over the samples at which such a stage was under way. The most there were lies between the two others: samples miss
	// peaks, and the server's own maximum tells when one was only where it grew. Absent without such a sample.
	ReceiveQueueMeanThousandths *int64 `json:"receiveQueueMeanThousandths,omitempty"`
	ReceiveQueueMax             *int64 `json:"receiveQueueMax,omitempty"`
	ReceiveQueueMaxAtMost       *int64 `json:"receiveQueueMaxAtMost,omitempty"`
}
