package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DistanceStatus is the delay of topology.links as set, and as measured.
type DistanceStatus struct {
	// nodes that delay the packets they receive.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	Nodes []LinkedNodeStatus `json:"nodes,omitempty"`
	// roundTrips between nodes. Where app.zone has a link, also from nodes to the pods of app and proxy.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	RoundTrips []RoundTripStatus `json:"roundTrips,omitempty"`
	// lookTime is when the operator last read the agents' counters.
	// +optional
	LookTime *metav1.MicroTime `json:"lookTime,omitempty"`
	// clients are the addresses of the pods of app and proxy that links were last set for.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=64
	Clients []string `json:"clients,omitempty"`
	// undelayedMilliseconds is the longest that a node's replacement pod ran during the load before all its links were set. Above 5 s the run is
	// Inconclusive.
	// +optional
	UndelayedMilliseconds int64 `json:"undelayedMilliseconds,omitempty"`
	// undelayedSinceTime is the earliest start of a replacement pod whose links are not all set yet (operator clock). A run that ends with one
	// is Inconclusive.
	// +optional
	UndelayedSinceTime *metav1.MicroTime `json:"undelayedSinceTime,omitempty"`
	// removedTime is when the operator removed all links.
	// +optional
	RemovedTime *metav1.MicroTime `json:"removedTime,omitempty"`
}

// LinkedNodeStatus is the state of a node's links.
type LinkedNodeStatus struct {
	// name of the node's pod.
	Name string `json:"name"`
	// podUID of the pod in which they were last set.
	// +optional
	PodUID string `json:"podUID,omitempty"`
	// session of the agent that set them. An agent that restarts begins another session, without links.
	// +optional
	Session string `json:"session,omitempty"`
	// peers is a hash of the addresses and delays that were last set.
	// +optional
	Peers string `json:"peers,omitempty"`
	// linked: an agent of the node was given delays.
	// +optional
	Linked bool `json:"linked,omitempty"`
	// setTime is when they were last set.
	// +optional
	SetTime *metav1.MicroTime `json:"setTime,omitempty"`
	// withoutDistance: the links are off for the load's first stages, which have distance None.
	// +optional
	WithoutDistance bool `json:"withoutDistance,omitempty"`
	// linkingTime is when the agent began to set them after these stages (node clock). Absent without such stages.
	// +optional
	LinkingTime *metav1.MicroTime `json:"linkingTime,omitempty"`
	// linkedTime is when they were set (node clock).
	// +optional
	LinkedTime *metav1.MicroTime `json:"linkedTime,omitempty"`
	// interruptions is how often a pod was replaced that has a link to or from the node. Each time its links were set again.
	// +optional
	Interruptions int64 `json:"interruptions,omitempty"`
	// Counts of the last agent of the node that delayed packets.
	LinkCounts `json:",inline"`
	// stages have the counts of each stage of the load. Absent for stages in which the agent did not answer.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Stages []LinkedStageStatus `json:"stages,omitempty"`
	// problem of the links. A run that ends with one is Inconclusive.
	// +optional
	Problem LinkProblem `json:"problem,omitempty"`
	// note describes the problem.
	// +optional
	Note string `json:"note,omitempty"`
}

// LinkProblem is a problem of a node's links.
// +kubebuilder:validation:Enum=NotSet;NotSetAgain;NotRead;NotKept;NotInStage
type LinkProblem string

// Problems of links.
const (
	LinkNotSet      LinkProblem = "NotSet"      // the agent did not set them
	LinkNotSetAgain LinkProblem = "NotSetAgain" // the pod was replaced, and the new pod has no links
	LinkNotRead     LinkProblem = "NotRead"     // the agent did not report its counters
	LinkNotKept     LinkProblem = "NotKept"     // packets were not delayed as asked; remains until the end of the run
	LinkNotInStage  LinkProblem = "NotInStage"  // set by the verdict: the links were perhaps not set within the first stage after those without distance
)

// LinkCounts are an agent's counters of delayed packets.
type LinkCounts struct {
	// delayedPackets so far. Absent if unknown.
	// +optional
	DelayedPackets *int64 `json:"delayedPackets,omitempty"`
	// droppedPackets found the queue full, or the kernel discarded them while they waited. Must be 0; absent if unknown.
	// +optional
	DroppedPackets *int64 `json:"droppedPackets,omitempty"`
	// latePackets were released too late by more than 5% of their delay and more than 1 ms, at any time of the run. The verdict uses stages
	// instead. Absent if unknown.
	// +optional
	LatePackets *int64 `json:"latePackets,omitempty"`
	// latestMicroseconds is the longest time by which a packet was late. Absent if unknown.
	// +optional
	LatestMicroseconds *int64 `json:"latestMicroseconds,omitempty"`
}

