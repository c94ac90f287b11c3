package wire

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RecorderPathLive of the recorder's control port: GET RecorderLive, with so many of the last seconds as RecorderLiveSeconds asks for.
const (
	RecorderPathLive    = "/live"
	RecorderLiveSeconds = "seconds" // query: 1 to RecorderLiveMost, which is what is told without it
	RecorderLiveMost    = 60
)

// RecorderLive is what the recorder knows while the load runs, for people who watch. It is told from what the results are made of; nothing is
// decided by it.
type RecorderLive struct {
	RecorderState
	// Nodes are in the order of Second.LagMicroseconds.
	Nodes []string `json:"nodes"`
	// FormerPrimaries took writes before another node did: what they lack is no lag of a replica, as in LagResult.
	FormerPrimaries []string `json:"formerPrimaries,omitempty"`
	// Stages are all, in their order.
	Stages []LiveStage `json:"stages"`
	// Recent are the last seconds of the load that are over, as the timeline has them.
	Recent []Second `json:"recent,omitempty"`
}

// LiveStage is how far a stage has come.
type LiveStage struct {
	Name            string `json:"name"`
	DurationSeconds int64  `json:"durationSeconds"` // as planned
	// StartedAt is the first arrival, absent without one.
	StartedAt *metav1.MicroTime `json:"startedAt,omitempty"`
	Requests  int64             `json:"requests"` // that have ended
	Failures  int64             `json:"failures"` // of these
}
