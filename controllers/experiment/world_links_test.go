package experiment

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/controllers/experiment/distance"
	"replab.dev/internal/wire"
)

// nodeIP is the address of a node's pod; a pod that follows another has another one.
func nodeIP(i int, next bool) string {
	if next {
		i += 100
	}
	return fmt.Sprintf("10.0.2.%d", i)
}

// SetLinks is carried out one after the other, so that an operator can be stopped in between.
func (w *world) SetLinks(_ context.Context, token string, calls []distance.Call) []distance.Answer {
	answers := make([]distance.Answer, len(calls))
	for i, c := range calls {
		if token == "" || !strings.HasPrefix(c.PodUID, "uid-"+w.x+"-db-") {
			w.t.Errorf("links for pod UID %q with token %q", c.PodUID, token)
		}
		state := wire.LinksState{
			Links: c.Links, Session: "session-" + c.PodUID, BeganAt: ptr.To(metav1.NewMicroTime(w.now)), SetAt: ptr.To(metav1.NewMicroTime(w.now)), At: metav1.NewMicroTime(w.now),
			Packets: ptr.To[int64](1000), Dropped: ptr.To(w.droppedPackets), Late: ptr.To[int64](1), LatestMicroseconds: ptr.To[int64](1001),
		}
		w.links[c.PodIP], answers[i].LinksState = state, state
		w.wrote("links of " + c.PodIP)
	}
	return answers
}

func (w *world) LinksStates(_ context.Context, podIPs []string) []distance.Answer {
	answers := make([]distance.Answer, len(podIPs))
	for i, ip := range podIPs {
		if answers[i].LinksState = w.links[ip]; w.restarted() {
			answers[i].LinksState = wire.LinksState{Session: "another"}
		}
	}
	return answers
}

// restarted tells whether the agents were started anew while the load ran.
func (w *world) restarted() bool {
	s, _ := w.Recorder(context.Background(), "")
	return w.restartsAt > 0 && s.LoadStartedAt != nil && w.now.Sub(s.LoadStartedAt.Time) >= w.restartsAt
}

func (w *world) ClearLinks(_ context.Context, _ string, podIPs []string) []error {
	for _, ip := range podIPs {
		w.links[ip] = wire.LinksState{Session: w.links[ip].Session}
		w.wrote("no links of " + ip)
	}
	return make([]error, len(podIPs))
}

// MeasureRoundTrips finds what both ends hold up, and a little more.
func (w *world) MeasureRoundTrips(_ context.Context, _ string, calls []distance.MeasureCall) []distance.Measured {
	delay := func(at, from string) int64 {
		for _, p := range w.links[at].Peers {
			if p.Address == from {
				return p.DelayMicroseconds
			}
		}
		return 0
	}
	answers := make([]distance.Measured, len(calls))
	for i, c := range calls {
		for _, a := range c.Addresses {
			trip := delay(c.PodIP, a) + delay(a, c.PodIP) + 300 + w.tripOff
			answers[i].RoundTrips.RoundTrips = append(answers[i].RoundTrips.RoundTrips,
				wire.RoundTrip{Address: a, Samples: int64(c.Samples), P50Microseconds: trip, P99Microseconds: trip + 100})
		}
	}
	return answers
}
