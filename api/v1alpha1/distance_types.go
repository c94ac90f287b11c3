package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DistanceStatus is the distance of topology.links as it was set, and as it was measured.
type DistanceStatus struct {
	// nodes that hold up what comes to them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	Nodes []LinkedNodeStatus `json:"nodes,omitempty"`
	// roundTrips between nodes, and from nodes to the pods of app and proxy where app.zone has a link.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	RoundTrips []RoundTripStatus `json:"roundTrips,omitempty"`
	// lookTime is when the nodes' agents were last asked for what they had counted.
	// +optional
	LookTime *metav1.MicroTime `json:"lookTime,omitempty"`
	// clients are the addresses of the pods of app and proxy that links were last set for.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=64
	Clients []string `json:"clients,omitempty"`
	// clientReplacements is how many of these came while the load ran: for how long they were at no distance is not known. Such a run is
	// Inconclusive.
	// +optional
	ClientReplacements int64 `json:"clientReplacements,omitempty"`
	// removedTime is when the distance ended.
	// +optional
	RemovedTime *metav1.MicroTime `json:"removedTime,omitempty"`
}

// LinkedNodeStatus is what a node's agent does for its links.
type LinkedNodeStatus struct {
	// name of the node's pod.
	Name string `json:"name"`
	// podUID in which they were last set.
	// +optional
	PodUID string `json:"podUID,omitempty"`
	// session of the agent that set them: one that is started anew has another, and delays nothing.
	// +optional
	Session string `json:"session,omitempty"`
	// peers identifies the addresses and delays that were last set.
	// +optional
	Peers string `json:"peers,omitempty"`
	// method that delays: Netem of the kernel, or a PacketQueue that the agent reads.
	// +optional
	Method LinkMethod `json:"method,omitempty"`
	// setTime is when they were last set.
	// +optional
	SetTime *metav1.MicroTime `json:"setTime,omitempty"`
	// withoutDistance tells that they are ended for stages of the load without distance, which come first.
	// +optional
	WithoutDistance bool `json:"withoutDistance,omitempty"`
	// linkingTime is when the node's agent began to set them after these stages, by its clock. Absent where the load has none.
	// +optional
	LinkingTime *metav1.MicroTime `json:"linkingTime,omitempty"`
	// linkedTime is when they stood then, by the same clock.
	// +optional
	LinkedTime *metav1.MicroTime `json:"linkedTime,omitempty"`
	// resets is how often they were set again since another pod, of the node or of a peer, had another address: until setTime what
	// came from that address was at no distance.
	// +optional
	Resets int64 `json:"resets,omitempty"`
	// replacements is how often the node's pod was another than the one before, since the links were set for the first time.
	// +optional
	Replacements int64 `json:"replacements,omitempty"`
	// cameTime is when a pod that came into another's place while the load ran began to run, by the operator's clock and at the earliest. Absent
	// once all links to and from it are known to stand. A run that ends with one is Inconclusive.
	// +optional
	CameTime *metav1.MicroTime `json:"cameTime,omitempty"`
	// undelayedSinceTime is the same of the pod that was at no distance for the longest, and undelayedUntilTime when all links to and from
	// it were known to stand. A run in which that took more than 5 s is Inconclusive.
	// +optional
	UndelayedSinceTime *metav1.MicroTime `json:"undelayedSinceTime,omitempty"`
	// undelayedUntilTime: see undelayedSinceTime.
	// +optional
	UndelayedUntilTime *metav1.MicroTime `json:"undelayedUntilTime,omitempty"`
	// lapses is how often the agent was started anew in the same pod while it had packets to delay: meanwhile nothing was delayed. Such a run is Inconclusive.
	// +optional
	Lapses int64 `json:"lapses,omitempty"`
	// What all agents of the node have counted: those of pods that were replaced until they were last asked.
	LinkCounts `json:",inline"`
	// earlier is the part of it that agents before the present one had counted when they were last asked. Absent where there was none.
	// +optional
	Earlier *LinkCounts `json:"earlier,omitempty"`
	// stages tell what became of the packets in each stage of the load in which the node's agent could be asked, where it is a PacketQueue
	// that delays.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Stages []LinkedStageStatus `json:"stages,omitempty"`
	// problem is what is wrong with them, absent where all is well. A run that ends with one is Inconclusive.
	// +optional
	Problem LinkProblem `json:"problem,omitempty"`
	// note tells people more of the problem.
	// +optional
	Note string `json:"note,omitempty"`
}

// LinkProblem is what is wrong with a node's links.
// +kubebuilder:validation:Enum=NotSet;NotSetAgain;NotRead;NotKept;NotInStage
type LinkProblem string

// Problems of links.
const (
	LinkNotSet      LinkProblem = "NotSet"      // the agent did not set them
	LinkNotSetAgain LinkProblem = "NotSetAgain" // the pod was replaced, and they were not set for the next one
	LinkNotRead     LinkProblem = "NotRead"     // the agent did not tell what came of them
	LinkNotKept     LinkProblem = "NotKept"     // an agent of the node did not delay all packets as asked: stays, whatever comes after
	LinkNotInStage  LinkProblem = "NotInStage"  // the verdict: they were not set, as far as is known, within the stage after those without distance
)

