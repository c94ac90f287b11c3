package director

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"replab.dev/internal/wire"
)

// agent is the client of one node's agent.
type agent struct {
	address
	token  string
	client *http.Client
}

// newAgentClient makes the HTTP client for all agents. A request that is given up must not arrive later, when a partition
// ends: a lease would then stand that the director takes for run out. So a connection is reset when it is closed, and
// what waits to be sent again is dropped with it.
func newAgentClient() *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	transport := &http.Transport{
		MaxIdleConnsPerHost: 2,
		IdleConnTimeout:     time.Minute,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			if tcp, ok := conn.(*net.TCPConn); ok {
				err = tcp.SetLinger(0)
			}
			return conn, err
		},
	}
	return &http.Client{Transport: transport}
}

// state asks what the agent knows of its server.
func (a agent) state(ctx context.Context) (*wire.NodeState, error) {
	var state wire.NodeState
	if err := a.do(ctx, http.MethodGet, wire.AgentPathState, nil, &state); err != nil {
		return nil, err
	}
	return &state, nil
}

// lease gives the node the right to be writable for ttl from when the agent hears of it.
func (a agent) lease(ctx context.Context, ttl time.Duration) error {
	return a.do(ctx, http.MethodPost, wire.AgentPathLease, wire.Lease{TTLMilliseconds: ttl.Milliseconds()}, nil)
}

// fence returns nil once the server is read-only and its lease void.
func (a agent) fence(ctx context.Context) error {
	return a.do(ctx, http.MethodPost, wire.AgentPathFence, nil, nil)
}

// do sends a request with a JSON body and reads the answer into result; either may be nil.
func (a agent) do(ctx context.Context, method, path string, body, result any) error {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return fmt.Errorf("agent of %s: %s %s: %w", a.Name, method, path, err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, a.AgentURL+path, bytes.NewReader(payload))
	if err != nil {
		return fmt.Errorf("agent of %s: %w", a.Name, err)
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := a.client.Do(request)
	if err != nil {
		return fmt.Errorf("agent of %s: %w", a.Name, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("agent of %s: %s %s: %w", a.Name, method, path, err)
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("agent of %s: %s %s: %s: %s", a.Name, method, path, response.Status, strings.TrimSpace(string(text)))
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(text, result); err != nil {
		return fmt.Errorf("agent of %s: %s %s: %w", a.Name, method, path, err)
	}
	return nil
}

// neverSent tells that a request certainly did not reach the agent: no connection came to be.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
