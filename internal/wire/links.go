package wire

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Links are the delays of one node's pod: of all that comes from some addresses.
type Links struct {
	PodUID string `json:"podUID"` // precondition: another UID is refused with 409
	Peers  []Peer `json:"peers"`
}

// Peer is an address at a distance.
type Peer struct {
	Address           string `json:"address"`
	DelayMicroseconds int64  `json:"delayMicroseconds"` // 0: none
}

// LinksState is what an agent does for its links.
type LinksState struct {
	Links
	// Session of this process. What another process delayed ended with it: packets pass undelayed where no process reads the queue.
	Session string `json:"session"`
	// BeganAt is when the process began to set the present Peers, or others that it failed to set before them, and SetAt when it had set
	// them: in between some stood, or none.
	BeganAt *metav1.MicroTime `json:"beganAt,omitempty"`
	SetAt   *metav1.MicroTime `json:"setAt,omitempty"`
	// At is when the process told this, by the same clock.
	At metav1.MicroTime `json:"at"`
	// Counters of this session. They are absent until an address has a delay.
	Packets *int64 `json:"packets,omitempty"` // that were delayed
	// Dropped for want of room, in the queue or in the buffer of its reader, or by the kernel while they waited.
	Dropped *int64 `json:"dropped,omitempty"`
	// Late ones were let go more than 5% of their delay, and more than 1 ms, after it.
	Late               *int64 `json:"late,omitempty"`
	LatestMicroseconds *int64 `json:"latestMicroseconds,omitempty"`
	// Failed says why packets are no longer delayed as asked. Never unset.
	Failed string `json:"failed,omitempty"`
}

// LinkCounts are what an agent has counted of its links in its session, as far as it need not ask the kernel.
type LinkCounts struct {
	Session string `json:"session"`
	Packets int64  `json:"packets"` // that came to be delayed
	Late    int64  `json:"late"`    // as in LinksState
	HeldUp  int64  `json:"heldUp"`  // that were let go HeldUpLeast after their delay, or later
	// Delays of the packets, the shortest first. Absent from older agents.
	Delays []DelayCounts `json:"delays,omitempty"`
}

// DelayCounts are counts of the packets that have one delay.
type DelayCounts struct {
	DelayMicroseconds int64 `json:"delayMicroseconds"` // of each packet
	Packets           int64 `json:"packets"`
	LateMicroseconds  int64 `json:"lateMicroseconds"` // beyond the delay, in sum
}

// HeldUpLeast is by how much a packet is late that might as well have been held up by a fault.
const HeldUpLeast = 100 * time.Millisecond

// RoundTripRequest asks an agent to measure the round trips to addresses.
type RoundTripRequest struct {
	Addresses []string `json:"addresses"`
	// Samples for each address, and the time between two.
	Samples              int   `json:"samples"`
	IntervalMilliseconds int64 `json:"intervalMilliseconds"`
	// TimeoutMilliseconds after which a sample is given up.
	TimeoutMilliseconds int64 `json:"timeoutMilliseconds"`
}

// RoundTrips are what an agent measured, in the order of the addresses.
type RoundTrips struct {
	RoundTrips []RoundTrip `json:"roundTrips"`
}

// RoundTrip to an address: how long it takes to open a connection, which is one packet there and one back between the kernels. A
// refusal is an answer too.
type RoundTrip struct {
	Address         string `json:"address"`
	Samples         int64  `json:"samples"` // that were answered; 0: the figures are none
	P50Microseconds int64  `json:"p50Microseconds"`
	P99Microseconds int64  `json:"p99Microseconds"` // by nearest rank
	Why             string `json:"why,omitempty"`   // samples are missing
}
