// Package starter is the start wrapper of a database server: it runs in the server's container, of whatever image, in
// the place of the image's entrypoint. It waits while a hold stands, makes the data directory of a new node, runs the
// server as its child, and ends as the server ended, so that the kubelet starts the container again after a crash. Where a
// manager runs the server, its child is the manager, which makes the data. What families of topologies do otherwise is theirs: see Way.
package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"replab.dev/internal/agent/notes"
	"replab.dev/internal/engine"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// holdInterval is the time between two looks at the holds.
const holdInterval = 100 * time.Millisecond

// Command returns `replab server`. It exits with the server's exit code, or 128 + the signal that ended it.
func Command(engines engine.Lookup[engine.Starter], families []Family) *cobra.Command {
	return process.Command("server", "Run a database server: the start wrapper in its container", func(ctx context.Context, cfg wire.ServerConfig) error {
		code, err := Run(ctx, cfg, engines, families)
		if err != nil {
			return fmt.Errorf("server: %w", err)
		}
		os.Exit(code)
		return nil
	})
}

// Run returns once the server has ended for good, with the exit code to end with; 0 when ctx ended before the server was started.
func Run(ctx context.Context, cfg wire.ServerConfig, engines engine.Lookup[engine.Starter], families []Family) (int, error) {
	n, err := newNode(cfg, engines)
	if err != nil {
		return 0, err
	}
	way, err := n.way(families)
	if err != nil {
		return 0, err
	}
	stop, err := n.serveCopies()
	if err != nil {
		return 0, err
	}
	defer stop()
	return n.keepRunning(ctx, way)
}

// keepRunning starts the server again as long as it ends because it wants that, or because its family does.
func (n *Node) keepRunning(ctx context.Context, way Way) (int, error) {
	for {
		how, err := n.prepare(ctx, way)
		if errors.Is(err, ErrHeld) {
			continue
		}
		if err != nil {
			return stopped(ctx, err)
		}
		code, err := n.runServer(ctx, way, how)
		if err != nil {
			return 0, err
		}
		if ctx.Err() != nil || !n.Engine.WantsRestart(code) && !way.Again(code) {
			slog.Info("the server exited", "exitCode", code)
			return code, nil
		}
		slog.Info("the server exited and is started again", "exitCode", code)
	}
}

// prepare waits until the server may be started, and returns how.
func (n *Node) prepare(ctx context.Context, way Way) (engine.Start, error) {
	if err := n.waitForHolds(ctx); err != nil {
		return engine.Start{}, err
	}
	return way.Prepare(ctx)
}

// stopped turns an error that came because the wrapper was told to stop into a graceful end.
func stopped(ctx context.Context, err error) (int, error) {
	if ctx.Err() != nil {
		return 0, nil
	}
	return 0, err
}

// waitForHolds returns when no hold stands any more.
func (n *Node) waitForHolds(ctx context.Context) error {
	ticker := time.NewTicker(holdInterval)
	defer ticker.Stop()
	for said := false; ; {
		standing, err := notes.StandingHolds(n.Config.HoldDir, time.Now())
		if err != nil {
			return err
		}
		if len(standing) == 0 {
			if said {
				slog.Info("no hold is left: starting the server")
			}
			return nil
		}
		if !said {
			slog.Info("the server is held: its start waits", "holds", describe(standing))
			said = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

func describe(holds []notes.Hold) string {
	var texts []string
	for _, h := range holds {
		until := "until it is released"
		if h.Until != nil {
			until = "until " + h.Until.UTC().Format(time.RFC3339Nano)
		}
		texts = append(texts, fmt.Sprintf("fault %s %s", h.Fault, until))
	}
	return strings.Join(texts, ", ")
}

// ErrHeld says that a hold was put while the wrapper waited for something else.
var ErrHeld = errors.New("the server is held")

// Way is how the servers of a family's nodes are started.
type Way interface {
	// Prepare waits until the server may be started, and returns how. No hold stood when it was called; it returns ErrHeld once one does.
	Prepare(ctx context.Context) (engine.Start, error)
	// Again tells whether a server that ended with this exit code is to be started again at once.
	Again(exitCode int) bool
}

// Listener is a Way that takes what its server writes.
type Listener interface {
	io.Writer
	// LeftOut tells once that the running server takes part in nothing until it is started again.
	LeftOut() <-chan struct{}
	// Ended is told of each end of the server, and whether it was stopped since it was left out.
	Ended(leftOut bool)
}

// Family returns its way for a node, nil for one of another family.
type Family func(*Node) (Way, error)

// Node is where one server is started.
type Node struct {
	Config  wire.ServerConfig
	Engine  engine.Starter
	Ordinal int // at the end of the pod's name

	alone engine.Alone // nil where servers are started without being read
}

func newNode(cfg wire.ServerConfig, engines engine.Lookup[engine.Starter]) (*Node, error) {
	e, err := engines.For(cfg.Engine)
	if err != nil {
		return nil, err
	}
	if len(cfg.Server) == 0 {
		return nil, errors.New(`"server" in the configuration is empty; it must hold the server's command line`)
	}
	n := &Node{Config: cfg, Engine: e}
	if n.Ordinal, err = podOrdinal(os.Getenv(wire.EnvPodName)); err != nil {
		return nil, err
	}
	if cfg.Inspect {
		var ok bool
		if n.alone, ok = e.(engine.Alone); !ok {
			return nil, fmt.Errorf("engine %s cannot run a server alone, and the configuration wants it inspected", cfg.Engine)
		}
	}
	return n, nil
}

// way is that of the node's family, or the direct one.
func (n *Node) way(families []Family) (Way, error) {
	for _, family := range families {
		if w, err := family(n); w != nil || err != nil {
			return w, err
		}
	}
	return direct{n}, nil
}

// Held returns ErrHeld while a hold stands.
func (n *Node) Held() error {
	standing, err := notes.StandingHolds(n.Config.HoldDir, time.Now())
	if err != nil || len(standing) > 0 {
		return errors.Join(err, ErrHeld)
	}
	return nil
}

// Params are what the server is started with.
func (n *Node) Params() (engine.StartParams, error) {
	identity, err := readIdentity(n.Config.DataDir)
	return engine.StartParams{Ordinal: n.Ordinal, Identity: identity, Socket: n.Config.Socket, WrapperPID: os.Getpid(), Pair: n.Config.Pair}, err
}

// direct starts a server as its engine has it.
type direct struct{ *Node }

// Prepare implements Way.
func (d direct) Prepare(ctx context.Context) (engine.Start, error) {
	if err := d.replaceData(ctx); err != nil {
		return engine.Start{}, err
	}
	fresh, err := d.EnsureData(ctx)
	if err != nil {
		return engine.Start{}, err
	}
	params, err := d.Params()
	if err != nil {
		return engine.Start{}, err
	}
	if err := d.Inspect(ctx, params, fresh, false); err != nil {
		return engine.Start{}, err
	}
	return d.Engine.Start(d.Config.Server, params), nil
}

// Again implements Way: the server ends to become a copy of another one.
func (d direct) Again(int) bool { return d.copyRequested() }

// podOrdinal is the number at the end of a StatefulSet pod's name.
func podOrdinal(podName string) (int, error) {
	_, suffix, found := cutLast(podName, "-")
	n, err := strconv.Atoi(suffix)
	if !found || err != nil || n < 0 {
		return 0, fmt.Errorf("the pod's name %q does not end in -N, from which the server's id is made; set %s to the name of a StatefulSet's pod",
			podName, wire.EnvPodName)
	}
	return n, nil
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}
