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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/agent/repeat"
	"replab.dev/internal/engine"
	"replab.dev/internal/metrics"
	"replab.dev/internal/process"
	manager "replab.dev/internal/topology/patroni/agent"
	"replab.dev/internal/wire"
)

// furnishInterval is the time between two attempts to have the app's accounts and tables in the server.
const furnishInterval = time.Second

// remote is the agent of a server of which it sees the address alone, since another operator makes the pod. It watches, and switches over.
// It can inject no fault and read no resources: what it would signal and read are its own container's processes.
type remote struct {
	podUID   string
	watcher  *manager.RemoteWatcher
	manager  *manager.Member
	client   engine.RemoteClient
	password func(account string) (string, error)

	mu        sync.Mutex
	furnished bool
}

func runRemote(ctx context.Context, cfg wire.AgentConfig, e engine.Local) error {
	local, ok := e.(engine.RemoteLocal)
	if !ok || cfg.Manager == nil {
		return fmt.Errorf(`engine %s with "remote" and without "manager" in the configuration: nobody would say what becomes of the server`, cfg.Engine)
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
	ctx, cancel := context.WithCancel(ctx)
	var loops sync.WaitGroup
	loops.Go(func() { r.run(ctx) })
	loops.Go(func() { metrics.Serve(ctx, r.metrics()) })
	defer loops.Wait()
	defer cancel()
	slog.Info("the agent listens", "address", cfg.Listen)
	return process.Serve(ctx, &http.Server{Addr: cfg.Listen, Handler: r.handler(token)})
}

func newRemote(cfg wire.AgentConfig, client engine.RemoteClient, decides engine.ManagerClient) (*remote, error) {
	r := &remote{
		podUID: os.Getenv(wire.EnvPodUID), watcher: manager.NewRemoteWatcher(client), client: client,
		password: func(account string) (string, error) { return process.Secret(cfg.SecretDir, account) },
	}
	if r.podUID == "" {
		return nil, fmt.Errorf("the environment has no %s, by which it is known which pod this is", wire.EnvPodUID)
	}
	if err := os.MkdirAll(cfg.StateDir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the agent's state: %w", err)
	}
	var err error
	r.manager, err = manager.New(*cfg.Manager, os.Getenv(wire.EnvPodName), cfg.StateDir, cfg.StateDir, r.watcher, decides)
	return r, err
}

// run watches until ctx ends.
func (r *remote) run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() { r.watcher.Run(ctx) })
	loops.Go(func() { r.manager.Run(ctx) })
	loops.Go(func() { r.furnish(ctx) })
	loops.Wait()
}

// furnish has the app's accounts and tables made in the first server that takes writes: whatever is there is left as it is, and the other
// servers copy it.
func (r *remote) furnish(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	said := ""
	repeat.Every(ctx, furnishInterval, func() {
		if !r.manager.State().Writes {
			return
		}
		if err := r.client.Furnish(ctx, r.password); err != nil {
			if err.Error() != said {
				said = err.Error()
				slog.Warn("the app's accounts and tables could not be made", "error", err)
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
	mux.HandleFunc(wire.AgentPathHealth, func(w http.ResponseWriter, _ *http.Request) { decided(w, true, "the agent runs") })
	mux.HandleFunc(wire.AgentPathReady, func(w http.ResponseWriter, _ *http.Request) {
		l, err := r.watcher.Look()
		decided(w, err == nil && l.Position != nil, l.Why)
	})
	mux.HandleFunc("GET "+wire.AgentPathState, r.state)
	mux.HandleFunc("GET "+wire.AgentPathResources, func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, wire.Resources{At: metav1.NowMicro(), OutOfSight: true})
	})
	mux.Handle("POST "+wire.AgentPathSwitchover, process.RequireToken(token, http.HandlerFunc((&api{manager: r.manager}).switchOver)))
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
	answerJSON(w, told)
}
