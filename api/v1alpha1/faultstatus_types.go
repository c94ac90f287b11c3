package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FaultStatus is one injection of a fault into one pod. Its intent is written before it is injected.
type FaultStatus struct {
	// name of the fault; a fault on several nodes has one entry per node: name, then name.2 and so on.
	Name string `json:"name"`
	// fault is the name of the fault in the spec.
	Fault string `json:"fault"`
	// pod that it hits.
	Pod string `json:"pod"`
	// podUID that it hits; another pod under the same name is never hit instead.
	PodUID string `json:"podUID"`
	// role of the node when it was chosen. The node is hit only if it still fits the fault's target when its time has come.
	// +optional
	Role NodeRole `json:"role,omitempty"`
	// plannedTime is the start of the load plus atSeconds. A fault that comes more than 10 s later, or in a later stage, is not
	// the one that was planned: the verdict is Inconclusive.
	PlannedTime metav1.MicroTime `json:"plannedTime"`
	// injectedTime is when it was done, by the clock of the node's agent; that of a DeletePod by the operator's, that of a Switchover,
	// when it was asked for, by the manager's.
	// +optional
	InjectedTime *metav1.MicroTime `json:"injectedTime,omitempty"`
	// clock is by how much the clock of injectedTime differed from the recorder's, by which all figures are. Absent when it
	// could not be measured.
	// +optional
	Clock *ClockStatus `json:"clock,omitempty"`
	// state is how far it has come.
	State FaultState `json:"state"`
	// silentTime is since when the fault has been due and could not be carried out, because the node's agent or the topology
	// does not answer. Absent while they do.
	// +optional
	SilentTime *metav1.MicroTime `json:"silentTime,omitempty"`
	// confirmed is True when the effect was seen and lasted as long as it was to, False when it was not or did not, Unknown
	// until then.
	Confirmed metav1.ConditionStatus `json:"confirmed"`
	// evidence of it, or why there is none.
	// +optional
	Evidence string `json:"evidence,omitempty"`
	// releasedTime is when the hold ended.
	// +optional
	ReleasedTime *metav1.MicroTime `json:"releasedTime,omitempty"`
	// leak says who was reached in spite of a partition while it held: a pod that came with a new address before that was cut off too.
	// The verdict is then Inconclusive. Absent where there was none.
	// +optional
	Leak string `json:"leak,omitempty"`
	// rejoinMilliseconds is the time from the end of the hold until the node was in its place again, with all data. It starts at the
	// injection without a hold, and at the rebuild of an isolated old primary. Absent if it did not leave its place, or was not back.
	// +optional
	RejoinMilliseconds *int64 `json:"rejoinMilliseconds,omitempty"`
	// resync is how the node caught up with the others when it came back. Absent where rejoinMilliseconds is.
	// +optional
	Resync *ResyncStatus `json:"resync,omitempty"`
	// outageMilliseconds is the longest time without an acknowledged write between this fault and the next one, by the recorder's clock.
	// An outage that lasts until the next fault is cut there, and counts as a whole for that fault. Faults of the same moment share it.
	// +optional
	OutageMilliseconds *int64 `json:"outageMilliseconds,omitempty"`
	// outageStartTime is when this longest time began, by the recorder's clock. Absent where several times may have been the longest.
	// +optional
	OutageStartTime *metav1.MicroTime `json:"outageStartTime,omitempty"`
	// lossWindowMilliseconds from the first lost write that was acknowledged after the fault before this one, to this fault.
	// Absent when none was lost, and when the times cannot tell.
	// +optional
	LossWindowMilliseconds *int64 `json:"lossWindowMilliseconds,omitempty"`
}

// ResyncStatus is how a node caught up with the others.
type ResyncStatus struct {
	// method by which the node got the commits that it lacked.
	Method ResyncMethod `json:"method"`
	// durationMilliseconds from when the server asked for the others' data until it had them; of a clone or a backup until the copy was
	// whole. Absent where the node fetched no data or the end was not seen.
	// +optional
	DurationMilliseconds *int64 `json:"durationMilliseconds,omitempty"`
	// receivedBytes of the data, as the receiver counted them. Absent where it does not count.
	// +optional
	ReceivedBytes *int64 `json:"receivedBytes,omitempty"`
	// networkReceivedBytes is all that the node's pod received meanwhile, the data included. Absent where receivedBytes is known.
	// +optional
	NetworkReceivedBytes *int64 `json:"networkReceivedBytes,omitempty"`
}

// ResyncMethod is how a node catches up with the others.
// +kubebuilder:validation:Enum=Resume;Reattach;Restart;Clone;Backup;IST;SST;Rewind
type ResyncMethod string

// Methods of resynchronisation.
const (
	// ResyncResume: its server went on where it had been stopped or cut off.
	ResyncResume ResyncMethod = "Resume"
	// ResyncReattach: it was a primary, and follows another since.
	ResyncReattach ResyncMethod = "Reattach"
	// ResyncRestart: its server was started again with the data that it had.
	ResyncRestart ResyncMethod = "Restart"
	// ResyncClone and ResyncBackup: it got a copy of another node's data.
	ResyncClone  ResyncMethod = "Clone"
	ResyncBackup ResyncMethod = "Backup"
	// ResyncIST and ResyncSST: its group gave it the writes that it lacked, or all data.
	ResyncIST ResyncMethod = "IST"
	ResyncSST ResyncMethod = "SST"
	// ResyncRewind: its own writes were taken back.
	ResyncRewind ResyncMethod = "Rewind"
)

// FaultState is how far a fault has come on one pod.
// +kubebuilder:validation:Enum=Planned;Deleting;Injected;Confirmed;Released;Unconfirmed;EndedEarly;EndedLate
type FaultState string

// States of faults.
const (
	// FaultPlanned: the target is written down; the operator does not know of anything that was done to it.
	FaultPlanned FaultState = "Planned"
	// FaultDeleting: the pod is about to be deleted, or was when nobody could write it down any more.
	FaultDeleting FaultState = "Deleting"
	// FaultInjected: it is done; its effect is awaited.
	FaultInjected FaultState = "Injected"
	// FaultConfirmed: its effect was seen. It may still hold.
	FaultConfirmed FaultState = "Confirmed"
	// FaultReleased: its effect was seen, and it has held for as long as it was to.
	FaultReleased FaultState = "Released"
	// FaultUnconfirmed: it was not injected, or its effect was not seen, or when it ended is not known.
	FaultUnconfirmed FaultState = "Unconfirmed"
	// FaultEndedEarly: its effect was seen, but it did not hold for as long as it was to.
	FaultEndedEarly FaultState = "EndedEarly"
	// FaultEndedLate: its effect was seen, but it held for longer than it was to.
	FaultEndedLate FaultState = "EndedLate"
)

// ClockStatus bounds how far a clock was ahead of the recorder's; below 0 it was behind.
type ClockStatus struct {
	// leastAheadMicroseconds it was ahead at least.
	LeastAheadMicroseconds int64 `json:"leastAheadMicroseconds"`
	// mostAheadMicroseconds it was ahead at most.
	MostAheadMicroseconds int64 `json:"mostAheadMicroseconds"`
}

// Ahead is the middle of the bounds.
func (c ClockStatus) Ahead() time.Duration {
	return time.Duration(c.LeastAheadMicroseconds+c.MostAheadMicroseconds) * time.Microsecond / 2
}
