// Package recorder is the proxy before the social app that measures: ledger of writes, latencies, timeline, and the probes of lag and
// availability. It forwards each request exactly once, and records an outcome before it answers.
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
	"replab.dev/internal/recorder/httpserver"
	"replab.dev/internal/recorder/outage"
	"replab.dev/internal/recorder/pauses"
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
	if err := validate(cfg.Stages); err != nil {
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

// validate refuses stages by which requests would be attributed wrongly.
func validate(stages []wire.Stage) error {
	if len(stages) == 0 {
		return errors.New("stages: there is none")
	}
	names := map[string]bool{"": true}
	for _, s := range stages {
		if names[s.Name] || s.DurationSeconds < 1 {
			return fmt.Errorf("stages: %q of %d s needs a name of its own and at least 1 s", s.Name, s.DurationSeconds)
		}
		names[s.Name] = true
	}
	return nil
}

// Engine is what the probes ask of the nodes' servers.
type Engine struct {
	Lag     lag.Open
	Commits OpenCounter[engine.Commits]
	// Group is nil for an engine whose servers form no groups.
	Group OpenCounter[engine.GroupCounts]
	// Inspector reads the servers' settings.
	Inspector engine.OpenInspector
}

// environment is what a recorder connects to, apart from the app.
type environment struct {
	board         board
	engine        Engine
	server, agent addressOf
}

// nodeHost is the host of a node's server. The engine knows its port.
func nodeHost(n wire.Node) string { return n.Host }

func nodeAddress(port int) addressOf {
	return func(n wire.Node) string { return net.JoinHostPort(n.Host, strconv.Itoa(port)) }
}

// recorder is one process's work on a ledger.
type recorder struct {
	cfg       wire.RecorderConfig
	now       func() time.Time
	token     string
	listen    func(ctx context.Context, address string, handle httpserver.Handler) error
	state     *state
	publisher *publisher
	ledger    *ledger.Writer // nil if it could not be opened, or if the previous recorder had finished
	forwarder *forwarder
	probes    *probes
	shown     prometheus.Gatherer
	// incomplete is wire.RecorderResults.Incomplete.
	incomplete string

	finishing sync.Mutex
	results   atomic.Pointer[[]byte] // packed, nil until finished
}

// open returns a recorder that continues the files of the previous one. With an unusable ledger it reports the reason and refuses writes.
func open(ctx context.Context, cfg wire.RecorderConfig, env environment) (*recorder, error) {
	token, err := process.Secret(cfg.SecretDir, wire.AgentTokenFile)
	if err != nil {
		return nil, err
	}
	password, err := process.Secret(cfg.SecretDir, wire.AccountProbe)
	if err != nil {
		return nil, err
	}
	w := &recorder{cfg: cfg, now: steadyClock(), token: token, listen: httpserver.Serve}
	paused := &pauses.Log{}
	w.state = newState(cfg.LedgerPath+stateSuffix, w.now)
	w.publisher = &publisher{board: env.board, state: w.state}
	w.forwarder = &forwarder{
		app:     upstream.New(net.JoinHostPort(cfg.App.Host, strconv.Itoa(cfg.App.Port))),
		timeout: time.Duration(cfg.RequestTimeoutMilliseconds) * time.Millisecond,
		now:     w.now, state: w.state, figures: figures.New(cfg.Stages, w.now), outage: outage.NewLog(w.now, paused),
	}
	w.forwarder.figures.Pauses = paused
	if cfg.SeveralWriters {
		w.forwarder.outage.SideBySide()
	}
	if err := w.takeOver(ctx); err != nil {
		return nil, err
	}
	if w.probes, err = newProbes(cfg, env, w.forwarder, w.probeIDs(), password); err != nil {
		return nil, err
	}
	w.state.started = w.probes.start
	w.shown = w.metrics()
	return w, nil
}

// steadyClock returns wall-clock times that never step: the wall clock is read once.
func steadyClock() func() time.Time {
	base := time.Now()
	return func() time.Time { return base.Add(time.Since(base)) }
}

// probeIDs returns a source of ids for rows of wire.ProbeTable that no previous recorder of this ledger used.
func (w *recorder) probeIDs() func() uint64 {
	var last atomic.Uint64
	last.Store(uint64(w.state.get().Restarts) << 32)
	return func() uint64 { return last.Add(1) }
}

// serve runs the recorder until ctx ends, and then until all requests in flight are in the ledger.
func (w *recorder) serve(ctx context.Context) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var publishing sync.WaitGroup
	publishing.Go(func() { w.publisher.follow(background) })
	w.resume()

	control := &http.Server{Addr: w.cfg.ListenControl, Handler: w.control()}
	servers, serving := errgroup.WithContext(ctx)
	servers.Go(func() error { return w.listen(serving, w.cfg.Listen, w.forwarder.serve) })
	servers.Go(func() error { return process.Serve(serving, control) })
	servers.Go(func() error { metrics.Serve(serving, w.shown); return nil })
	err := errors.Join(servers.Wait(), w.close())
	stop()
	publishing.Wait()
	return err
}

// resume begins to sample, and to probe if the load is under way.
func (w *recorder) resume() {
	if w.results.Load() != nil {
		return
	}
	at := w.state.get().LoadStartedAt
	if at != nil {
		w.probes.inspection.lose() // before it can look
	}
	w.probes.watch()
	if at != nil {
		w.probes.start(at.Time)
	}
}

// close stops a recorder that has not finished.
func (w *recorder) close() error {
	w.finishing.Lock()
	defer w.finishing.Unlock()
	if w.results.Load() != nil {
		return nil
	}
	patience, cancel := context.WithTimeout(context.Background(), w.forwarder.timeout)
	defer cancel()
	inFlight := w.forwarder.requests.drain(patience)
	w.probes.stop()
	if w.ledger == nil {
		return inFlight
	}
	slog.Info("the recorder stopped before the measurement was finished: after a restart it continues the ledger", "ledger", w.cfg.LedgerPath)
	return errors.Join(inFlight, w.ledger.Close())
}

// published returns the state in the ConfigMap, nil without one.
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
