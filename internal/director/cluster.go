package director

import (
	"context"
	"errors"
	"fmt"
	"time"

	"replab.dev/internal/agent/client"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// catchUpStep bounds one wait for a candidate to apply, so that the director looks around in between.
const catchUpStep = time.Second

// cluster is the real nodes: it observes them and does acts to them.
type cluster struct {
	nodes   map[string]*watched
	names   map[string]string // host:port to name
	leases  *leases
	clones  *clones
	timeout time.Duration // of a look
}

func newCluster(cfg wire.DirectorConfig, nodes []address, s secrets, open engine.OpenAdmin) (*cluster, error) {
	c := &cluster{
		nodes: map[string]*watched{}, names: map[string]string{}, clones: newClones(),
		timeout: time.Duration(cfg.TimeoutMilliseconds) * time.Millisecond,
	}
	agents := map[string]client.Agent{}
	agentHTTP := newAgentClient()
	for _, n := range nodes {
		server, err := open(engine.AdminParams{
			Host: n.Host, Port: n.Port, AdminPassword: s.admin, ReplicationPassword: s.replication, SemiSync: cfg.SemiSync != nil,
		})
		if err != nil {
			return nil, fmt.Errorf("connect to the server of %s: %w", n.Name, err)
		}
		agents[n.Name] = client.Agent{HTTP: agentHTTP, URL: n.AgentURL, Token: s.token}
		c.nodes[n.Name] = &watched{address: n, server: server, agent: agents[n.Name]}
		c.names[n.hostPort()] = n.Name
	}
	c.leases = newLeases(agents, time.Duration(cfg.LeaseMilliseconds)*time.Millisecond, c.timeout)
	return c, nil
}

// run renews leases until ctx ends, then waits for clones under way to be let go of and closes connections.
func (c *cluster) run(ctx context.Context) {
	c.leases.run(ctx)
	c.clones.wait()
	for _, w := range c.nodes {
		_ = w.server.Close() // nothing is lost with a connection
	}
}

func (c *cluster) renewFor(name string) { c.leases.renewFor(name) }

func (c *cluster) forgetClone(name string) { c.clones.forget(name) }

// restart forgets what only this process knows, as if it had just been started.
func (c *cluster) restart() {
	c.leases.forget()
	for _, w := range c.nodes {
		w.process = ""
	}
}

// do carries an act out. Each may be repeated, also after it was done in part.
func (c *cluster) do(ctx context.Context, a act) error {
	if err := c.doAct(ctx, a); err != nil {
		return fmt.Errorf("%s %s: %w", a.Kind, a.Node, err)
	}
	return nil
}

func (c *cluster) doAct(ctx context.Context, a act) error {
	w := c.nodes[a.Node]
	switch a.Kind {
	case actOpen:
		return c.open(ctx, w)
	case actPromote:
		if err := w.server.Detach(ctx); err != nil {
			return err
		}
		return c.open(ctx, w)
	case actFence:
		return c.fence(ctx, w)
	case actShut:
		return c.shut(ctx, w)
	case actSemiSyncSource:
		return w.server.AwaitReplicas(ctx)
	case actAttach:
		return w.server.Attach(ctx, c.nodes[a.From].source())
	case actStart:
		return w.server.Turn(ctx, engine.StartBoth)
	case actStop:
		return w.server.Turn(ctx, engine.StopBoth)
	case actStopReceiving:
		return w.server.Turn(ctx, engine.StopReceiving)
	case actStartApplying:
		return w.server.Turn(ctx, engine.StartApplying)
	case actCatchUp:
		return w.server.CatchUp(ctx, w.last.Received, catchUpStep)
	case actClone:
		c.clones.start(ctx, w, c.nodes[a.From].address)
		return nil
	}
	return fmt.Errorf("there is no such act")
}

// open makes a node writable under a lease, with commits that wait for acknowledgements from the first one on.
func (c *cluster) open(ctx context.Context, w *watched) error {
	if err := w.server.AwaitReplicas(ctx); err != nil {
		return err
	}
	if err := c.leases.give(ctx, w.Name); err != nil {
		return err
	}
	return w.server.Open(ctx)
}

// shut closes a node in good order: commits under way end and are acknowledged, then clients are sent away. Where its agent cannot be
// told, the node is closed all the same, and its lease runs out.
func (c *cluster) shut(ctx context.Context, w *watched) error {
	if err := w.server.Shut(ctx); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return w.agent.Fence(short)
}

// fence makes a node read-only through its agent, or by SQL where that fails. A lease that ends sooner is not waited for.
func (c *cluster) fence(ctx context.Context, w *watched) error {
	limit := c.timeout
	if left := c.leases.left(w.Name); left > 0 {
		limit = min(limit, left)
	}
	short, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := w.agent.Fence(short)
	if err == nil || !w.last.Answers {
		return err
	}
	short, cancel = context.WithTimeout(ctx, limit)
	defer cancel()
	if sqlErr := w.server.Shut(short); sqlErr != nil {
		return errors.Join(err, sqlErr)
	}
	return nil
}
