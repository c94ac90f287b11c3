package controllers

import (
	"context"
	"errors"
	"sync"

	"replab.dev/controllers/experiment/distance"
	"replab.dev/controllers/experiment/fault"
	"replab.dev/internal/cluster"
	"replab.dev/internal/load/k6"
)

// processes asks several at the same moment.
type processes struct{ *cluster.Processes }

// Faults implements Processes.
func (p processes) Faults(ctx context.Context, token string, calls []fault.Call) []fault.Answer {
	answers := make([]fault.Answer, len(calls))
	atOnce(len(calls), func(i int) {
		answers[i].FaultRecord, answers[i].Err = p.Fault(ctx, token, calls[i].PodIP, calls[i].FaultRequest)
	})
	return answers
}

// SetLinks implements Processes.
func (p processes) SetLinks(ctx context.Context, token string, calls []distance.Call) []distance.Answer {
	answers := make([]distance.Answer, len(calls))
	atOnce(len(calls), func(i int) {
		answers[i].LinksState, answers[i].Err = p.Processes.SetLinks(ctx, token, calls[i].PodIP, calls[i].Links)
	})
	return answers
}

// LinksStates implements Processes.
func (p processes) LinksStates(ctx context.Context, podIPs []string) []distance.Answer {
	answers := make([]distance.Answer, len(podIPs))
	atOnce(len(podIPs), func(i int) { answers[i].LinksState, answers[i].Err = p.LinksState(ctx, podIPs[i]) })
	return answers
}

// ClearLinks implements Processes.
func (p processes) ClearLinks(ctx context.Context, token string, podIPs []string) []error {
	failed := make([]error, len(podIPs))
	atOnce(len(podIPs), func(i int) { failed[i] = p.Processes.ClearLinks(ctx, token, podIPs[i]) })
	return failed
}

// MeasureRoundTrips implements Processes.
func (p processes) MeasureRoundTrips(ctx context.Context, token string, calls []distance.MeasureCall) []distance.Measured {
	answers := make([]distance.Measured, len(calls))
	atOnce(len(calls), func(i int) {
		answers[i].RoundTrips, answers[i].Err = p.Processes.MeasureRoundTrips(ctx, token, calls[i].PodIP, calls[i].RoundTripRequest)
	})
	return answers
}

// K6States implements Processes.
func (p processes) K6States(ctx context.Context, podIPs []string) []k6.State {
	states := make([]k6.State, len(podIPs))
	atOnce(len(podIPs), func(i int) { states[i], _ = p.K6State(ctx, podIPs[i]) }) // one that does not answer is preparing
	return states
}

// ResumeK6s implements Processes.
func (p processes) ResumeK6s(ctx context.Context, podIPs []string) error {
	failed := make([]error, len(podIPs))
	atOnce(len(podIPs), func(i int) { failed[i] = p.ResumeK6(ctx, podIPs[i]) })
	return errors.Join(failed...)
}

// atOnce calls do with 0 to n-1, all at the same time, and waits for the last to return.
func atOnce(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}
