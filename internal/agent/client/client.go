// Package client is how other processes speak with a node's agent.
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"replab.dev/internal/httpclient"
	"replab.dev/internal/wire"
)

// Agent is one node's. Its methods may be called at once by several goroutines, and end with their context.
type Agent struct {
	HTTP  *http.Client // see httpclient.Client
	URL   string
	Token string // "" is enough for questions
}

// URL of the agent of a host or an address.
func URL(host string) string {
	return "http://" + net.JoinHostPort(host, strconv.Itoa(wire.PortAgent))
}

// State asks what the agent knows of its server.
func (a Agent) State(ctx context.Context) (wire.NodeState, error) {
	return ask[wire.NodeState](ctx, a, http.MethodGet, wire.AgentPathState, nil)
}

// Resources asks what the server has used.
func (a Agent) Resources(ctx context.Context) (wire.Resources, error) {
	return ask[wire.Resources](ctx, a, http.MethodGet, wire.AgentPathResources, nil)
}

// Lease gives the node the right to be writable for ttl from when the agent hears of it.
func (a Agent) Lease(ctx context.Context, ttl time.Duration) error {
	return a.do(ctx, http.MethodPost, wire.AgentPathLease, wire.Lease{TTLMilliseconds: ttl.Milliseconds()}, nil)
}

// Fence returns nil once the server is read-only and its lease void.
func (a Agent) Fence(ctx context.Context) error {
	return a.do(ctx, http.MethodPost, wire.AgentPathFence, nil, nil)
}

// Inject asks for a fault. Asking again never repeats it. The agent answers at once; a slow disk may make it answer the next time only.
func (a Agent) Inject(ctx context.Context, r wire.FaultRequest) (wire.FaultRecord, error) {
	return ask[wire.FaultRecord](ctx, a, http.MethodPut, wire.AgentPathFaults+r.Name, r)
}

// Fault reads the record of a fault.
func (a Agent) Fault(ctx context.Context, name string) (wire.FaultRecord, error) {
	return ask[wire.FaultRecord](ctx, a, http.MethodGet, wire.AgentPathFaults+name, nil)
}

// Release ends the hold of a fault.
func (a Agent) Release(ctx context.Context, name string) (wire.FaultRecord, error) {
	return ask[wire.FaultRecord](ctx, a, http.MethodDelete, wire.AgentPathFaults+name, nil)
}

// SetLinks has the agent delay what these links say, and nothing else.
func (a Agent) SetLinks(ctx context.Context, l wire.Links) (wire.LinksState, error) {
	return ask[wire.LinksState](ctx, a, http.MethodPut, wire.AgentPathLinks, l)
}

// Links asks what the agent delays, and what came of it.
func (a Agent) Links(ctx context.Context) (wire.LinksState, error) {
	return ask[wire.LinksState](ctx, a, http.MethodGet, wire.AgentPathLinks, nil)
}

// LinkCounts asks what the agent has counted of what it delays.
func (a Agent) LinkCounts(ctx context.Context) (wire.LinkCounts, error) {
	return ask[wire.LinkCounts](ctx, a, http.MethodGet, wire.AgentPathLinkCounts, nil)
}

// ClearLinks ends all delay.
func (a Agent) ClearLinks(ctx context.Context) error {
	return a.do(ctx, http.MethodDelete, wire.AgentPathLinks, nil, nil)
}

// RoundTrips has the agent measure; the context must give it the time.
func (a Agent) RoundTrips(ctx context.Context, r wire.RoundTripRequest) (wire.RoundTrips, error) {
	return ask[wire.RoundTrips](ctx, a, http.MethodPost, wire.AgentPathRoundTrips, r)
}

// ask reads the answer to a request.
func ask[T any](ctx context.Context, a Agent, method, path string, body any) (answer T, err error) {
	err = a.do(ctx, method, path, body, &answer)
	return answer, err
}

// do sends a JSON document and reads the answer into result; either may be nil.
func (a Agent) do(ctx context.Context, method, path string, body, result any) error {
	request := httpclient.Request{Method: method, URL: a.URL + path, Token: a.Token}
	if body != nil {
		var err error
		if request.Body, err = json.Marshal(body); err != nil {
			return fmt.Errorf("%s %s: %w", method, request.URL, err)
		}
	}
	answer, err := httpclient.Do(ctx, a.HTTP, request)
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(answer, result); err != nil {
		return fmt.Errorf("%s %s: the answer cannot be read: %w", method, request.URL, err)
	}
	return nil
}
