package recorder

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"replab.dev/internal/agent/client"
	"replab.dev/internal/httpclient"
	"replab.dev/internal/recorder/counters"
	"replab.dev/internal/recorder/figures"
	"replab.dev/internal/usage"
	"replab.dev/internal/wire"
)

// resources samples the nodes' agents: resources of servers and other processes, clocks of their machines, and delayed packets.
type resources struct {
	nodes   []wire.Node
	others  []wire.ProcessSource
	agent   addressOf
	client  *http.Client
	figures *figures.Recorder
	now     func() time.Time
	lookup  func(ctx context.Context, host string) ([]string, error)
	rest    string // the stage at rest of the last sample, "" for none

	mu     sync.Mutex
	sum    *counters.Resources
	peers  *counters.Traffic
	clocks []counters.Clock // of the nodes, in their order
	links  *counters.Links  // nil where nothing is held up
}

func newResources(cfg wire.RecorderConfig, agent addressOf, d *forwarder) *resources {
	var names, stages []string
	for _, node := range cfg.Nodes {
		names = append(names, node.Name)
	}
	used := slices.Clone(names)
	for _, process := range cfg.Processes {
		used = append(used, process.Name)
	}
	used = append(used, wire.ProcessRecorder)
	for _, stage := range cfg.Stages {
		stages = append(stages, stage.Name)
	}
	s := &resources{
		nodes: cfg.Nodes, others: cfg.Processes, agent: agent, client: httpclient.Client(http.DefaultTransport), figures: d.figures, now: d.now,
		lookup: net.DefaultResolver.LookupHost,
		sum:    counters.NewResources(used, stages), peers: counters.NewTraffic(stages), clocks: make([]counters.Clock, len(names)),
	}
	if cfg.CountLinks {
		s.links = counters.NewLinks(names, stages)
	}
	return s
}

// sample asks every agent once; one that does not answer has no sample this time.
func (s *resources) sample(ctx context.Context) {
	stage := s.stage()
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
			if !sample.OutOfSight {
				s.sum.Add(node.Name, "", stage, sample)
				s.peers.Add(node.Name, stage, sample)
			}
			s.clocks[i].Add(from, sample.At.Time, s.now())
		})
		if s.links != nil { // also of a node whose server does not run
			asked.Go(func() { s.sampleLinks(ctx, node, stage) })
		}
	}
	for _, process := range s.others {
		asked.Go(func() { s.sampleProcess(ctx, process, stage) })
	}
	s.note(wire.ProcessRecorder, "", stage, usage.Own)
	asked.Wait()
}

// sampleProcess asks a process, or each of several by its address.
func (s *resources) sampleProcess(ctx context.Context, process wire.ProcessSource, stage string) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	urls := []string{process.URL}
	if process.Each {
		var err error
		if urls, err = s.each(ctx, process.URL); err != nil {
			return
		}
	}
	var asked sync.WaitGroup
	for _, at := range urls {
		asked.Go(func() {
			s.note(process.Name, at, stage, func() (wire.Resources, error) {
				return client.Agent{HTTP: s.client, URL: at}.Resources(ctx)
			})
		})
	}
	asked.Wait()
}

// each is a URL for every address of its host.
func (s *resources) each(ctx context.Context, of string) ([]string, error) {
	u, err := url.Parse(of)
	if err != nil {
		return nil, err
	}
	addresses, err := s.lookup(ctx, u.Hostname())
	if err != nil {
		return nil, err
	}
	var all []string
	for _, address := range addresses {
		one := *u
		one.Host = net.JoinHostPort(address, u.Port())
		all = append(all, one.String())
	}
	return all, nil
}

// note a sample of a process beside the nodes, if it can be had. Where there are several of a name, at tells them apart.
func (s *resources) note(name, at, stage string, read func() (wire.Resources, error)) {
	sample, err := read()
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum.Add(name, at, stage, sample)
}

// stage that the usage since the last sample belongs to, "" for none. What comes before the first sample of a rest may be of the load before it.
func (s *resources) stage() string {
	stage, active := s.figures.Activity()
	rest, _ := s.figures.Rest()
	before := s.rest
	s.rest = rest
	switch {
	case rest != "" && rest != before:
		return ""
	case rest != "":
		return rest
	case active:
		return stage
	}
	return ""
}

func (s *resources) read(ctx context.Context, node wire.Node) (wire.Resources, error) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	return s.of(node).Resources(ctx)
}

func (s *resources) sampleLinks(ctx context.Context, node wire.Node, stage string) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	from := s.now()
	counts, err := s.of(node).LinkCounts(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links.Add(counters.LinkSample{Node: node.Name, Stage: stage, At: from, Took: s.now().Sub(from), Missed: err != nil, Counts: counts})
}

func (s *resources) of(node wire.Node) client.Agent {
	return client.Agent{HTTP: s.client, URL: "http://" + s.agent(node)}
}

// held are the agents' counts of delayed packets, nil without links.
func (s *resources) held() []wire.NodeLinks {
	if s.links == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links.Result()
}

// exchanged is what nodes sent each other, nil where that is not counted.
func (s *resources) exchanged() []wire.NodeTraffic {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peers.Result()
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

// clocks measures the clocks of processes that do nothing else for the recorder.
type clocks struct {
	sources []wire.ClockSource
	client  *http.Client
	now     func() time.Time

	mu       sync.Mutex
	measured []counters.Clock // of the sources, in their order
}

func newClocks(sources []wire.ClockSource, now func() time.Time) *clocks {
	client := httpclient.Client(http.DefaultTransport)
	client.Timeout = sampleTimeout
	return &clocks{
		sources: sources, now: now, client: client, measured: make([]counters.Clock, len(sources)),
	}
}

// sample asks each clock once; one that does not answer has no sample this time.
func (c *clocks) sample(ctx context.Context) {
	var asked sync.WaitGroup
	for i, source := range c.sources {
		asked.Go(func() {
			from := c.now()
			told, err := c.read(ctx, source.URL)
			to := c.now()
			if err != nil {
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.measured[i].Add(from, told.Now.Time, to)
		})
	}
	asked.Wait()
}

// clockReadingMost is more than a reading has, in bytes.
const clockReadingMost = 4 << 10

func (c *clocks) read(ctx context.Context, url string) (told wire.ClockReading, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return told, err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return told, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return told, fmt.Errorf("%s: %s", url, response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, clockReadingMost)).Decode(&told); err != nil {
		return told, err
	}
	if told.Now.IsZero() {
		return told, fmt.Errorf("%s told no time", url)
	}
	return told, nil
}

func (c *clocks) result() (all []wire.Clock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, source := range c.sources {
		if clock, known := c.measured[i].Result(source.Name); known {
			all = append(all, clock)
		}
	}
	return all
}
