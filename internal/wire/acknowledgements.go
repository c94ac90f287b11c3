package wire

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
