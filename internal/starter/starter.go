// Package starter is the start wrapper of a database server: it runs in the server's container, of whatever image, in
// the place of the image's entrypoint. It waits while a hold stands, makes the data directory of a new node, runs the
// server as its child, and ends as the server ended, so that the kubelet starts the container again after a crash. Where a
// manager runs the server, its child is the manager, which makes the data. What families of topologies do otherwise is theirs: see Way.
package starter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
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
			slog.Info("the server ended", "exitCode", code)
			return code, nil
		}
		slog.Info("the server ended to be started again", "exitCode", code)
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
				slog.Info("no hold stands any more, starting the server")
			}
			return nil
		}
		if !said {
			slog.Info("waiting before the server is started: it is held", "holds", describe(standing))
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
