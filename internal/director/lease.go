package director

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"replab.dev/internal/agent/client"
	"replab.dev/internal/engine"
	"replab.dev/internal/httpclient"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// leases gives the primary its lease, renews it, and knows until when a lease may stand. It renews by itself, so that an
// act on one node that takes long does not close another one.
type leases struct {
	agents  map[string]client.Agent
	ttl     time.Duration
	timeout time.Duration // of a request

	mu     sync.Mutex
	holder string
	until  map[string]time.Time
	// giving is held while a request for a lease is under way.
	giving sync.Mutex
	soon   chan struct{} // asks for a renewal before its time
}

// newLeases takes it that every node was given a lease just now, by the director before this one.
func newLeases(agents map[string]client.Agent, ttl, timeout time.Duration) *leases {
	l := &leases{agents: agents, ttl: ttl, timeout: timeout, until: map[string]time.Time{}, soon: make(chan struct{}, 1)}
	l.forget()
	return l
}

// forget is the same for a director that has to begin again from the stored state.
func (l *leases) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range l.agents {
		l.until[name] = time.Now().Add(l.ttl)
	}
}

// left returns how long a lease of the node may still stand.
func (l *leases) left(name string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, time.Until(l.until[name]))
}

// give grants a lease. The agent counts from when it heard of it, the director from when it heard the answer, which is
// later. A request without an answer may have been heard, unless no connection came to be.
func (l *leases) give(ctx context.Context, name string) error {
	l.giving.Lock()
	defer l.giving.Unlock()
	return l.giveNow(ctx, name)
}

func (l *leases) giveNow(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	err := l.agents[name].Lease(ctx, l.ttl)
	if err == nil || !neverSent(err) {
		l.mu.Lock()
		l.until[name] = time.Now().Add(l.ttl)
		l.mu.Unlock()
	}
	return err
}

// renewFor lets the lease of one node be renewed from now on, of none when name is empty. When it returns no renewal for
// another node is under way, so that left tells the truth about that one.
func (l *leases) renewFor(name string) {
	l.mu.Lock()
	changed := l.holder != name
	l.holder = name
	l.mu.Unlock()
	if !changed {
		return
	}
	l.giving.Lock() // whoever held it before has ended
	defer l.giving.Unlock()
	select {
	case l.soon <- struct{}{}: // the lease may be old
	default:
	}
}

// run renews until ctx ends, three times as often as the lease needs it.
func (l *leases) run(ctx context.Context) {
	ticker := time.NewTicker(l.ttl / 3)
	defer ticker.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-l.soon:
		}
		err := l.renew(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			slog.Warn("the primary's lease could not be renewed; it is read-only once the lease has run out", "error", err)
		}
		failed = err != nil
	}
}

func (l *leases) renew(ctx context.Context) error {
	l.giving.Lock()
	defer l.giving.Unlock()
	l.mu.Lock()
	name := l.holder
	l.mu.Unlock()
	if name == "" {
		return nil
	}
	return l.giveNow(ctx, name)
}

// newAgentClient makes the HTTP client for all agents. A request that is given up must not arrive later, when a partition
// ends: a lease would then stand that the director takes for run out. So a connection is reset when it is closed, and
// what waits to be sent again is dropped with it.
func newAgentClient() *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return httpclient.Client(&http.Transport{
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
	})
}

// neverSent tells that a request certainly did not reach the agent: no connection came to be.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// address is where a node's server and its agent listen.
type address struct {
	Name     string
	Host     string
	Port     int // of the server
	AgentURL string
}

// addresses returns where the nodes of an experiment listen.
func addresses(cfg wire.DirectorConfig) []address {
	list := make([]address, 0, len(cfg.Nodes))
	for _, n := range cfg.Nodes {
		list = append(list, address{Name: n.Name, Host: n.Host, Port: cfg.Port, AgentURL: client.URL(n.Host)})
	}
	return list
}

// hostPort is the server's address.
func (a address) hostPort() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

// source is the node as others replicate from it.
func (a address) source() engine.Source {
	return engine.Source{Name: a.Name, Host: a.Host, Port: a.Port}
}

// secrets are what the director must know to be let in.
type secrets struct {
	admin       string // password of wire.AccountAdmin
	replication string // password of wire.AccountReplication
	token       string // bearer token of the agents, and of requests to the director
}

func readSecrets(dir string) (s secrets, err error) {
	for name, into := range map[string]*string{
		wire.AccountAdmin: &s.admin, wire.AccountReplication: &s.replication, wire.AgentTokenFile: &s.token,
	} {
		if *into, err = process.Secret(dir, name); err != nil {
			return secrets{}, err
		}
	}
	return s, nil
}
