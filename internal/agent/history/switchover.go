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
func (h *History) Ask(name string, at time.Time) {
	h.Switchovers = Add(h.Switchovers, wire.Switchover{Name: name, RequestedAt: metav1.NewMicroTime(at)})
}

// UnderWay is the planned change that has not ended, nil without one.
func (h *History) UnderWay() *wire.Switchover {
	if last := len(h.Switchovers) - 1; last >= 0 && h.Switchovers[last].Outcome == "" {
		return &h.Switchovers[last]
	}
	return nil
}

// Aged are the planned changes with their ages at a moment.
func (h *History) Aged(now time.Time) []wire.Switchover {
	told := slices.Clone(h.Switchovers)
	for i := range told {
		told[i].AgeMilliseconds = max(now.Sub(told[i].RequestedAt.Time), 0).Milliseconds()
	}
	return told
}
