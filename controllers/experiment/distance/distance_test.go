package distance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

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
		if n.Interruptions != 1 || n.Problem != "" || n.SetTime == nil {
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
		if n := (*l.Status).Nodes; !restarted(n[0]) || restarted(n[1]) {
			t.Errorf("%s: %+v, want the problem of the first alone", name, n)
		}
	}
}

func restarted(n v1alpha1.LinkedNodeStatus) bool {
	return n.Problem == v1alpha1.LinkNotKept && strings.Contains(n.Note, "its agent restarted")
}

// TestAnAgentWithoutLinksHasNoLapse: one that is started anew while it has nothing to delay is none that delayed nothing meanwhile.
func TestAnAgentWithoutLinksHasNoLapse(t *testing.T) {
	for name, look := range map[string]func(*lab) error{
		"and is seen then":       func(l *lab) error { return ReadCounts(t.Context(), l.Scene) },
		"and is seen by the end": func(*lab) error { return nil },
	} {
		l := newLab()
		must(t, Set(t.Context(), l.Scene))
		l.WithoutDistance = true
		must(t, Set(t.Context(), l.Scene))
		l.sessions["10.0.0.0"] = "2"
		must(t, look(l))
		l.WithoutDistance = false
		must(t, Set(t.Context(), l.Scene))
		must(t, ReadCounts(t.Context(), l.Scene))
		if n := (*l.Status).Nodes[0]; n.Problem != "" || n.Session != "session2" {
			t.Errorf("%s: %+v, want no problem", name, n)
		}
		l.sessions["10.0.0.0"] = "3"
		must(t, ReadCounts(t.Context(), l.Scene))
		if n := (*l.Status).Nodes[0]; !restarted(n) {
			t.Errorf("%s: %+v of one that is started anew with links", name, n)
		}
	}
}

// TestAnAgentThatLostItsLinksBeforeTheyWereEndedHasALapse.
func TestAnAgentThatLostItsLinksBeforeTheyWereEndedHasALapse(t *testing.T) {
	l := newLab()
	must(t, Set(t.Context(), l.Scene))
	l.sessions["10.0.0.0"], l.WithoutDistance = "2", true
	must(t, Set(t.Context(), l.Scene))
	if n := (*l.Status).Nodes[0]; !restarted(n) {
		t.Errorf("%+v, want the problem that it restarted", n)
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

// TestCountsAreOfTheLastAgent that delayed packets, as far as it was asked.
func TestCountsAreOfTheLastAgent(t *testing.T) {
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
	l.Pods[2].UID, l.sessions["10.0.0.2"], l.packets, l.bare["10.0.0.2"] = "uid-next", "2", 30, true
	must(t, Set(t.Context(), l.Scene))
	if n := node(); *n.DelayedPackets != 100 || n.Interruptions != 1 || n.Problem != "" {
		t.Errorf("of one that has not delayed yet: %+v", n)
	}
	delete(l.bare, "10.0.0.2")
	must(t, ReadCounts(t.Context(), l.Scene))
	if n := node(); *n.DelayedPackets != 30 || *n.LatePackets != 10 || *n.LatestMicroseconds != 30 || *n.DroppedPackets != 0 || n.Problem != "" {
		t.Errorf("%+v", n)
	}
}

// TestPacketsThatAReplacedPodDroppedStayAProblem, and so does that their number is unknown.
func TestPacketsThatAReplacedPodDroppedStayAProblem(t *testing.T) {
	for want, dropped := range map[string]*int64{"3 packets were dropped": ptr.To[int64](3), "is unknown": nil} {
		l := newLab()
		must(t, Set(t.Context(), l.Scene))
		(*l.Status).Nodes[2].DroppedPackets = dropped
		l.Pods[2].UID, l.sessions["10.0.0.2"] = "uid-next", "2"
		must(t, Set(t.Context(), l.Scene))
		must(t, ReadCounts(t.Context(), l.Scene))
		if n := (*l.Status).Nodes[2]; n.Problem != v1alpha1.LinkNotKept || !strings.Contains(n.Note, want) {
			t.Errorf("%+v, want %s", n, want)
		}
	}
}
