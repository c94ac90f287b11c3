// Package history is what an agent knows of its node beyond its own life: when the node was the writer, when it was out of its place, and
// which planned changes it was asked for.
package history

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// kept bounds how many of each are kept, so that nodes that never come to rest fill no disk.
const kept = 1000

// History of a node. Terms, absences and planned changes are in their order; the last of each may still last.
type History struct {
	Terms       []wire.WriterTerm `json:"terms,omitempty"`
	Absences    []wire.Absence    `json:"absences,omitempty"`
	Switchovers []wire.Switchover `json:"switchovers,omitempty"`
	// Was tells that the node was once in its place.
	Was bool `json:"was,omitempty"`
	// Writer was the last node known to have had the writes, this node or another.
	Writer string `json:"writer,omitempty"`
	// Server is the server's process that was seen last.
	Server string `json:"server,omitempty"`
}

// Clone returns a history that can be changed without changing this one.
func (h History) Clone() History {
	h.Terms, h.Absences, h.Switchovers = slices.Clone(h.Terms), slices.Clone(h.Absences), slices.Clone(h.Switchovers)
	return h
}

// Add appends an entry to the latest ones.
func Add[T any](all []T, one T) []T { return append(all[max(0, len(all)-kept+1):], one) }

// Saw notes the server's process, "" for none.
func (h *History) Saw(server string) {
	if server != "" {
		h.Server = server
	}
}

// BeginTerm adds a term.
func (h *History) BeginTerm(t wire.WriterTerm) { h.Terms = Add(h.Terms, t) }

// EndTerm ends the last term.
func (h *History) EndTerm(at time.Time) {
	h.Terms[len(h.Terms)-1].To = moment(at)
}

// LastTerm is when the last term ended, or began where its end is not known. It is zero without a term.
func (h *History) LastTerm() time.Time {
	if len(h.Terms) == 0 {
		return time.Time{}
	}
	last := h.Terms[len(h.Terms)-1]
	if last.To != nil {
		return last.To.Time
	}
	return last.From.Time
}

// Away is the absence that lasts, nil while the node is in its place, and before it first was.
func (h *History) Away() *wire.Absence {
	if last := len(h.Absences) - 1; last >= 0 && h.Absences[last].BackAt == nil {
		return &h.Absences[last]
	}
	return nil
}

// Leave begins an absence, of a node that was in its place.
func (h *History) Leave(at time.Time) {
	if h.Was && h.Away() == nil {
		h.Absences = Add(h.Absences, wire.Absence{LeftAt: *moment(at)})
	}
}

// Back ends an absence, where one lasts, and returns it.
func (h *History) Back(at time.Time) *wire.Absence {
	h.Was = true
	a := h.Away()
	if a != nil {
		a.BackAt = moment(at)
	}
	return a
}

// LastBack is when the last absence ended, zero where none has.
func (h *History) LastBack() time.Time {
	for _, a := range slices.Backward(h.Absences) {
		if a.BackAt != nil {
			return a.BackAt.Time
		}
	}
	return time.Time{}
}

func moment(at time.Time) *metav1.MicroTime {
	t := metav1.NewMicroTime(at)
	return &t
}

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
