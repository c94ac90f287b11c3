package distance

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// Round trips are measured by so many samples, so far apart.
const (
	samples              = 50
	intervalMilliseconds = 20
	// slackMilliseconds are added to the round trip that was asked for: a sample that takes longer is none.
	slackMilliseconds = 3000
)

// When in the run round trips are measured.
type When int

// Times of a measurement.
const (
	BeforeLoad When = iota
	AfterLoad
)

// Measure the round trip of each pair that was not measured yet. It returns what went wrong: then it is to be tried again.
func Measure(ctx context.Context, s *Scene, when When) error {
	var nodes []*corev1.Pod
	var calls []MeasureCall
	missing := map[string][]pair{}
	for _, p := range s.pairs() {
		if *s.figures(p, when) != nil {
			continue
		}
		if len(missing[p.from.Name]) == 0 {
			nodes = append(nodes, p.from)
		}
		missing[p.from.Name] = append(missing[p.from.Name], p)
	}
	for _, n := range nodes {
		calls = append(calls, call(n, missing[n.Name]))
	}
	if len(calls) == 0 {
		return nil
	}
	token, err := s.Token(ctx)
	if err != nil {
		return err
	}
	var failed error
	for i, answer := range s.Agents.MeasureRoundTrips(ctx, token, calls) {
		for j, p := range missing[nodes[i].Name] {
			if err := s.note(p, when, j, answer); err != nil {
				failed = err
			}
		}
	}
	return failed
}

func call(from *corev1.Pod, pairs []pair) MeasureCall {
	c := MeasureCall{PodIP: from.Status.PodIP, RoundTripRequest: wire.RoundTripRequest{Samples: samples, IntervalMilliseconds: intervalMilliseconds}}
	for _, p := range pairs {
		c.Addresses = append(c.Addresses, p.to.Status.PodIP)
		c.TimeoutMilliseconds = max(c.TimeoutMilliseconds, p.microsecond/1000+slackMilliseconds)
	}
	return c
}

// note takes the figures of a pair down. Half of the samples are enough for a median that says something.
func (s *Scene) note(p pair, when When, i int, answer Measured) error {
	e := s.roundTrip(p)
	why := "its agent answered for other addresses"
	switch {
	case answer.Err != nil:
		why = answer.Err.Error()
	case i < len(answer.RoundTrips.RoundTrips):
		t := answer.RoundTrips.RoundTrips[i]
		if t.Samples >= samples/2 {
			e.Note = ""
			*s.figures(p, when) = &v1alpha1.RoundTripFigures{Samples: t.Samples, P50Microseconds: t.P50Microseconds, P99Microseconds: t.P99Microseconds}
			return nil
		}
		why = fmt.Sprintf("%d of %d samples were answered: %s", t.Samples, samples, t.Why)
	}
	e.Note = why
	return fmt.Errorf("measure the round trip from %s to %s: %s", p.from.Name, p.to.Name, why)
}

// roundTrip of a pair in the status, which is made if it is not there.
func (s *Scene) roundTrip(p pair) *v1alpha1.RoundTripStatus {
	d := s.status()
	for i := range d.RoundTrips {
		if r := &d.RoundTrips[i]; r.From == p.from.Name && r.To == p.to.Name {
			return r
		}
	}
	d.RoundTrips = append(d.RoundTrips, v1alpha1.RoundTripStatus{From: p.from.Name, To: p.to.Name, RequestedMicroseconds: p.microsecond})
	return &d.RoundTrips[len(d.RoundTrips)-1]
}

func (s *Scene) figures(p pair, when When) **v1alpha1.RoundTripFigures {
	r := s.roundTrip(p)
	if when == BeforeLoad {
		return &r.Before
	}
	return &r.After
}
