package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"replab.dev/internal/protocol"
	"replab.dev/internal/topology"
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

// Fault asks an agent for a fault.
func (p *Processes) Fault(ctx context.Context, token, podIP string, r protocol.FaultRequest) (protocol.FaultRecord, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return protocol.FaultRecord{}, err
	}
	return p.fault(ctx, token, http.MethodPut, podIP, r.Name, body)
}

// FaultState reads an agent's record of a fault.
func (p *Processes) FaultState(ctx context.Context, podIP, name string) (protocol.FaultRecord, error) {
	return p.fault(ctx, "", http.MethodGet, podIP, name, nil)
}

// Release ends the hold of a fault.
func (p *Processes) Release(ctx context.Context, token, podIP, name string) (protocol.FaultRecord, error) {
	return p.fault(ctx, token, http.MethodDelete, podIP, name, nil)
}

func (p *Processes) fault(ctx context.Context, token, method, podIP, name string, body []byte) (protocol.FaultRecord, error) {
	var record protocol.FaultRecord
	url := fmt.Sprintf("http://%s:%d%s%s", hostOf(podIP), protocol.PortAgent, protocol.AgentPathFaults, name)
	answer, err := p.do(ctx, actTimeout, token, topology.Request{Method: method, URL: url, Body: body})
	if err != nil {
		return record, err
	}
	if err := json.Unmarshal(answer, &record); err != nil {
		return record, fmt.Errorf("%s %s: %w", method, url, err)
	}
	return record, nil
}

// Witness reads the witness's state.
func (p *Processes) Witness(ctx context.Context, url string) (protocol.WitnessState, error) {
	var state protocol.WitnessState
	body, err := p.do(ctx, askTimeout, "", topology.Request{Method: http.MethodGet, URL: url + protocol.WitnessPathState})
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(body, &state)
}

// FinishWitness has the witness end its measurement.
func (p *Processes) FinishWitness(ctx context.Context, token, url string) error {
	_, err := p.do(ctx, finishTimeout, token, topology.Request{Method: http.MethodPost, URL: url + protocol.WitnessPathFinish})
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

// hostOf puts an IPv6 address into brackets.
func hostOf(ip string) string {
	if strings.Contains(ip, ":") {
		return "[" + ip + "]"
	}
	return ip
}
