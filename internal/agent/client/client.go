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
func (a Agent) State(ctx context.Context) (s wire.NodeState, err error) {
	err = a.do(ctx, http.MethodGet, wire.AgentPathState, nil, &s)
	return s, err
}

// Resources asks what the server has used.
func (a Agent) Resources(ctx context.Context) (r wire.Resources, err error) {
	err = a.do(ctx, http.MethodGet, wire.AgentPathResources, nil, &r)
	return r, err
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
func (a Agent) Inject(ctx context.Context, r wire.FaultRequest) (record wire.FaultRecord, err error) {
	err = a.do(ctx, http.MethodPut, wire.AgentPathFaults+r.Name, r, &record)
	return record, err
}

// Fault reads the record of a fault.
func (a Agent) Fault(ctx context.Context, name string) (record wire.FaultRecord, err error) {
	err = a.do(ctx, http.MethodGet, wire.AgentPathFaults+name, nil, &record)
	return record, err
}

// Release ends the hold of a fault.
func (a Agent) Release(ctx context.Context, name string) (record wire.FaultRecord, err error) {
	err = a.do(ctx, http.MethodDelete, wire.AgentPathFaults+name, nil, &record)
	return record, err
}

// SetLinks has the agent delay what these links say, and nothing else.
func (a Agent) SetLinks(ctx context.Context, l wire.Links) (s wire.LinksState, err error) {
	err = a.do(ctx, http.MethodPut, wire.AgentPathLinks, l, &s)
	return s, err
}

// Links asks what the agent delays, and what came of it.
func (a Agent) Links(ctx context.Context) (s wire.LinksState, err error) {
	err = a.do(ctx, http.MethodGet, wire.AgentPathLinks, nil, &s)
	return s, err
}

// LinkCounts asks what the agent has counted of what it delays.
func (a Agent) LinkCounts(ctx context.Context) (c wire.LinkCounts, err error) {
	err = a.do(ctx, http.MethodGet, wire.AgentPathLinkCounts, nil, &c)
	return c, err
}

// ClearLinks ends all delay.
func (a Agent) ClearLinks(ctx context.Context) error {
	return a.do(ctx, http.MethodDelete, wire.AgentPathLinks, nil, nil)
}

// RoundTrips has the agent measure; the context must give it the time.
func (a Agent) RoundTrips(ctx context.Context, r wire.RoundTripRequest) (trips wire.RoundTrips, err error) {
	err = a.do(ctx, http.MethodPost, wire.AgentPathRoundTrips, r, &trips)
	return trips, err
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
