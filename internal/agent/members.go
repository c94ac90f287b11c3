package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"replab.dev/internal/agent/inspect"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/repeat"
	"replab.dev/internal/agent/switchover"
	"replab.dev/internal/engine"
	group "replab.dev/internal/topology/galera/agent"
	manager "replab.dev/internal/topology/patroni/agent"
	"replab.dev/internal/wire"
)

// joinGroup has the agent take part in what the members of its server's group decide.
func (a *api) joinGroup(cfg wire.AgentConfig, finder *proc.Finder, client engine.Client) error {
	if cfg.Group == nil {
		return nil
	}
	member, ok := client.(engine.Member)
	if !ok {
		return fmt.Errorf("engine %s knows no groups, and the configuration names one", cfg.Engine)
	}
	a.groupWatcher = &groupWatcher{finder: finder, member: member}
	a.groupWatcher.last.err = errNotAsked
	var err error
	a.group, err = group.NewMember(*cfg.Group, os.Getenv(wire.EnvPodName), cfg.StateDir, cfg.RunDir, a.groupWatcher, member)
	return err
}

// joinManager has the agent look at what the manager does that runs its server.
func (a *api) joinManager(cfg wire.AgentConfig, e engine.Local, finder *proc.Finder, client engine.Client, password string) error {
	if cfg.Manager == nil {
		return nil
	}
	local, managed := e.(engine.ManagedLocal)
	positioned, tells := client.(engine.Positioned)
	if !managed || !tells {
		return fmt.Errorf("engine %s knows no managers, and the configuration names one", cfg.Engine)
	}
	a.managerWatcher = manager.NewWatcher(finder, positioned)
	var err error
	a.manager, err = manager.New(*cfg.Manager, os.Getenv(wire.EnvPodName), cfg.StateDir, cfg.RunDir, a.managerWatcher,
		local.ManagerClient(cfg.Manager.URL, password))
	return err
}

// switcher has another node take the writes when it is asked to under a name, once.
type switcher interface {
	SwitchOver(name string) error
}

// switcher is nil where nodes do not decide themselves who takes the writes.
func (a *api) switcher() switcher {
	switch {
	case a.group != nil:
		return a.group
	case a.manager != nil:
		return a.manager
	}
	return nil
}

// keepInspections has the agent read servers that are about to be started.
func (a *api) keepInspections(cfg wire.AgentConfig, e engine.Local, password string) error {
	if !cfg.Inspect {
		return nil
	}
	opener, ok := e.(engine.RowOpener)
	if !ok {
		return fmt.Errorf("engine %s cannot read a server that runs alone, and the configuration wants it inspected", cfg.Engine)
	}
	var err error
	a.inspector, err = inspect.New(cfg.StateDir, cfg.HoldDir, cfg.RunDir, func(ctx context.Context, socket string) (engine.Rows, error) {
		return opener.OpenRows(ctx, socket, password)
	})
	return err
}

// groupWatcher looks at what the server says of its group.
type groupWatcher struct {
	finder *proc.Finder
	member engine.Member

	mu     sync.Mutex
	last   answer[engine.GroupLook]
	asked  time.Time
	stable group.Stability
	view   wire.GroupView
}

func (g *groupWatcher) run(ctx context.Context) {
	repeat.Every(ctx, lookInterval, func() {
		asked := time.Now()
		a := look(ctx, g.finder, g.member.Group)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.last, g.asked = a, asked
		if a.err != nil {
			g.stable.Silent()
			return
		}
		g.view = a.value.GroupView
		g.view.StableMilliseconds = g.stable.Follow(fmt.Sprint(a.of), a.value, a.at).Milliseconds()
	})
}

// Look implements group.Server.
func (g *groupWatcher) Look() (group.Look, error) {
	server, err := g.finder.Find()
	if err != nil {
		return group.Look{}, err
	}
	l := group.Look{Server: server.ID()}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.last.valid(server, time.Now()); err != nil {
		return l, err
	}
	l.View, l.Asked = g.view, g.asked
	return l, nil
}

// switchOver is asked of the member that takes the writes.
func (a *api) switchOver(w http.ResponseWriter, r *http.Request) {
	var request wire.SwitchoverRequest
	if err := decode(w, r, &request); err != nil {
		return
	}
	if self := os.Getenv(wire.EnvPodName); request.From != self || request.Name == "" {
		http.Error(w, fmt.Sprintf("this is %s, and switchover %q is from %q", self, request.Name, request.From), http.StatusBadRequest)
		return
	}
	switch err := a.switcher().SwitchOver(request.Name); {
	case errors.Is(err, switchover.ErrRefused):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func (a *api) inspections(w http.ResponseWriter, _ *http.Request) { answerJSON(w, a.inspector.All()) }

func (a *api) inspectedIDs(w http.ResponseWriter, _ *http.Request) {
	ids, err := a.inspector.IDs()
	switch {
	case errors.Is(err, inspect.ErrUnknown):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		defer ids.Close()
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.Copy(w, ids) // the client may be gone, and knows how many ids there are
	}
}
