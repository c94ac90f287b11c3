package wire

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LoadEnv is the environment variable that carries LoadConfig as JSON to the k6 script; URLEnv the recorder's address.
// SummaryEnv is the file that K6Summary is written to, by default the pod's termination message, /dev/termination-log.
const (
	LoadEnv    = "REPLAB_LOAD"
	URLEnv     = "REPLAB_URL"
	SummaryEnv = "REPLAB_SUMMARY"
)

// LoadConfig is what the built-in k6 script is told.
type LoadConfig struct {
	Stages   []LoadStage    `json:"stages"`
	Mix      map[string]int `json:"mix"`      // register, profile, search, login, update: weights
	Users    int64          `json:"users"`    // seeded users: ids 1..Users
	Prefixes [][2]string    `json:"prefixes"` // first and last name prefixes to search for
}

// LoadStage is one stage; at most one of Users and RequestsPerSecond is above 0. With neither the built-in script rests.
type LoadStage struct {
	Name              string `json:"name"`
	StartSeconds      int64  `json:"startSeconds"`
	DurationSeconds   int64  `json:"durationSeconds"`
	Users             int64  `json:"users,omitempty"`
	SpawnPerSecond    int64  `json:"spawnPerSecond,omitempty"` // users come at this rate, the first at once; 0: all at once
	RequestsPerSecond int64  `json:"requestsPerSecond,omitempty"`
	MaxUsers          int64  `json:"maxUsers,omitempty"`
}

// K6Summary is what a k6 pod leaves in its termination message, at most 4 KiB of JSON.
type K6Summary struct {
	Version           int              `json:"v"` // 1
	Requests          int64            `json:"requests"`
	FailedRequests    int64            `json:"failed"`
	Registered        int64            `json:"registered"` // 2xx answers to a register, absent for a user's own script
	RegisteredKnown   bool             `json:"registeredKnown"`
	DroppedIterations int64            `json:"dropped"`
	Stages            []K6StageSummary `json:"stages,omitempty"`
}

// K6StageSummary is one stage as k6 saw it.
type K6StageSummary struct {
	Name                      string `json:"name"`
	Requests                  int64  `json:"requests"` // as of all stages: those that k6 gave up at a stage's end are not counted
	FailedRequests            int64  `json:"failed"`   // of Requests
	Iterations                int64  `json:"iterations"`
	IterationMeanMicroseconds int64  `json:"iterationMeanMicroseconds"`
	DroppedIterations         int64  `json:"dropped"`
}

// LaunchConfig configures `replab launch`, which starts a program whose configuration file must hold passwords.
type LaunchConfig struct {
	Argv []string `json:"argv"`
	// Template is the file without the passwords: @secret:NAME@ stands where the secret NAME is to be.
	Template  string `json:"template"`
	File      string `json:"file"` // the whole one, which the program reads; in memory
	SecretDir string `json:"secretDir"`
}

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
	// StartedAt is the first arrival, absent without one. A stage at rest begins as planned.
	StartedAt *metav1.MicroTime `json:"startedAt,omitempty"`
	Requests  int64             `json:"requests"` // that have ended
	Failures  int64             `json:"failures"` // of these
}

// Acknowledgements tell when writes of the load were acknowledged, by the ledger: one bit for each step of time.
type Acknowledgements struct {
	From             metav1.MicroTime `json:"from"` // the load's start, where the first step begins
	StepMilliseconds int64            `json:"stepMilliseconds"`
	// Marks has bit i%8 of byte i/8 set when a write was acknowledged in step i. What it has no byte for has no mark.
	Marks []byte `json:"marks"`
}

const (
	acknowledgementStep = 100 * time.Millisecond
	// maxMarks bounds Marks: a day and a half. What was acknowledged later has no mark.
	maxMarks = 160 << 10
)

// NewAcknowledgements returns an empty record of a load.
func NewAcknowledgements(from time.Time) *Acknowledgements {
	return &Acknowledgements{From: metav1.NewMicroTime(from), StepMilliseconds: acknowledgementStep.Milliseconds()}
}

// Mark notes an acknowledgement.
func (a *Acknowledgements) Mark(at time.Time) {
	since := at.Sub(a.From.Time)
	i := int(since / a.step())
	if since < 0 || i/8 >= maxMarks {
		return
	}
	for len(a.Marks) <= i/8 {
		a.Marks = append(a.Marks, 0)
	}
	a.Marks[i/8] |= 1 << (i % 8)
}

// LastBefore returns when the last write before a time was acknowledged at the earliest: the beginning of the last whole step
// with a mark. It is false when there is none.
func (a *Acknowledgements) LastBefore(at time.Time) (last time.Time, some bool) {
	if a == nil || a.StepMilliseconds <= 0 || at.Before(a.From.Time) {
		return time.Time{}, false
	}
	for i := min(int(at.Sub(a.From.Time)/a.step()), 8*len(a.Marks)) - 1; i >= 0; i-- {
		if a.Marks[i/8]&(1<<(i%8)) != 0 {
			return a.From.Add(time.Duration(i) * a.step()), true
		}
	}
	return time.Time{}, false
}

func (a *Acknowledgements) step() time.Duration {
	return time.Duration(a.StepMilliseconds) * time.Millisecond
}
