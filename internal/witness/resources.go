package witness

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"replab.dev/internal/protocol"
	"replab.dev/internal/witness/counters"
	"replab.dev/internal/witness/figures"
)

// resources samples what the nodes' servers use.
type resources struct {
	nodes   []protocol.Node
	agent   addressOf
	client  *http.Client
	figures *figures.Recorder

	mu  sync.Mutex
	sum *counters.Resources
}

func newResources(nodes []protocol.Node, agent addressOf, stages []protocol.Stage, f *figures.Recorder) *resources {
	var names, stageNames []string
	for _, node := range nodes {
		names = append(names, node.Name)
	}
	for _, stage := range stages {
		stageNames = append(stageNames, stage.Name)
	}
	return &resources{
		nodes: nodes, agent: agent, client: &http.Client{Timeout: sampleTimeout}, figures: f,
		sum: counters.NewResources(names, stageNames),
	}
}

// sample asks every agent once; one that does not answer has no sample this time.
func (s *resources) sample(ctx context.Context) {
	stage, active := s.figures.Activity()
	if !active {
		stage = ""
	}
	var asked sync.WaitGroup
	for _, node := range s.nodes {
		asked.Go(func() {
			sample, err := s.read(ctx, node)
			if err != nil {
				return
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sum.Add(node.Name, stage, sample)
		})
	}
	asked.Wait()
}

func (s *resources) read(ctx context.Context, node protocol.Node) (sample protocol.Resources, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.agent(node)+protocol.AgentPathResources, nil)
	if err != nil {
		return sample, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return sample, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return sample, fmt.Errorf("agent of node %s: %s", node.Name, response.Status)
	}
	return sample, json.NewDecoder(response.Body).Decode(&sample)
}

func (s *resources) result() []protocol.NodeResources {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum.Result()
}
