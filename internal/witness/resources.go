package witness

import (
	"context"
	"net/http"
	"sync"
	"time"

	"replab.dev/internal/agent/client"
	"replab.dev/internal/call"
	"replab.dev/internal/wire"
	"replab.dev/internal/witness/counters"
	"replab.dev/internal/witness/figures"
)

// resources samples what the nodes' servers use, and with it the clocks of their machines.
type resources struct {
	nodes   []wire.Node
	agent   addressOf
	client  *http.Client
	figures *figures.Recorder
	now     func() time.Time

	mu     sync.Mutex
	sum    *counters.Resources
	clocks []counters.Clock // of the nodes, in their order
}

func newResources(nodes []wire.Node, agent addressOf, stages []wire.Stage, d *door) *resources {
	var names, stageNames []string
	for _, node := range nodes {
		names = append(names, node.Name)
	}
	for _, stage := range stages {
		stageNames = append(stageNames, stage.Name)
	}
	return &resources{
		nodes: nodes, agent: agent, client: call.Client(http.DefaultTransport), figures: d.figures, now: d.now,
		sum: counters.NewResources(names, stageNames), clocks: make([]counters.Clock, len(nodes)),
	}
}

// sample asks every agent once; one that does not answer has no sample this time.
func (s *resources) sample(ctx context.Context) {
	stage, active := s.figures.Activity()
	if !active {
		stage = ""
	}
	var asked sync.WaitGroup
	for i, node := range s.nodes {
		asked.Go(func() {
			from := s.now()
			sample, err := s.read(ctx, node)
			if err != nil {
				return
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sum.Add(node.Name, stage, sample)
			s.clocks[i].Add(from, sample.At.Time, s.now())
		})
	}
	asked.Wait()
}

func (s *resources) read(ctx context.Context, node wire.Node) (wire.Resources, error) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	return client.Agent{HTTP: s.client, URL: "http://" + s.agent(node)}.Resources(ctx)
}

func (s *resources) result() (used []wire.NodeResources, clocks []wire.Clock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, node := range s.nodes {
		if clock, known := s.clocks[i].Result(node.Name); known {
			clocks = append(clocks, clock)
		}
	}
	return s.sum.Result(), clocks
}
