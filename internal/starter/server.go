// Package starter is the start wrapper of a database server: it runs in the server's container, of whatever image, in
// the place of the image's entrypoint. It waits while a hold stands, makes the data directory of a new node, runs the
// server as its child, and ends as the server ended, so that the kubelet starts the container again after a crash. Where a
// manager runs the server, its child is the manager, which makes the data.
package starter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"replab.dev/internal/agent/hold"
	"replab.dev/internal/engine"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// holdInterval is the time between two looks at the holds.
const holdInterval = 100 * time.Millisecond

// Command returns `replab server`. It exits with the server's exit code, or 128 + the signal that ended it.
func Command(engines engine.Lookup[engine.Starter]) *cobra.Command {
	return process.Command("server", "Run a database server: the start wrapper in its container", func(ctx context.Context, cfg wire.ServerConfig) error {
		code, err := run(ctx, cfg, engines)
		if err != nil {
			return fmt.Errorf("server: %w", err)
		}
		os.Exit(code)
		return nil
	})
}

// wrapper runs one node's server.
type wrapper struct {
	cfg     wire.ServerConfig
	engine  engine.Starter
	ordinal int
	log     *slog.Logger
	member  *member      // nil where the servers form no group
	managed *managed     // nil where the wrapper starts the server itself
	alone   engine.Alone // nil where servers are started without being read
}

// run returns once the server has ended for good, with the exit code to end with; 0 when ctx ended before the server
// was started.
func run(ctx context.Context, cfg wire.ServerConfig, engines engine.Lookup[engine.Starter]) (int, error) {
	e, err := engines.For(cfg.Engine)
	if err != nil {
		return 0, err
	}
	if len(cfg.Server) == 0 {
		return 0, errors.New(`"server" in the configuration is empty; it must hold the server's command line`)
	}
	ordinal, err := podOrdinal(os.Getenv(wire.EnvPodName))
	if err != nil {
		return 0, err
	}
	w := &wrapper{cfg: cfg, engine: e, ordinal: ordinal, log: slog.Default()}
	if cfg.Inspect {
		var ok bool
		if w.alone, ok = e.(engine.Alone); !ok {
			return 0, fmt.Errorf("engine %s cannot run a server alone, and the configuration wants it inspected", cfg.Engine)
		}
	}
	if cfg.Group != nil {
		if w.member, err = newMember(cfg, e, ordinal, w.log); err != nil {
			return 0, err
		}
	}
	if cfg.Manager != nil {
		if w.managed, err = newManaged(cfg, e); err != nil {
			return 0, err
		}
	}
	stop, err := w.serveCopies()
	if err != nil {
		return 0, err
	}
	defer stop()
	return w.keepRunning(ctx)
}

// keepRunning starts the server again as long as it ends because it wants that, or because it could not join its group.
func (w *wrapper) keepRunning(ctx context.Context) (int, error) {
	for {
		how, err := w.prepare(ctx)
		if errors.Is(err, errHeld) {
			continue
		}
		if err != nil {
			return stopped(ctx, err)
		}
		code, err := w.runServer(ctx, how)
		if err != nil {
			return 0, err
		}
		if ctx.Err() != nil || !w.engine.WantsRestart(code) && !w.member.triesAgain(code) && !w.copyRequested() {
			w.log.Info("the server ended", "exitCode", code)
			return code, nil
		}
		w.log.Info("the server ended to be started again", "exitCode", code)
	}
}

// prepare waits until the server may be started, and returns how.
func (w *wrapper) prepare(ctx context.Context) (engine.Start, error) {
	if err := w.waitForHolds(ctx); err != nil {
		return engine.Start{}, err
	}
	if w.managed != nil {
		return w.prepareManaged(ctx)
	}
	if err := w.member.begin(); err != nil {
		return engine.Start{}, err
	}
	if err := w.replaceData(ctx); err != nil {
		return engine.Start{}, err
	}
	fresh, err := w.ensureData(ctx)
	if err != nil {
		return engine.Start{}, err
	}
	identity, err := readIdentity(w.cfg.DataDir)
	if err != nil {
		return engine.Start{}, err
	}
	params := engine.StartParams{Ordinal: w.ordinal, Identity: identity, Socket: w.cfg.Socket, WrapperPID: os.Getpid()}
	unfinished, err := w.member.unfinished()
	if err != nil {
		return engine.Start{}, err
	}
	position, err := w.member.findPosition(ctx, fresh || unfinished) // before the inspection, of data that nothing has touched
	if err != nil {
		return engine.Start{}, err
	}
	if err := w.inspect(ctx, params, fresh, unfinished); err != nil {
		return engine.Start{}, err
	}
	if w.member == nil {
		return w.engine.Start(w.cfg.Server, params), nil
	}
	entry, err := w.member.enter(ctx, position)
	return w.member.engine.Enter(w.cfg.Server, params, entry), err
}

// stopped turns an error that came because the wrapper was told to stop into a graceful end.
func stopped(ctx context.Context, err error) (int, error) {
	if ctx.Err() != nil {
		return 0, nil
	}
	return 0, err
}

// waitForHolds returns when no hold stands any more.
func (w *wrapper) waitForHolds(ctx context.Context) error {
	ticker := time.NewTicker(holdInterval)
	defer ticker.Stop()
	for said := false; ; {
		standing, err := hold.Standing(w.cfg.HoldDir, time.Now())
		if err != nil {
			return err
		}
		if len(standing) == 0 {
			if said {
				w.log.Info("no hold stands any more, starting the server")
			}
			return nil
		}
		if !said {
			w.log.Info("waiting before the server is started: it is held", "holds", describe(standing))
			said = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

func describe(holds []hold.Hold) string {
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
