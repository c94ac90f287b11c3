package distance

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
)

// TestWhoIsHowFarFromWhom: two nodes share a round trip, a node bears that to the app alone; instruments and the director are near.
func TestWhoIsHowFarFromWhom(t *testing.T) {
	l := newLab()
	must(t, Set(t.Context(), l.Scene))
	for ip, want := range map[string]string{
		"10.0.0.0": "[{10.0.0.2 43500} {10.0.1.0 87000} {10.0.1.1 87000}]",
		"10.0.0.1": "[{10.0.0.2 43500} {10.0.1.0 87000} {10.0.1.1 87000}]",
		"10.0.0.2": "[{10.0.0.0 43500} {10.0.0.1 43500}]",
	} {
		if got := fmt.Sprint(l.given[ip].Peers); got != want {
			t.Errorf("%s delays %s, want %s", ip, got, want)
		}
	}
	must(t, Measure(t.Context(), l.Scene, BeforeLoad))
	var pairs []string
	for _, r := range (*l.Status).RoundTrips {
		pairs = append(pairs, fmt.Sprintf("%s>%s %d %d", r.From, r.To, r.RequestedMicroseconds, r.Before.P50Microseconds))
	}
	if got := strings.Join(pairs, ", "); got != "x-db-0>x-db-2 87000 87300, x-db-0>x-social-a 87000 87300, x-db-0>x-proxy-a 87000 87300, "+
		"x-db-1>x-db-2 87000 87300, x-db-1>x-social-a 87000 87300, x-db-1>x-proxy-a 87000 87300" {
		t.Errorf("measured: %s", got)
	}
}

func TestLinksAreSetAgainWhereAPodHasComeIntoAnothersPlace(t *testing.T) {
	l := newLab()
	must(t, Set(t.Context(), l.Scene))
	l.calls = nil
	must(t, Set(t.Context(), l.Scene))
	if len(l.calls) > 0 {
		t.Errorf("nothing has changed: %v", l.calls)
	}
	l.Pods[2].Status.PodIP = ""
	if err := Set(t.Context(), l.Scene); err == nil || len(l.calls) > 0 {
		t.Errorf("while a pod is away: %v, %v", err, l.calls)
	}
	l.Pods[2].UID, l.Pods[2].Status.PodIP = "uid-next", "10.0.0.9"
	must(t, Set(t.Context(), l.Scene))
	if got := strings.Join(l.calls, ", "); got != "set 10.0.0.0, set 10.0.0.1, set 10.0.0.9" {
		t.Errorf("with another pod: %s", got)
	}
	for _, n := range (*l.Status).Nodes {
		if n.Resets != 1 || n.Lapses != 0 || n.SetTime == nil {
			t.Errorf("%+v", n)
		}
	}
}

func TestAnAgentThatWasStartedAnewIsNoticed(t *testing.T) {
	for name, again := range map[string]func(*lab) error{
		"when links are set again": func(l *lab) error {
			l.Pods[3].Status.PodIP = "10.0.1.9" // of the app
			return Set(t.Context(), l.Scene)
		},
		"in the end": func(l *lab) error { return ReadCounts(t.Context(), l.Scene) },
	} {
		l := newLab()
		must(t, Set(t.Context(), l.Scene))
		l.sessions["10.0.0.0"] = "2"
		must(t, again(l))
		must(t, ReadCounts(t.Context(), l.Scene))
		if n := (*l.Status).Nodes; n[0].Lapses != 1 || n[1].Lapses != 0 {
			t.Errorf("%s: %d and %d lapses, want 1 and 0", name, n[0].Lapses, n[1].Lapses)
		}
	}
}

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
		if want := map[bool]int64{true: 1, false: 0}[i < 2]; n.WithoutDistance || n.LinkedTime == nil || !n.LinkedTime.Time.Equal(set) || !n.LinkingTime.Time.Equal(set.Add(-time.Millisecond)) || n.Resets != want {
			t.Errorf("%+v, want %d resets, and set at first at %s", n, want, set)
		}
	}
}

