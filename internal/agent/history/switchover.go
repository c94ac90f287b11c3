package history

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// ErrRefused says that a planned change cannot be made now.
var ErrRefused = errors.New("refused")

// New tells whether a planned change is asked for under a new name. The error is ErrRefused while another one is under way.
func (h *History) New(name string) (bool, error) {
	if slices.ContainsFunc(h.Switchovers, func(s wire.Switchover) bool { return s.Name == name }) {
		return false, nil
	}
	if open := h.UnderWay(); open != nil {
		return false, fmt.Errorf("%w: %s is under way", ErrRefused, open.Name)
	}
	return true, nil
}

// Ask notes a planned change that begins.
func (h *History) Ask(name, from string, at time.Time) {
	h.Switchovers = Add(h.Switchovers, wire.Switchover{Name: name, From: from, RequestedAt: metav1.NewMicroTime(at)})
}

// End notes how the planned change that is under way has ended.
func (h *History) End(at time.Time, outcome, to, why string) {
	s := &h.Switchovers[len(h.Switchovers)-1]
	s.EndedAt, s.Outcome, s.To, s.Why = moment(at), outcome, to, why
}

// UnderWay is the planned change that has not ended, nil without one.
func (h *History) UnderWay() *wire.Switchover {
	if last := len(h.Switchovers) - 1; last >= 0 && h.Switchovers[last].Outcome == "" {
		return &h.Switchovers[last]
	}
	return nil
}

// Told is the history as it is told at a moment, with the ages of the planned changes.
func (h *History) Told(now time.Time) wire.NodeHistory {
	told := wire.NodeHistory{Terms: h.Terms, Absences: h.Absences, Switchovers: slices.Clone(h.Switchovers)}
	for i := range told.Switchovers {
		s := &told.Switchovers[i]
		s.AgeMilliseconds = max(now.Sub(s.RequestedAt.Time), 0).Milliseconds()
	}
	return told
}
