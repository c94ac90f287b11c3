// Package agent is the agent in pods that another operator makes. It sees its server by address alone: it watches, switches over, and makes
// the app's accounts and tables.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/agent/part"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
	"replab.dev/internal/metrics"
	"replab.dev/internal/process"
	patroni "replab.dev/internal/topology/patroni/agent"
	"replab.dev/internal/wire"
)

// furnishInterval is the time between two attempts to have the app's accounts and tables in the server.
const furnishInterval = time.Second

// remote is the agent of a server of which it sees the address alone, since another operator makes the pod. It watches, and switches over.
// It can inject no fault and read no resources: what it would signal and read are its own container's processes.
type remote struct {
	podUID   string
	watcher  *watcher
	manager  *patroni.Member
	client   engine.RemoteClient
	password func(account string) (string, error)

	mu        sync.Mutex
	furnished bool
}

// Serve runs the agent until ctx ends.
func Serve(ctx context.Context, cfg wire.AgentConfig, e engine.Local) error {
	local, ok := e.(engine.ManagedLocal)
	if !ok || cfg.Manager == nil {
		return fmt.Errorf(`engine %s: "remote" in the configuration requires "manager"`, cfg.Engine)
	}
	account, password := os.Getenv(cfg.Remote.AccountFrom), os.Getenv(cfg.Remote.PasswordFrom)
	if account == "" || password == "" {
		return fmt.Errorf("the environment has no %s or no %s, of the server's administrator", cfg.Remote.AccountFrom, cfg.Remote.PasswordFrom)
	}
	token, err := process.Secret(cfg.SecretDir, wire.AgentTokenFile)
	if err != nil {
		return err
	}
	client := local.RemoteClient(cfg.Remote.Server, account, password)
	defer client.Close()
	r, err := newRemote(cfg, client, local.ManagerClient(cfg.Manager.URL, password))
	if err != nil {
		return err
	}
	return part.Serve(ctx, cfg.Listen, r.handler(token), r.metrics(), r.run)
}

func newRemote(cfg wire.AgentConfig, client engine.RemoteClient, decides engine.ManagerClient) (*remote, error) {
	r := &remote{
		podUID: os.Getenv(wire.EnvPodUID), watcher: newWatcher(client), client: client,
		password: func(account string) (string, error) { return process.Secret(cfg.SecretDir, account) },
	}
	if r.podUID == "" {
		return nil, fmt.Errorf("the environment has no %s, by which it is known which pod this is", wire.EnvPodUID)
	}
	if err := os.MkdirAll(cfg.StateDir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the agent's state: %w", err)
	}
	var err error
	r.manager, err = patroni.New(*cfg.Manager, os.Getenv(wire.EnvPodName), cfg.StateDir, cfg.StateDir, r.watcher, decides)
	return r, err
}

// run watches until ctx ends.
func (r *remote) run(ctx context.Context) {
	watch.Together(ctx, r.manager.Run, r.furnish)
}

// furnish has the app's accounts and tables made in the first server that takes writes: whatever is there is left as it is, and the other
// servers copy it.
func (r *remote) furnish(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	said := ""
	watch.Every(ctx, furnishInterval, func() {
		if !r.manager.State().Writes {
			return
		}
		if err := r.client.Furnish(ctx, r.password); err != nil {
			if err.Error() != said {
				said = err.Error()
				slog.Warn("the app's accounts and tables could not be created", "error", err)
			}
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.furnished = true
		cancel()
	})
}

func (r *remote) handler(token string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(wire.AgentPathHealth, func(w http.ResponseWriter, _ *http.Request) { part.Decided(w, true, "the agent runs") })
	mux.HandleFunc(wire.AgentPathReady, func(w http.ResponseWriter, _ *http.Request) {
		l, err := r.watcher.Look()
		part.Decided(w, err == nil && l.Position != nil, l.Why)
	})
	mux.HandleFunc("GET "+wire.AgentPathState, r.state)
	mux.HandleFunc("GET "+wire.AgentPathResources, func(w http.ResponseWriter, _ *http.Request) {
		part.JSON(w, wire.Resources{At: metav1.NowMicro(), OutOfSight: true})
	})
	mux.Handle("POST "+wire.AgentPathSwitchover, process.RequireToken(token, part.SwitchOver(r.manager)))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, errOutOfSight.Error(), http.StatusNotFound)
	})
	return mux
}

var errOutOfSight = errors.New("this agent sees its server's address alone, and none of its processes")

func (r *remote) state(w http.ResponseWriter, _ *http.Request) {
	l, _ := r.watcher.Look() // before the first answer; the manager's state says why nothing is known
	told, state := wire.NodeState{PodUID: r.podUID}, r.manager.State()
	r.mu.Lock()
	state.Furnished, state.Runs = r.furnished, l.Server != ""
	r.mu.Unlock()
	told.Manager = &state
	part.JSON(w, told)
}

// metrics of a server that is seen by its address: whether it answers, and what its manager says.
func (r *remote) metrics() *prometheus.Registry {
	all := append([]*metrics.Family{part.Up, part.Role}, patroni.Families()...)
	return metrics.New(metrics.Collector{Families: all, Read: func(tell metrics.Tell) {
		look, err := r.watcher.Look()
		tell(part.Up, metrics.Bool(err == nil && look.Position != nil))
		state := r.manager.State()
		tell(part.Role, metrics.Bool(state.Writes), "primary")
		tell(part.Role, metrics.Bool(state.Streaming), "replica")
		patroni.Measure(tell, state)
	}})
}

// watcher asks a server by its address again and again, since its process cannot be seen.
type watcher struct {
	client engine.RemoteClient

	mu       sync.Mutex
	server   string // that answered last; "" once there is no server
	position engine.ServerPosition
	asked    time.Time // when the question before at was sent
	at       time.Time // of the last answer, or of when there was found to be no server; zero before
	err      error     // of the last question
}

// newWatcher looks at nothing yet.
func newWatcher(client engine.RemoteClient) *watcher {
	return &watcher{client: client, err: watch.ErrNotAsked}
}

// Run looks until ctx ends.
func (w *watcher) Run(ctx context.Context) {
	watch.Every(ctx, patroni.LookInterval, func() {
		asking, cancel := context.WithTimeout(ctx, watch.Freshness)
		defer cancel()
		asked := time.Now()
		run, position, err := w.client.RunAndPosition(asking)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.err = err
		if err == nil || errors.Is(err, engine.ErrNoServer) {
			w.server, w.position, w.asked, w.at = run, position, asked, time.Now()
		}
	})
}

// Look implements patroni.Server. A server that does not answer is taken for the one that did, until another one answers or the port is closed. Before
// the first answer there is an error: it may be the one that an agent before this one saw.
func (w *watcher) Look() (patroni.Look, error) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case errors.Is(w.err, engine.ErrNoServer):
		return patroni.Look{At: w.at, Why: w.err.Error()}, nil
	case w.at.IsZero():
		return patroni.Look{At: now, Why: w.err.Error()}, w.err
	case w.err != nil:
		return patroni.Look{At: now, Server: w.server, Why: w.err.Error()}, nil
	case now.Sub(w.at) > watch.Freshness:
		return patroni.Look{At: now, Server: w.server, Why: "the server does not answer any more"}, nil
	}
	position := w.position
	return patroni.Look{At: w.at, Asked: w.asked, Server: w.server, Position: &position}, nil
}
