package cluster

import (
	"context"
	"time"

	"replab.dev/internal/wire"
)

const (
	// linksTimeout is for queues that are ended: what waits in them is let go in its time.
	linksTimeout = 15 * time.Second
	// measureTimeout is for round trips of 10 s, of which the last sample begins a second after the first.
	measureTimeout = 25 * time.Second
)

// SetLinks gives an agent its links.
func (p *Processes) SetLinks(ctx context.Context, token, podIP string, l wire.Links) (wire.LinksState, error) {
	ctx, cancel := context.WithTimeout(ctx, linksTimeout)
	defer cancel()
	return p.agent(podIP, token).SetLinks(ctx, l)
}

// LinksState reads what an agent delays.
func (p *Processes) LinksState(ctx context.Context, podIP string) (wire.LinksState, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return p.agent(podIP, "").Links(ctx)
}

// ClearLinks has an agent end all delay.
func (p *Processes) ClearLinks(ctx context.Context, token, podIP string) error {
	ctx, cancel := context.WithTimeout(ctx, linksTimeout)
	defer cancel()
	return p.agent(podIP, token).ClearLinks(ctx)
}

// MeasureRoundTrips has an agent measure.
func (p *Processes) MeasureRoundTrips(ctx context.Context, token, podIP string, r wire.RoundTripRequest) (wire.RoundTrips, error) {
	ctx, cancel := context.WithTimeout(ctx, measureTimeout)
	defer cancel()
	return p.agent(podIP, token).RoundTrips(ctx, r)
}
