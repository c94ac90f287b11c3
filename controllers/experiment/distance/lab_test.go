package distance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
)

// lab plays the agents of a scene: what they were last given, by their addresses, and the round trips that follow from it.
type lab struct {
	*Scene
	given    map[string]wire.Links
	calls    []string
	sessions map[string]string
	failing  string          // the address of an agent that does not answer
	answered int             // of the samples; 0 for all
	p50      int64           // of each round trip, in microseconds, while links stand
	packets  int64           // that each agent has delayed
	bare     map[string]bool // agents that have not delayed yet
	silent   bool            // agents do not tell of lateness
	broken   string          // what agents say has failed
	now      time.Time
	ahead    time.Duration // the agents' clocks, of now
}

func newLab() *lab {
	var status *v1alpha1.DistanceStatus
	l := &lab{given: map[string]wire.Links{}, sessions: map[string]string{}, bare: map[string]bool{}, p50: 87_300, packets: 9, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	l.Scene = &Scene{
		Spec: &v1alpha1.ReplicationExperimentSpec{
			Topology: v1alpha1.TopologySpec{
				Nodes: 3, Zones: []v1alpha1.Zone{{Name: "eu", Nodes: []int32{0, 1}}, {Name: "us", Nodes: []int32{2}}},
				Links: []v1alpha1.Link{{From: "eu", To: "us", RoundTripMilliseconds: 87}},
			},
			App: v1alpha1.AppSpec{Zone: "us"},
		},
		Status: &status, Nodes: []string{"x-db-0", "x-db-1", "x-db-2"}, Agents: l,
		Now:   func() time.Time { return l.now },
		Token: func(context.Context) (string, error) { return "token", nil },
	}
	for i, name := range []string{"x-db-0", "x-db-1", "x-db-2"} {
		l.Pods = append(l.Pods, pod(name, kube.ComponentNode, fmt.Sprintf("10.0.0.%d", i)))
	}
	l.Pods = append(l.Pods, pod("x-social-a", kube.ComponentSocial, "10.0.1.0"), pod("x-proxy-a", kube.ComponentProxy, "10.0.1.1"),
		pod("x-recorder-a", kube.ComponentRecorder, "10.0.1.2"), pod("x-director-a", kube.ComponentManager, "10.0.1.3"))
	return l
}

func pod(name, component, ip string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{kube.LabelComponent: component}},
		Status:     corev1.PodStatus{PodIP: ip, Phase: corev1.PodRunning},
	}
}

var errAway = errors.New("no route to host")

func (l *lab) SetLinks(_ context.Context, _ string, calls []Call) []Answer {
	answers := make([]Answer, len(calls))
	for i, c := range calls {
		l.calls = append(l.calls, "set "+c.PodIP)
		if c.PodIP == l.failing {
			answers[i].Err = errAway
			continue
		}
		l.given[c.PodIP] = c.Links
		answers[i].LinksState = l.state(c.PodIP)
	}
	return answers
}

func (l *lab) state(ip string) wire.LinksState {
	began, set := metav1.NewMicroTime(l.now.Add(l.ahead)), metav1.NewMicroTime(l.now.Add(l.ahead+time.Millisecond))
	s := wire.LinksState{Links: l.given[ip], Session: "session" + l.sessions[ip], BeganAt: &began, SetAt: &set, At: set, Failed: l.broken}
	if l.bare[ip] {
		return s
	}
	s.Packets, s.Dropped = ptr.To(l.packets), ptr.To[int64](0)
	if !l.silent {
		s.Late, s.LatestMicroseconds = ptr.To(l.packets/3), ptr.To(l.packets)
	}
	return s
}

func (l *lab) LinksStates(_ context.Context, podIPs []string) []Answer {
	answers := make([]Answer, len(podIPs))
	for i, ip := range podIPs {
		if answers[i].LinksState = l.state(ip); ip == l.failing {
			answers[i].Err = errAway
		}
	}
	return answers
}

func (l *lab) ClearLinks(_ context.Context, _ string, podIPs []string) []error {
	failed := make([]error, len(podIPs))
	for i, ip := range podIPs {
		if delete(l.given, ip); ip == l.failing {
			failed[i] = errAway
		}
	}
	return failed
}

func (l *lab) MeasureRoundTrips(_ context.Context, _ string, calls []MeasureCall) []Measured {
	answers := make([]Measured, len(calls))
	for i, c := range calls {
		l.calls = append(l.calls, fmt.Sprintf("measure %s to %s", c.PodIP, strings.Join(c.Addresses, ",")))
		if c.PodIP == l.failing {
			answers[i].Err = errAway
			continue
		}
		for _, a := range c.Addresses {
			n := c.Samples
			if l.answered > 0 {
				n = l.answered
			}
			p50 := l.p50
			if len(l.given[c.PodIP].Peers) == 0 {
				p50 = 300
			}
			answers[i].RoundTrips.RoundTrips = append(answers[i].RoundTrips.RoundTrips, wire.RoundTrip{Address: a, Samples: int64(n), P50Microseconds: p50, P99Microseconds: p50 + 700, Why: "timeout"})
		}
	}
	return answers
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
