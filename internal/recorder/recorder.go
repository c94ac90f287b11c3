// Package recorder is the front door of the social app, and the instrument that vouches for what went through it: it
// keeps the ledger of writes, the latencies and the timeline, and runs the probes for lag and availability.
//
// It stands in the path of every request of the load and must neither disturb nor help: it hands each request on exactly
// once, retries nothing, and writes down an outcome before it tells it to anybody.
package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"replab.dev/internal/engine"
	"replab.dev/internal/lag"
	"replab.dev/internal/ledger"
	"replab.dev/internal/metrics"
	"replab.dev/internal/process"
	"replab.dev/internal/recorder/figures"
	"replab.dev/internal/recorder/front"
	"replab.dev/internal/recorder/outage"
	"replab.dev/internal/recorder/pulse"
	"replab.dev/internal/recorder/upstream"
	"replab.dev/internal/wire"
)

// Command returns the subcommand `replab recorder`. engines are what its probes ask of the nodes' servers.
func Command(engines engine.Lookup[Engine]) *cobra.Command {
	return process.Command("recorder", "Stand before the social app, keep the ledger of its writes, measure", func(ctx context.Context, cfg wire.RecorderConfig) error {
		return run(ctx, cfg, engines)
	})
}

func run(ctx context.Context, cfg wire.RecorderConfig, engines engine.Lookup[Engine]) error {
	if err := validate(cfg); err != nil {
		return err
	}
	probed, err := engines.For(cfg.Engine)
	if err != nil {
		return fmt.Errorf("recorder: %w", err)
	}
	board, err := process.InClusterConfigMap(cfg.Namespace, cfg.StateMap)
	if err != nil {
		return err
	}
	w, err := open(ctx, cfg, environment{board: board, engine: probed, server: nodeHost, agent: nodeAddress(wire.PortAgent)})
	if err != nil {
		return err
	}
	return w.serve(ctx)
}

// Engine is what the probes ask of the nodes' servers.
type Engine struct {
	Lag     lag.Open
	Commits OpenCounter[engine.Commits]
	// Group is nil for an engine whose servers form no groups.
	Group OpenCounter[engine.GroupCounts]
	// Inspector tells what the servers run with.
	Inspector engine.OpenInspector
}

// environment is what a recorder reaches beside the app.
type environment struct {
	board         board
	engine        Engine
	server, agent addressOf
}

// nodeHost is where a node's server is; the engine knows its port.
func nodeHost(n wire.Node) string { return n.Host }

func nodeAddress(port int) addressOf {
	return func(n wire.Node) string { return net.JoinHostPort(n.Host, strconv.Itoa(port)) }
}

// recorder is one process's work on a ledger.
type recorder struct {
	cfg       wire.RecorderConfig
	now       func() time.Time
	token     string
	listen    func(ctx context.Context, address string, handle front.Handler) error
	state     *state
	publisher *publisher
	ledger    *ledger.Writer // nil when it could not be opened, and when the recorder before had finished
	door      *door
	probes    *probes
	shown     prometheus.Gatherer // for Prometheus
	// incomplete is wire.RecorderResults.Incomplete.
	incomplete string

	finishing sync.Mutex
	results   atomic.Pointer[[]byte] // packed, nil until finished
}

// open makes a recorder, which continues the work of one before it on the same files. It fails on what no retry can
// cure; a ledger that cannot be used makes a recorder that says so, and refuses writes.
func open(ctx context.Context, cfg wire.RecorderConfig, env environment) (*recorder, error) {
	token, err := process.Secret(cfg.SecretDir, wire.AgentTokenFile)
	if err != nil {
		return nil, err
	}
	password, err := process.Secret(cfg.SecretDir, wire.AccountProbe)
	if err != nil {
		return nil, err
	}
	w := &recorder{cfg: cfg, now: steadyClock(), token: token, listen: front.Serve}
	beats := &pulse.Pulse{}
	w.state = newState(cfg.LedgerPath+stateSuffix, w.now)
	w.publisher = &publisher{board: env.board, state: w.state}
	w.door = &door{
		app:     upstream.New(net.JoinHostPort(cfg.App.Host, strconv.Itoa(cfg.App.Port))),
		timeout: time.Duration(cfg.RequestTimeoutMilliseconds) * time.Millisecond,
		now:     w.now, state: w.state, figures: figures.New(cfg.Stages, w.now), outage: outage.NewLog(w.now, beats),
	}
	w.door.figures.Pulse = beats
	if cfg.SeveralWriters {
		w.door.outage.SideBySide()
	}
	if err := w.takeOver(ctx); err != nil {
		return nil, err
	}
	if w.probes, err = newProbes(cfg, env, w.door, w.probeIDs(), password); err != nil {
		return nil, err
	}
	w.state.started = w.probes.start
	w.shown = w.metrics()
	return w, nil
}

// steadyClock tells the time by the monotonic clock, set once by the wall clock: its times are shown as wall-clock
// times and never step.
func steadyClock() func() time.Time {
	base := time.Now()
	return func() time.Time { return base.Add(time.Since(base)) }
}

// probeIDs returns a source of ids for rows of wire.ProbeTable that no recorder on this ledger had before.
func (w *recorder) probeIDs() func() uint64 {
	var last atomic.Uint64
	last.Store(uint64(w.state.get().Restarts) << 32)
	return func() uint64 { return last.Add(1) }
}

// serve runs the recorder until ctx ends. Requests in flight come to their end, and into the ledger, before it returns.
func (w *recorder) serve(ctx context.Context) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var publishing sync.WaitGroup
	publishing.Go(func() { w.publisher.follow(background) })
	w.resume()

	control := &http.Server{Addr: w.cfg.ListenControl, Handler: w.control()}
	servers, serving := errgroup.WithContext(ctx)
	servers.Go(func() error { return w.listen(serving, w.cfg.Listen, w.door.serve) })
	servers.Go(func() error { return process.Serve(serving, control) })
	servers.Go(func() error { metrics.Serve(serving, w.shown); return nil })
	err := errors.Join(servers.Wait(), w.close())
	stop()
	publishing.Wait()
	return err
}

// resume begins with the samples, and with all the rest when the load is under way.
func (w *recorder) resume() {
	if w.results.Load() != nil {
		return
	}
	w.probes.watch()
	if at := w.state.get().LoadStartedAt; at != nil {
		w.probes.start(at.Time)
	}
}

// close ends a recorder that was told to stop before it had finished.
func (w *recorder) close() error {
	w.finishing.Lock()
	defer w.finishing.Unlock()
	if w.results.Load() != nil {
		return nil
	}
	patience, cancel := context.WithTimeout(context.Background(), w.door.timeout)
	defer cancel()
	inFlight := w.door.gate.shut(patience)
	w.probes.stop()
	if w.ledger == nil {
		return inFlight
	}
	slog.Info("stopped before the end; the ledger is closed and can be continued", "ledger", w.cfg.LedgerPath)
	return errors.Join(inFlight, w.ledger.Close())
}

// published returns the state that a recorder left in the ConfigMap, nil when there is none.
func published(ctx context.Context, b board) (*wire.RecorderState, error) {
	found, err := b.Read(ctx)
	if err != nil {
		return nil, err
	}
	text, ok := found.Data[wire.RecorderStateKey]
	if !ok {
		return nil, nil
	}
	doc := &wire.RecorderState{}
	if err := json.Unmarshal([]byte(text), doc); err != nil {
		return nil, fmt.Errorf("ConfigMap %s, key %s: %w", found.Name, wire.RecorderStateKey, err)
	}
	return doc, nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
