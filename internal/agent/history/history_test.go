package history

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

func at(seconds int) time.Time { return time.Date(2026, 1, 1, 0, 0, seconds, 0, time.UTC) }

func TestAnAbsenceBeginsAfterTheFirstPlace(t *testing.T) {
	var h History
	h.Leave(at(1))
	if h.Away() != nil || h.Back(at(2)) != nil || !h.LastBack().IsZero() {
		t.Fatalf("before its first place it is away: %+v", h.Absences)
	}
	h.Leave(at(3))
	h.Leave(at(4))
	if a := h.Away(); a == nil || !a.LeftAt.Time.Equal(at(3)) {
		t.Fatalf("absence %+v, want one since it left", a)
	}
	if a := h.Back(at(5)); a == nil || !h.LastBack().Equal(at(5)) || h.Away() != nil || len(h.Absences) != 1 {
		t.Errorf("it is back by %+v", h.Absences)
	}
}

func TestTheLastTermEndsOrLasts(t *testing.T) {
	var h History
	if !h.LastTerm().IsZero() {
		t.Error("without a term there is a last one")
	}
	h.BeginTerm(wire.WriterTerm{From: metav1.NewMicroTime(at(1))})
	if !h.LastTerm().Equal(at(1)) {
		t.Errorf("while it lasts: %s", h.LastTerm())
	}
	h.EndTerm(at(2))
	if !h.LastTerm().Equal(at(2)) {
		t.Errorf("once it has ended: %s", h.LastTerm())
	}
}

func TestTheLatestEntriesAreKept(t *testing.T) {
	var h History
	for i := range kept + 2 {
		h.BeginTerm(wire.WriterTerm{From: metav1.NewMicroTime(at(i))})
	}
	if len(h.Terms) != kept || !h.Terms[0].From.Time.Equal(at(2)) {
		t.Errorf("%d terms since %s", len(h.Terms), h.Terms[0].From)
	}
}

func TestACloneIsChangedAlone(t *testing.T) {
	h := History{Was: true}
	h.Leave(at(1))
	clone := h.Clone()
	clone.Back(at(2))
	clone.Leave(at(3))
	if len(h.Absences) != 1 || h.Away() == nil {
		t.Errorf("the first has %+v", h.Absences)
	}
}
