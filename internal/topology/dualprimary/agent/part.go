// Package agent is the agent's part beside one of two servers that both take writes. It makes its server a replica of the other one, opens it
// once it has what the other one has, and tells how far it has come. It never closes a server, and asks the other agent for nothing but that.
package agent

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"replab.dev/internal/agent/client"
	"replab.dev/internal/agent/part"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
	"replab.dev/internal/httpclient"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// NewPart implements part.Make for nodes that both take writes.
func NewPart(n part.Node) (part.Part, error) {
	c := n.Config.Pair
	if c == nil {
		return nil, nil
	}
	paired, ok := n.Engine.(engine.Paired)
	if !ok {
		return nil, fmt.Errorf("engine %s has no servers that replicate from each other, and the configuration names two", n.Config.Engine)
	}
	self := slices.IndexFunc(c.Nodes, func(x wire.Node) bool { return x.Name == n.Name })
	if self < 0 || len(c.Nodes) != 2 {
		return nil, fmt.Errorf("node %q is not one of two in the configuration, which names %d", n.Name, len(c.Nodes))
	}
	password, err := process.Secret(n.Config.SecretDir, wire.AccountReplication)
	if err != nil {
		return nil, err
	}
	admin, err := paired.Admin(engine.AdminParams{
		Host: "127.0.0.1", Port: c.Port, AdminPassword: n.Password, ReplicationPassword: password, SemiSync: c.SemiSync, Pair: true,
	})
	if err != nil {
		return nil, err
	}
	other := c.Nodes[1-self]
	peer := client.Agent{HTTP: httpclient.Client(&http.Transport{}), URL: client.URL(other.Host)}
	m, err := newMember(settings{
		second: self == 1, semiSync: c.SemiSync, source: engine.Source{Name: other.Name, Host: other.Host, Port: c.Port}, position: paired.Position, ask: peer.State,
	}, admin, n.Server, n.Config.StateDir)
	if err != nil {
		return nil, err
	}
	m.traffic = &traffic{peer: other, port: uint16(c.Port)}
	return m, nil
}

// Describe implements part.Part.
func (m *Member) Describe(state *wire.NodeState) error {
	s := m.State()
	state.Pair = &s
	return nil
}

// Writes implements part.Part: a server that is open is to take writes, the first one's before the second's.
func (m *Member) Writes() (bool, string) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.second && !inTurn(m.peerPlaced, m.kept.Note().Was, now.Sub(m.heard), now) {
		return false, "the first node is to be found before this one"
	}
	return true, ""
}

// Reads implements part.Reader: either server serves them, as far as it has come.
func (m *Member) Reads() (bool, string) {
	switch s := m.see(); {
	case !s.writable():
		return false, "the server is not open yet"
	case !s.own.Applying:
		return false, "the server does not apply what the other one sends: " + s.own.LastError
	}
	return true, ""
}

// Run implements part.Part.
func (m *Member) Run(ctx context.Context) {
	defer m.admin.Close()
	loops := []func(context.Context){m.server.Run, m.listen, m.remember, m.command}
	if m.traffic != nil {
		loops = append(loops, m.traffic.run)
	}
	watch.Together(ctx, loops...)
}
