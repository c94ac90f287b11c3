package distance

import (
	"strings"
	"testing"
	"time"
)

// TestARoundTripThatIsOffIsMeasuredAgain before the load; what it is after it is what it was.
func TestARoundTripThatIsOffIsMeasuredAgain(t *testing.T) {
	l := newLab()
	must(t, Set(t.Context(), l.Scene))
	l.p50 = 92_000
	err := Measure(t.Context(), l.Scene, BeforeLoad)
	if err == nil || !strings.Contains(err.Error(), "from x-db-1 to x-proxy-a is to be 87000 µs, and is 92000 µs") || Began(l.Scene) {
		t.Errorf("%v", err)
	}
	l.p50, l.calls = 91_000, nil
	must(t, Measure(t.Context(), l.Scene, BeforeLoad))
	if r := (*l.Status).RoundTrips[0]; len(l.calls) != 2 || r.Before.P50Microseconds != 91_000 || !Began(l.Scene) {
		t.Errorf("%v, %+v", l.calls, r)
	}
	l.p50, l.calls = 92_000, nil
	must(t, Measure(t.Context(), l.Scene, BeforeLoad))
	must(t, Measure(t.Context(), l.Scene, AfterLoad))
	must(t, Measure(t.Context(), l.Scene, AfterLoad))
	if r := (*l.Status).RoundTrips[0]; len(l.calls) != 2 || r.Before.P50Microseconds != 91_000 || r.After.P50Microseconds != 92_000 {
		t.Errorf("%v, %+v", l.calls, r)
	}
}

// TestStagesWithoutDistanceComeFirst has stages without distance before the others: what is ended for them and set after them is no reset.
func TestStagesWithoutDistanceComeFirst(t *testing.T) {
	l := newLab()
	must(t, Set(t.Context(), l.Scene))
	must(t, Measure(t.Context(), l.Scene, BeforeLoad))
	l.WithoutDistance = true
	must(t, Set(t.Context(), l.Scene))
	if n := len(l.given["10.0.0.0"].Peers); n != 0 || !(*l.Status).Nodes[0].WithoutDistance {
		t.Errorf("%d addresses are at a distance: %+v", n, (*l.Status).Nodes[0])
	}
	must(t, Measure(t.Context(), l.Scene, WithoutDistance))
	if r := (*l.Status).RoundTrips[0]; r.WithoutDistance.P50Microseconds != 300 || r.Before.P50Microseconds != 87_300 {
		t.Errorf("%+v", r)
	}
	l.calls, l.now = nil, l.now.Add(time.Minute)
	must(t, Set(t.Context(), l.Scene))
	l.WithoutDistance = false
	must(t, Set(t.Context(), l.Scene))
	must(t, Set(t.Context(), l.Scene))
	if len(l.calls) != 3 || len(l.given["10.0.0.0"].Peers) != 3 {
		t.Errorf("%v, %+v", l.calls, l.given)
	}
	set := l.now.Add(time.Millisecond)
	l.now = l.now.Add(time.Minute)
	l.Pods[3].Status.PodIP = "10.0.1.9" // of the app, to which node 2 is near
	must(t, Set(t.Context(), l.Scene))
	for i, n := range (*l.Status).Nodes {
		if want := map[bool]int64{true: 1, false: 0}[i < 2]; n.WithoutDistance || n.LinkedTime == nil || !n.LinkedTime.Time.Equal(set) || !n.LinkingTime.Time.Equal(set.Add(-time.Millisecond)) || n.Interruptions != want {
			t.Errorf("%+v, want %d interruptions, and set at first at %s", n, want, set)
		}
	}
}

// TestWhatWasSeenBeforeTheStagesWithoutDistanceIsKept, and during them, whoever is the operator: counts, round trips, and that a pod was
// replaced.
func TestWhatWasSeenBeforeTheStagesWithoutDistanceIsKept(t *testing.T) {
	l := newLab()
	must(t, Set(t.Context(), l.Scene))
	must(t, Measure(t.Context(), l.Scene, BeforeLoad))
	l.packets, l.WithoutDistance = 50, true // by the measurement
	must(t, Set(t.Context(), l.Scene))
	must(t, Measure(t.Context(), l.Scene, WithoutDistance))
	l.restart(t)
	l.Pods[2].UID, l.sessions["10.0.0.2"], l.bare["10.0.0.2"] = "uid-next", "2", true
	l.WithoutDistance = true
	must(t, Set(t.Context(), l.Scene))
	l.restart(t)
	delete(l.bare, "10.0.0.2")
	l.packets = 70
	must(t, Set(t.Context(), l.Scene))
	must(t, ReadCounts(t.Context(), l.Scene))
	nodes := (*l.Status).Nodes
	if n := nodes[2]; *n.DelayedPackets != 70 || n.Interruptions != 1 || n.Problem != "" || n.LinkedTime == nil {
		t.Errorf("of the pod that was replaced: %+v", n)
	}
	if n := nodes[0]; *n.DelayedPackets != 70 || n.Interruptions != 0 {
		t.Errorf("of a pod that stayed: %+v", n)
	}
	if r := (*l.Status).RoundTrips[0]; r.Before == nil || r.WithoutDistance == nil || r.After != nil {
		t.Errorf("%+v", r)
	}
}
