package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"replab.dev/internal/agent/client"
	"replab.dev/internal/bounded"
	"replab.dev/internal/httpclient"
	"replab.dev/internal/load/k6"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Processes talks HTTP to the processes of experiments.
type Processes struct {
	client *http.Client
}

// NewProcesses returns Processes whose requests end within seconds, finishing the recorder apart.
func NewProcesses() *Processes {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	t.MaxIdleConnsPerHost = 2
	t.IdleConnTimeout = 30 * time.Second
	t.MaxResponseHeaderBytes = headerMost
	return &Processes{client: httpclient.Client(bounded.Transport{Base: t, Most: answerMost})}
}

// headerMost and answerMost are bytes of one answer: whoever may edit a namespace may answer in place of its pods.
const (
	headerMost = 64 << 10
	answerMost = 1 << 20
)

const (
	askTimeout    = 3 * time.Second
	actTimeout    = 10 * time.Second
	finishTimeout = 45 * time.Second
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
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return p.agent(podIP, token).Inject(ctx, r)
}

// FaultState reads an agent's record of a fault, nil when the agent knows of none.
func (p *Processes) FaultState(ctx context.Context, podIP, name string) (*wire.FaultRecord, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	record, err := p.agent(podIP, "").Fault(ctx, name)
	if refused := (*httpclient.Refusal)(nil); errors.As(err, &refused) && refused.Code == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &record, nil
}

// Release ends the hold of a fault.
func (p *Processes) Release(ctx context.Context, token, podIP, name string) (wire.FaultRecord, error) {
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	return p.agent(podIP, token).Release(ctx, name)
}

func (p *Processes) agent(podIP, token string) client.Agent {
	return client.Agent{HTTP: p.client, URL: client.URL(podIP), Token: token}
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

// Recorder reads the recorder's state.
func (p *Processes) Recorder(ctx context.Context, url string) (wire.RecorderState, error) {
	var state wire.RecorderState
	body, err := p.do(ctx, askTimeout, "", topology.Request{Method: http.MethodGet, URL: url + wire.RecorderPathState})
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(body, &state)
}

// FinishRecorder has the recorder end its measurement.
func (p *Processes) FinishRecorder(ctx context.Context, token, url string) error {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	request := httpclient.Request{Method: http.MethodPost, URL: url + wire.RecorderPathFinish, Token: token, Minimal: true} // results may be too large to answer
	_, err := httpclient.Do(ctx, p.client, request)
	return err
}

func (p *Processes) do(ctx context.Context, timeout time.Duration, token string, r topology.Request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return httpclient.Do(ctx, p.client, httpclient.Request{Method: r.Method, URL: r.URL, Token: token, Body: r.Body})
}

// urlOf a process in a pod.
func urlOf(podIP string, port int, path string) string {
	return "http://" + net.JoinHostPort(podIP, strconv.Itoa(port)) + path
}
