package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FailoverStatus is the longest outage after a fault in which another node took over, by the recorder's clock.
type FailoverStatus struct {
	// fault that hit the old primary before. Absent where none did.
	// +optional
	Fault string `json:"fault,omitempty"`
	// planned tells that the change was asked for: detectedTime is then when, with topology.type Patroni when the new primary was decided on,
	// and there is no detectionMilliseconds.
	// +optional
	Planned bool `json:"planned,omitempty"`
	// oldPrimary before it.
	// +optional
	OldPrimary string `json:"oldPrimary,omitempty"`
	// newPrimary after it.
	// +optional
	NewPrimary string `json:"newPrimary,omitempty"`
	// lastOldAcknowledgement is the last write that the old primary acknowledged to a client.
	// +optional
	LastOldAcknowledgement *metav1.MicroTime `json:"lastOldAcknowledgement,omitempty"`
	// firstError that a client saw.
	// +optional
	FirstError *metav1.MicroTime `json:"firstError,omitempty"`
	// detectedTime is when the topology's own manager took the primary for failed, by its clock.
	// +optional
	DetectedTime *metav1.MicroTime `json:"detectedTime,omitempty"`
	// promotedTime is when the new primary was opened, by the manager's clock.
	// +optional
	PromotedTime *metav1.MicroTime `json:"promotedTime,omitempty"`
	// firstNewAcknowledgement is the first write that the new primary acknowledged to a client.
	// +optional
	FirstNewAcknowledgement *metav1.MicroTime `json:"firstNewAcknowledgement,omitempty"`
	// outageMilliseconds between the two acknowledgements. Another outage, in which the same node went on, may have been longer:
	// that is status.outageMilliseconds.
	// +optional
	OutageMilliseconds *int64 `json:"outageMilliseconds,omitempty"`
	// clock of the manager, by how much it differed from the recorder's. Absent when it could not be measured.
	// +optional
	Clock *ClockStatus `json:"clock,omitempty"`
	// detectionMilliseconds from the last acknowledgement to the detection. It rests on two clocks: the manager's is taken to
	// be ahead by the middle of its bounds.
	// +optional
	DetectionMilliseconds *int64 `json:"detectionMilliseconds,omitempty"`
	// promotionMilliseconds from the detection to the promotion, by the manager's clock.
	// +optional
	PromotionMilliseconds *int64 `json:"promotionMilliseconds,omitempty"`
	// routingMilliseconds from the promotion to the first new acknowledgement, on two clocks as detectionMilliseconds.
	// +optional
	RoutingMilliseconds *int64 `json:"routingMilliseconds,omitempty"`
}

// RestartInPlaceStatus is the return of a primary to its own place after its server was lost.
type RestartInPlaceStatus struct {
	// node that was the primary, and is it again.
	Node string `json:"node"`
	// lostTime is the last moment at which the server before took writes, by the node's clock. Absent if it was not seen.
	// +optional
	LostTime *metav1.MicroTime `json:"lostTime,omitempty"`
	// rejoinedTime is when the next server was seen to take writes, by the node's clock.
	RejoinedTime metav1.MicroTime `json:"rejoinedTime"`
	// clock of the node, by how much it differed from the recorder's. Absent when it could not be measured.
	// +optional
	Clock *ClockStatus `json:"clock,omitempty"`
}
