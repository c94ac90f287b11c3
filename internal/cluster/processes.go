package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"replab.dev/internal/load/k6"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Processes talks HTTP to the processes of experiments.
type Processes struct {
	client *http.Client
}

// NewProcesses returns Processes whose requests end within seconds, finishing the witness apart.
func NewProcesses() *Processes {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	t.MaxIdleConnsPerHost = 2
	t.IdleConnTimeout = 30 * time.Second
	return &Processes{client: &http.Client{Transport: t}}
}

const (
	askTimeout    = 3 * time.Second
	actTimeout    = 10 * time.Second
	finishTimeout = 45 * time.Second
	bodyMost      = 4 << 20
)

// Ask answers all questions at once.
func (p *Processes) Ask(ctx context.Context, questions []topology.Question) topology.Answers {
	answers := topology.Answers{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, q := range questions {
		wg.Go(func() {
			body, err := p.do(ctx, askTimeout, "", topology.Request{Method: http.MethodGet, URL: q.URL})
			a := topology.Answer{Body: body}
			if err != nil {
				a = topology.Answer{Err: err.Error()}
			}
			mu.Lock()
			defer mu.Unlock()
			answers[q.Name] = a
		})
	}
	wg.Wait()
	return answers
}

// Send makes a request with the token.
func (p *Processes) Send(ctx context.Context, token string, r topology.Request) ([]byte, error) {
	return p.do(ctx, actTimeout, token, r)
}

// Fault asks an agent for a fault. The agent answers at once; a slow disk may make it answer the next time only.
func (p *Processes) Fault(ctx context.Context, token, podIP string, r wire.FaultRequest) (wire.FaultRecord, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return wire.FaultRecord{}, err
	}
	return p.fault(ctx, askTimeout, token, topology.Request{Method: http.MethodPut, URL: faultURL(podIP, r.Name), Body: body})
}

// FaultState reads an agent's record of a fault.
func (p *Processes) FaultState(ctx context.Context, podIP, name string) (wire.FaultRecord, error) {
	return p.fault(ctx, askTimeout, "", topology.Request{Method: http.MethodGet, URL: faultURL(podIP, name)})
}

// Release ends the hold of a fault.
func (p *Processes) Release(ctx context.Context, token, podIP, name string) (wire.FaultRecord, error) {
	return p.fault(ctx, actTimeout, token, topology.Request{Method: http.MethodDelete, URL: faultURL(podIP, name)})
}

func faultURL(podIP, name string) string {
	return urlOf(podIP, wire.PortAgent, wire.AgentPathFaults+name)
}

func (p *Processes) fault(ctx context.Context, timeout time.Duration, token string, r topology.Request) (wire.FaultRecord, error) {
	var record wire.FaultRecord
	answer, err := p.do(ctx, timeout, token, r)
	if err != nil {
		return record, err
	}
	if err := json.Unmarshal(answer, &record); err != nil {
		return record, fmt.Errorf("%s %s: %w", r.Method, r.URL, err)
	}
	return record, nil
}

// K6State asks the k6 of a pod how it stands.
func (p *Processes) K6State(ctx context.Context, podIP string) (k6.State, error) {
	body, err := p.do(ctx, askTimeout, "", topology.Request{Method: http.MethodGet, URL: urlOf(podIP, wire.PortK6, k6.StatusPath)})
	if err != nil {
		return k6.Preparing, err
	}
	return k6.ParseState(body)
}

// ResumeK6 has a paused k6 begin. One that has begun already answers with an error.
func (p *Processes) ResumeK6(ctx context.Context, podIP string) error {
	_, err := p.do(ctx, askTimeout, "", topology.Request{Method: http.MethodPatch, URL: urlOf(podIP, wire.PortK6, k6.StatusPath), Body: k6.Resume()})
	return err
}

// Witness reads the witness's state.
func (p *Processes) Witness(ctx context.Context, url string) (wire.WitnessState, error) {
	var state wire.WitnessState
	body, err := p.do(ctx, askTimeout, "", topology.Request{Method: http.MethodGet, URL: url + wire.WitnessPathState})
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(body, &state)
}

// FinishWitness has the witness end its measurement.
func (p *Processes) FinishWitness(ctx context.Context, token, url string) error {
	_, err := p.do(ctx, finishTimeout, token, topology.Request{Method: http.MethodPost, URL: url + wire.WitnessPathFinish})
	return err
}

func (p *Processes) do(ctx context.Context, timeout time.Duration, token string, r topology.Request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, bodyMost))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL, err)
	}
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s: %s", r.Method, r.URL, response.Status, strings.TrimSpace(string(body[:min(len(body), 500)])))
	}
	return body, nil
}

// urlOf a process in a pod.
func urlOf(podIP string, port int, path string) string {
	return "http://" + net.JoinHostPort(podIP, strconv.Itoa(port)) + path
}
