package distance

import (
	"errors"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
)

func TestWhatAnAgentDidNotDoIsAskedForAgain(t *testing.T) {
	l := newLab()
	l.failing = "10.0.0.1"
	if err := Set(t.Context(), l.Scene); !errors.Is(err, errAway) || (*l.Status).Nodes[1].Problem != v1alpha1.LinkNotSet || (*l.Status).Nodes[1].Note == "" {
		t.Errorf("%v, %+v", err, (*l.Status).Nodes)
	}
	l.failing, l.calls = "", nil
	must(t, Set(t.Context(), l.Scene))
	if len(l.calls) != 1 || (*l.Status).Nodes[1].Problem != "" || (*l.Status).Nodes[1].Note != "" {
		t.Errorf("asked again: %v; %+v", l.calls, (*l.Status).Nodes[1])
	}
	l.failing = "10.0.0.1"
	if err := Measure(t.Context(), l.Scene, AfterLoad); err == nil || (*l.Status).RoundTrips[0].After == nil || (*l.Status).RoundTrips[3].After != nil {
		t.Errorf("%v, %+v", err, (*l.Status).RoundTrips)
	}
	l.failing, l.answered = "", samples/2-1
	if err := Measure(t.Context(), l.Scene, AfterLoad); err == nil || !strings.Contains((*l.Status).RoundTrips[3].Note, "24 of 50 samples were answered: timeout") {
		t.Errorf("too few samples: %v, %+v", err, (*l.Status).RoundTrips[3])
	}
	l.answered = 0
	must(t, Measure(t.Context(), l.Scene, AfterLoad))
	if r := (*l.Status).RoundTrips[3]; r.After == nil || r.Note != "" || r.Before != nil {
		t.Errorf("%+v", r)
	}
	l.failing = "10.0.0.1"
	if err := ReadCounts(t.Context(), l.Scene); !errors.Is(err, errAway) || (*l.Status).Nodes[1].Problem != v1alpha1.LinkNotRead {
		t.Errorf("%v, %+v", err, (*l.Status).Nodes[1])
	}
	if err := Clear(t.Context(), l.Scene); !errors.Is(err, errAway) || (*l.Status).RemovedTime != nil {
		t.Errorf("%v, removed at %s", err, (*l.Status).RemovedTime)
	}
	l.failing = ""
	must(t, ReadCounts(t.Context(), l.Scene))
	must(t, Clear(t.Context(), l.Scene))
	if n := (*l.Status).Nodes[1]; n.Problem != "" || n.Note != "" || *n.DelayedPackets != 9 || (*l.Status).RemovedTime == nil || len(l.given) > 0 {
		t.Errorf("%+v", n)
	}
}

func TestLinksThatAreNotEndedAreNotTakenForNone(t *testing.T) {
	l := newLab()
	must(t, Set(t.Context(), l.Scene))
	if err := Measure(t.Context(), l.Scene, WithoutDistance); err == nil || !strings.Contains(err.Error(), "is to be 0 µs, and is 87300 µs") {
		t.Error(err)
	}
}

// TestLinksThatWereNotKeptStayAProblem, whatever comes after: packets passed that were to be held up.
func TestLinksThatWereNotKeptStayAProblem(t *testing.T) {
	l := newLab()
	must(t, Set(t.Context(), l.Scene))
	l.broken = "read the packet queue: broken"
	Look(t.Context(), l.Scene)
	l.broken, l.failing = "", "10.0.0.2"
	if err := ReadCounts(t.Context(), l.Scene); err == nil {
		t.Error("an agent that does not answer is no error")
	}
	l.failing, l.Pods[2].UID, l.sessions["10.0.0.2"] = "", "uid-next", "2"
	must(t, Set(t.Context(), l.Scene))
	must(t, ReadCounts(t.Context(), l.Scene))
	if n := (*l.Status).Nodes[2]; n.Problem != v1alpha1.LinkNotKept || n.Note != "read the packet queue: broken" {
		t.Errorf("%+v", n)
	}
}

func TestLinksThatWereNotSetAgainInTheEnd(t *testing.T) {
	l := newLab()
	must(t, Set(t.Context(), l.Scene))
	l.Pods[2].UID = "uid-next"
	must(t, ReadCounts(t.Context(), l.Scene))
	if n := (*l.Status).Nodes[2]; n.Problem != v1alpha1.LinkNotSetAgain || n.Note == "" {
		t.Errorf("%+v", n)
	}
}