func TestLinksThatAreNotEndedAreNotTakenForNone(t *testing.T) {
	l := newLab()
	must(t, Set(t.Context(), l.Scene))
	if err := Measure(t.Context(), l.Scene, WithoutDistance); err == nil || !strings.Contains(err.Error(), "is to be 0 µs, and is 87300 µs") {
		t.Error(err)
	}
}

// restart has another operator go on, which knows what is in the status.
func (l *lab) restart(t *testing.T) {
	t.Helper()
	text, err := json.Marshal(*l.Status)
	must(t, err)
	var status *v1alpha1.DistanceStatus
	must(t, json.Unmarshal(text, &status))
	next := *l.Scene
	next.Status, next.WithoutDistance = &status, false
	l.Scene = &next
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
	if n := nodes[2]; *n.DelayedPackets != 50+70 || n.Earlier == nil || *n.Earlier.DelayedPackets != 50 || n.Replacements != 1 || n.Resets != 0 || n.Lapses != 0 || n.LinkedTime == nil {
		t.Errorf("of the pod that was replaced: %+v, earlier %+v", n, n.Earlier)
	}
	if n := nodes[0]; *n.DelayedPackets != 70 || n.Earlier != nil || n.Replacements != 0 {
		t.Errorf("of a pod that stayed: %+v", n)
	}
	if r := (*l.Status).RoundTrips[0]; r.Before == nil || r.WithoutDistance == nil || r.After != nil {
		t.Errorf("%+v", r)
	}
}

// TestWhatOneAgentCannotTellNobodyTells: netem does not know of lateness, so that of both together is not known.
func TestWhatOneAgentCannotTellNobodyTells(t *testing.T) {
	l := newLab()
	must(t, Set(t.Context(), l.Scene))
	l.Pods[2].UID, l.sessions["10.0.0.2"], l.silent = "uid-next", "2", true
	must(t, Set(t.Context(), l.Scene))
	must(t, ReadCounts(t.Context(), l.Scene))
	if n := (*l.Status).Nodes[2]; *n.DelayedPackets != 18 || *n.DroppedPackets != 0 || n.LatePackets != nil || n.LatestMicroseconds != nil {
		t.Errorf("%+v", n)
	}
}

// TestWhatAPodHadCountedIsKeptWhenItIsReplaced as far as it was asked.
func TestWhatAPodHadCountedIsKeptWhenItIsReplaced(t *testing.T) {
	l := newLab()
	must(t, Set(t.Context(), l.Scene))
	Look(t.Context(), l.Scene)
	l.packets, l.now = 100, l.now.Add(lookInterval-time.Second)
	Look(t.Context(), l.Scene)
	node := func() v1alpha1.LinkedNodeStatus { return (*l.Status).Nodes[2] }
	if got := *node().DelayedPackets; got != 9 {
		t.Errorf("asked again at once: %d packets", got)
	}
	l.now = l.now.Add(time.Second)
	l.failing = "10.0.0.2"
	Look(t.Context(), l.Scene)
	if n := node(); *n.DelayedPackets != 9 || n.Problem != "" {
		t.Errorf("it did not answer: %+v", n)
	}
	l.failing, l.now = "", l.now.Add(lookInterval)
	Look(t.Context(), l.Scene)
	l.Pods[2].UID, l.sessions["10.0.0.2"], l.packets = "uid-next", "2", 30
	must(t, Set(t.Context(), l.Scene))
	must(t, ReadCounts(t.Context(), l.Scene))
	must(t, ReadCounts(t.Context(), l.Scene))
	n := node()
	if *n.DelayedPackets != 130 || *n.LatePackets != 43 || *n.LatestMicroseconds != 100 || *n.DroppedPackets != 0 || n.Earlier == nil || *n.Earlier.DelayedPackets != 100 || n.Lapses != 0 {
		t.Errorf("%+v, earlier %+v", n.LinkCounts, n.Earlier)
	}
	if n := (*l.Status).Nodes[0]; *n.DelayedPackets != 30 || n.Earlier != nil {
		t.Errorf("of a pod that stayed: %+v", n)
	}
}
