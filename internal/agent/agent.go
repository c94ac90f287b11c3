// Package agent is the sidecar of a database server. It starts nothing: it watches the server, tells its role, keeps
// it from being writable without a lease where the topology has leases, injects faults into it, and reads what it uses.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"replab.dev/internal/agent/fault"
	"replab.dev/internal/agent/link"
	"replab.dev/internal/agent/part"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// Command returns `replab agent`.
func Command(engines engine.Lookup[engine.Local], families part.Families) *cobra.Command {
	cmd := process.Command("agent", "Watch a database server: the sidecar of each node", func(ctx context.Context, cfg wire.AgentConfig) error {
		if err := run(ctx, cfg, engines, families); err != nil {
			return fmt.Errorf("agent: %w", err)
		}
		return nil
	})
	user := cmd.Flags().Int("run-as", 0, "user id to go on as, with the capability NET_ADMIN where it was given; 0: stay")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *user == 0 || *user == os.Geteuid() {
			return closeProcess()
		}
		return becomeUser(*user)
	}
	return cmd
}

func run(ctx context.Context, cfg wire.AgentConfig, engines engine.Lookup[engine.Local], families part.Families) error {
	e, err := engines.For(cfg.Engine)
	if err != nil {
		return err
	}
	if cfg.Remote != nil {
		return families.Remote(ctx, cfg, e)
	}
	if len(cfg.Server) == 0 || cfg.Process == "" {
		return errors.New(`"server" and "process" in the configuration must name the server's command line and process`)
	}
	if cfg.Manager != nil && (len(cfg.Manager.Argv) == 0 || cfg.Manager.Process == "") {
		return errors.New(`"argv" and "process" of "manager" in the configuration must name the manager's command line and process`)
	}
	token, err := process.Secret(cfg.SecretDir, wire.AgentTokenFile)
	if err != nil {
		return err
	}
	password, err := process.Secret(cfg.SecretDir, wire.AccountAdmin)
	if err != nil {
		return err
	}
	client, err := e.Client(cfg.Socket, password)
	if err != nil {
		return err
	}
	defer client.Close()
	finder := proc.NewFinder(cfg.Process, func(argv []string) bool { return e.IsServer(cfg.Server, argv) })
	a, err := newAPI(cfg, finder, client)
	if err != nil {
		return err
	}
	if err := a.keepInspections(cfg, e, password); err != nil {
		return err
	}
	a.part, err = families.PartOf(part.Node{Config: cfg, Name: os.Getenv(wire.EnvPodName), Engine: e, Server: finder, Client: client, Password: password})
	if err != nil {
		return err
	}
	return part.Serve(ctx, cfg.Listen, a.handler(token), a.metrics(), a.run)
}

// newAPI puts the agent's parts together. What an earlier agent left in the state directory is taken up.
func newAPI(cfg wire.AgentConfig, finder *proc.Finder, client engine.Client) (*api, error) {
	a := &api{podUID: os.Getenv(wire.EnvPodUID), family: familyOf(cfg, finder)}
	if a.podUID == "" {
		return nil, fmt.Errorf("the environment has no %s, without which a fault could hit the wrong pod", wire.EnvPodUID)
	}
	if err := os.MkdirAll(cfg.StateDir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the agent's state: %w", err)
	}
	var err error
	seenWritable := func(time.Time) {}
	if cfg.Leases {
		if a.keeper, err = newKeeper(cfg.StateDir, finder, client); err != nil {
			return nil, err
		}
		seenWritable = a.keeper.seenWritable
	}
	a.watcher = newWatcher(finder, client, seenWritable)
	if a.links, err = link.New(a.podUID); err != nil {
		return nil, err
	}
	a.faults, err = fault.New(cfg.StateDir, cfg.HoldDir, a.podUID, finder, a.family)
	return a, err
}

// familyOf is the server with the manager that runs it, where there is one. A manager that is a script has its interpreter in front of its
// own arguments.
func familyOf(cfg wire.AgentConfig, server *proc.Finder) *proc.Family {
	if cfg.Manager == nil {
		return proc.NewFamily(server, nil)
	}
	own := cfg.Manager.Argv[min(1, len(cfg.Manager.Argv)):]
	return proc.NewFamily(server, proc.NewFinder(cfg.Manager.Process, func(argv []string) bool {
		return len(argv) > len(own) && slices.Equal(argv[len(argv)-len(own):], own)
	}))
}

// run watches and fences until ctx ends.
func (a *api) run(ctx context.Context) {
	loops := []func(context.Context){a.watcher.run}
	if a.keeper != nil {
		loops = append(loops, a.keeper.run)
	}
	if a.part != nil {
		loops = append(loops, a.part.Run)
	}
	if a.inspector != nil {
		loops = append(loops, a.inspector.Run)
	}
	watch.Together(ctx, loops...)
	a.faults.Close()
	if _, err := a.links.Clear(); err != nil {
		slog.Error("the delays of topology.links could not be removed", "error", err)
	}
}