// LinkedStageStatus are a node's counters of delayed packets in a stage of the load, read once a second.
type LinkedStageStatus struct {
	// name of the stage.
	Name string `json:"name"`
	// discarded: the stage does not count, and neither do its late packets.
	// +optional
	Discarded bool `json:"discarded,omitempty"`
	// delayedPackets is a minimum: up to a second at each end of the stage is left out.
	DelayedPackets int64 `json:"delayedPackets"`
	// latePackets were late by more than 5% of their delay and 1 ms. A maximum: it includes up to two seconds around the stage.
	LatePackets int64 `json:"latePackets"`
	// heldUpPackets were 100 ms late or more. Must be 0 in an experiment with faults. A maximum: it includes ten seconds after the stage.
	HeldUpPackets int64 `json:"heldUpPackets"`
	// meanDelayMicroseconds is the delay that was asked for. With several delays, the one with the highest lateness relative to its tolerance. Absent without packets.
	// +optional
	MeanDelayMicroseconds *int64 `json:"meanDelayMicroseconds,omitempty"`
	// meanLateMicroseconds is by how much longer packets of that delay waited, on average. Above 500 µs and 5%, the run is Inconclusive.
	// +optional
	MeanLateMicroseconds *int64 `json:"meanLateMicroseconds,omitempty"`
}

// RoundTripStatus is the round trip between two pods, as requested and as the agent of from measured it.
type RoundTripStatus struct {
	// from is a node's pod.
	From string `json:"from"`
	// to is a node's pod, or one of app or proxy.
	To string `json:"to"`
	// requestedMicroseconds by the spec.
	RequestedMicroseconds int64 `json:"requestedMicroseconds"`
	// before the load. The load begins once it is as requested.
	// +optional
	Before *RoundTripFigures `json:"before,omitempty"`
	// withoutDistance is measured before the load with the links off. Absent without stages of distance None.
	// +optional
	WithoutDistance *RoundTripFigures `json:"withoutDistance,omitempty"`
	// after the load.
	// +optional
	After *RoundTripFigures `json:"after,omitempty"`
	// note is the reason why a figure is absent.
	// +optional
	Note string `json:"note,omitempty"`
}

// RoundTripFigures are the durations of opened connections: one packet there and one back.
type RoundTripFigures struct {
	// samples is the number of answers.
	Samples int64 `json:"samples"`
	// p50Microseconds is the median.
	P50Microseconds int64 `json:"p50Microseconds"`
	// p99Microseconds is the 99th percentile by nearest rank.
	P99Microseconds int64 `json:"p99Microseconds"`
}

// StageDistance compares a closed loop's throughput with the maximum that the distance allows: each user waits for a commit's round trip, and
// for the rest of the request.
type StageDistance struct {
	// roundTripMicroseconds that a commit waits for: to the nearest nodes whose acknowledgement suffices, or to Patroni's chosen standbys.
	// It is the shorter median of before and after the load. With baseFrom Stage it excludes the round trip without distance; with
	// Baseline it is at most the requested one.
	RoundTripMicroseconds int64 `json:"roundTripMicroseconds"`
	// writesPermille is the share of requests that wait for it, in thousandths.
	WritesPermille int64 `json:"writesPermille"`
	// baseMicroseconds is the mean duration of a request without distance. With baseFrom Stage or Baseline it is that of few users.
	BaseMicroseconds int64 `json:"baseMicroseconds"`
	// baseFrom is the source of baseMicroseconds.
	BaseFrom DistanceBase `json:"baseFrom"`
	// boundMilliRequestsPerSecond is users / (baseMicroseconds + round trip x share of writes), in thousandths of a request per second.
	BoundMilliRequestsPerSecond int64 `json:"boundMilliRequestsPerSecond"`
	// ofBoundPermille is the successful requests per second, in thousandths of the bound.
	OfBoundPermille int64 `json:"ofBoundPermille"`
}

// DistanceBase is the source of the latency without distance.
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
