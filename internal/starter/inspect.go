package starter

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/agent/inspect"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const (
	// inspectionMost is how long a server that runs alone is waited for to be read.
	inspectionMost = time.Minute
	// aloneStopMost is how long it may take to stop in order.
	aloneStopMost     = 30 * time.Second
	inspectedInterval = 50 * time.Millisecond
)

// Inspect has the agent read what the node held, before its server is started in its place. That it cannot be read stops nothing: it is
// noted, and what the node held is unknown.
func (n *Node) Inspect(ctx context.Context, params engine.StartParams, fresh, unfinished bool) error {
	return n.note(fresh, unfinished, func(r *inspect.Request) error {
		if fresh || unfinished {
			return nil
		}
		began := time.Now()
		if err := NewReader(n.Config, n.alone).Read(ctx, params, r, nil); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			slog.Warn("the data could not be inspected: the node starts all the same", "error", err)
			r.Error = err.Error()
		}
		r.Milliseconds = time.Since(began).Milliseconds()
		return nil
	})
}

// NoteStart notes a start by which nothing of what the node holds goes.
func (n *Node) NoteStart(fresh, unfinished bool) error {
	return n.note(fresh, unfinished, func(r *inspect.Request) error {
		r.Intact = !fresh && !unfinished
		return nil
	})
}

// note notes a start for the agent once its request is filled, where starts are kept.
func (n *Node) note(fresh, unfinished bool, fill func(*inspect.Request) error) error {
	if n.alone == nil {
		return nil
	}
	volume := filepath.Dir(n.Config.DataDir)
	earlier, err := inspect.Unkept(volume, n.Config.HoldDir)
	if err != nil {
		return err
	}
	began := time.Now()
	r := inspect.Request{Earlier: earlier, Inspection: wire.Inspection{
		ID: strconv.FormatInt(began.UnixMicro(), 10), At: metav1.NewMicroTime(began), Fresh: fresh, Unfinished: unfinished,
	}}
	if err := fill(&r); err != nil {
		return err
	}
	r.Final = true
	if err := inspect.NoteStarts(volume, append(slices.Clone(earlier), r.Inspection)); err != nil {
		return err
	}
	return inspect.Ask(n.Config.RunDir, r)
}

// Reader has the agent read a node's data while nothing else uses them.
type Reader struct {
	cfg   wire.ServerConfig
	alone engine.Alone
}

// NewReader reads the data of a node's configuration.
func NewReader(cfg wire.ServerConfig, alone engine.Alone) *Reader {
	return &Reader{cfg: cfg, alone: alone}
}

// Read runs the server alone until the agent has read it, and then until beside has returned, which is told the socket; it may be nil. It
// asks the agent for r, which has no socket afterwards. An error says why the agent has not read it.
func (d *Reader) Read(ctx context.Context, params engine.StartParams, r *inspect.Request, beside func(ctx context.Context, socket string)) error {
	params.Socket = inspect.Socket(d.cfg.RunDir)
	how := d.alone.Alone(d.cfg.Server, params)
	if err := removeAll(how.Remove); err != nil {
		return err
	}
	c, err := start(how.Argv, how.Env, nil)
	if err != nil {
		return fmt.Errorf("start the server alone: %w", err)
	}
	defer c.stop()
	slog.Info("the server is started alone for the inspection", "pid", c.cmd.Process.Pid)
	r.Socket = params.Socket
	defer func() { r.Socket = "" }()
	if err := inspect.Ask(d.cfg.RunDir, *r); err != nil {
		return err
	}
	err = d.waitForReader(ctx, c, r.ID)
	if beside != nil && len(c.ended) == 0 && ctx.Err() == nil {
		beside(ctx, params.Socket)
	}
	return err
}

func (d *Reader) waitForReader(ctx context.Context, c *child, id string) error {
	ticker := time.NewTicker(inspectedInterval)
	defer ticker.Stop()
	end := time.NewTimer(inspectionMost)
	defer end.Stop()
	for {
		done, err := inspect.Answered(d.cfg.HoldDir, id)
		if done || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case code := <-c.ended:
			c.ended <- code
			return fmt.Errorf("the server that was started alone ended with exit code %d; its messages are above", code)
		case <-end.C:
			return fmt.Errorf("the agent did not read the server that was started alone within %s", inspectionMost)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// stop ends a child in order, and kills it when that takes too long.
func (c *child) stop() {
	c.terminate()
	kill := time.AfterFunc(aloneStopMost, c.kill)
	defer kill.Stop()
	c.wait()
}