// LinkCounts are what became of the packets that a node's links hold up.
type LinkCounts struct {
	// delayedPackets so far, absent when that is not known.
	// +optional
	DelayedPackets *int64 `json:"delayedPackets,omitempty"`
	// droppedPackets found no room, or the kernel discarded them while they waited: must be 0. Absent when that is not known.
	// +optional
	DroppedPackets *int64 `json:"droppedPackets,omitempty"`
	// latePackets were let go more than 5% of their delay, and more than 1 ms, too late, also before the load and in stages that do not
	// count: stages has what the verdict goes by. Absent when that is not known.
	// +optional
	LatePackets *int64 `json:"latePackets,omitempty"`
	// latestMicroseconds by which a packet was late, absent when that is not known.
	// +optional
	LatestMicroseconds *int64 `json:"latestMicroseconds,omitempty"`
}

// LinkedStageStatus is what became of the packets that a node's links hold up in a stage of the load. Its counters are read once a second.
type LinkedStageStatus struct {
	// name of the stage.
	Name string `json:"name"`
	// discarded tells that the stage does not count, and neither does what was late in it.
	// +optional
	Discarded bool `json:"discarded,omitempty"`
	// delayedPackets of it at least: without those of up to a second at its ends.
	DelayedPackets int64 `json:"delayedPackets"`
	// latePackets of it at most: with those of up to two seconds before and after it. They were let go more than 5% of their delay, and more
	// than 1 ms, too late: at most 1% of the delayed ones. A run of which a stage that counts has more is Inconclusive.
	LatePackets int64 `json:"latePackets"`
	// heldUpPackets of it at most, with those of up to ten seconds after it, since they may have been due in it: they were let go 100 ms too
	// late, or more, and are among latePackets. Must be 0.
	HeldUpPackets int64 `json:"heldUpPackets"`
}

// LinkMethod is how packets are delayed.
// +kubebuilder:validation:Enum=Netem;PacketQueue
type LinkMethod string

// Methods of delay.
const (
	LinkNetem       LinkMethod = "Netem"
	LinkPacketQueue LinkMethod = "PacketQueue"
)

// RoundTripStatus is the round trip between two pods, as it was asked for and as the first one's agent measured it.
type RoundTripStatus struct {
	// from is a node's pod.
	From string `json:"from"`
	// to is a node's pod, or one of app or proxy.
	To string `json:"to"`
	// requestedMicroseconds by the spec.
	RequestedMicroseconds int64 `json:"requestedMicroseconds"`
	// before the load. What is off is measured again, and the load not begun before it is as requested.
	// +optional
	Before *RoundTripFigures `json:"before,omitempty"`
	// withoutDistance is what it was before the load when the links were ended for its stages without distance. Absent where it has none.
	// +optional
	WithoutDistance *RoundTripFigures `json:"withoutDistance,omitempty"`
	// after the load.
	// +optional
	After *RoundTripFigures `json:"after,omitempty"`
	// note says why a figure is absent.
	// +optional
	Note string `json:"note,omitempty"`
}

// RoundTripFigures are of connections that were opened: a packet there and one back.
type RoundTripFigures struct {
	// samples that were answered.
	Samples int64 `json:"samples"`
	// p50Microseconds is the median.
	P50Microseconds int64 `json:"p50Microseconds"`
	// p99Microseconds is the 99th percentile by nearest rank.
	P99Microseconds int64 `json:"p99Microseconds"`
}

// StageDistance holds a closed loop's throughput against what the distance allows: each user waits for the round trip of a commit,
// and for what a request takes without it.
type StageDistance struct {
	// roundTripMicroseconds that a commit waits for: to the nearest nodes whose acknowledgement is enough, or to the standbys that Patroni
	// chose by name (synchronousMode On).
	// It is measured: the shorter median of before and after the load, so that the bound is rather too high than too low.
	// With baseFrom Stage the round trip without distance is taken off, since baseMicroseconds has it.
	// With baseFrom Baseline that is not known: it is the shorter of the measured and the requested one.
	RoundTripMicroseconds int64 `json:"roundTripMicroseconds"`
	// writesPermille of the requests wait for it.
	WritesPermille int64 `json:"writesPermille"`
	// baseMicroseconds is what a request takes on average without distance, with few users where baseFrom is Stage or Baseline.
	BaseMicroseconds int64 `json:"baseMicroseconds"`
	// baseFrom says where that is from.
	BaseFrom DistanceBase `json:"baseFrom"`
	// boundMilliRequestsPerSecond are the users / (baseMicroseconds + round trip x share of writes), in thousandths of a request per second.
	BoundMilliRequestsPerSecond int64 `json:"boundMilliRequestsPerSecond"`
	// ofBoundPermille is what succeeded per second, in thousandths of the bound.
	OfBoundPermille int64 `json:"ofBoundPermille"`
}

// DistanceBase is where the latency without distance is from.
// +kubebuilder:validation:Enum=Stage;Baseline;Reads
type DistanceBase string

// Sources of the latency without distance.
const (
	// BaseFromStage: the mean latency of the last stage with distance None: the same operations, on the same nodes.
	BaseFromStage DistanceBase = "Stage"
	// BaseFromBaseline: the mean latency of the baseline's stage with the fewest users, at no distance: the same operations.
	BaseFromBaseline DistanceBase = "Baseline"
	// BaseFromReads: the mean latency of this stage's reads. A write takes longer, so the bound is above what can be reached.
	BaseFromReads DistanceBase = "Reads"
)
