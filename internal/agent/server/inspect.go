package server

import (
	"context"
	"fmt"
	"path/filepath"
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

// inspect has the agent read what the node held, before its server is started in its place. That it cannot be read stops nothing: it is
// noted, and what the node held is unknown.
func (w *wrapper) inspect(ctx context.Context, params engine.StartParams, fresh, unfinished bool) error {
	if w.alone == nil {
		return nil
	}
	volume := filepath.Dir(w.cfg.DataDir)
	earlier, err := inspect.Unkept(volume, w.cfg.HoldDir)
	if err != nil {
		return err
	}
	began := time.Now()
	r := inspect.Request{Earlier: earlier, Inspection: wire.Inspection{
		ID: strconv.FormatInt(began.UnixMicro(), 10), At: metav1.NewMicroTime(began), Fresh: fresh, Unfinished: unfinished,
	}}
	if !fresh && !unfinished {
		if err := w.readAlone(ctx, params, &r); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			w.log.Warn("the node is started without having been inspected", "error", err)
			r.Error = err.Error()
		}
		r.Milliseconds = time.Since(began).Milliseconds()
	}
	r.Socket, r.Final = "", true
	if err := inspect.NoteStarts(volume, append(earlier, r.Inspection)); err != nil {
		return err
	}
	return inspect.Ask(w.cfg.RunDir, r)
}

// readAlone runs the server alone until the agent has read it.
func (w *wrapper) readAlone(ctx context.Context, params engine.StartParams, r *inspect.Request) error {
	params.Socket = inspect.Socket(w.cfg.RunDir)
	how := w.alone.Alone(w.cfg.Server, params)
	if err := removeAll(how.Remove); err != nil {
		return err
	}
	c, err := start(how.Argv, how.Env, nil)
	if err != nil {
		return fmt.Errorf("start the server alone: %w", err)
	}
	w.log.Info("the server is started alone, to be inspected", "pid", c.cmd.Process.Pid)
	r.Socket = params.Socket
	if err := inspect.Ask(w.cfg.RunDir, *r); err != nil {
		c.stop()
		return err
	}
	err = w.waitForReader(ctx, c, r.ID)
	r.Socket = ""
	c.stop()
	return err
}

func (w *wrapper) waitForReader(ctx context.Context, c *child, id string) error {
	ticker := time.NewTicker(inspectedInterval)
	defer ticker.Stop()
	end := time.NewTimer(inspectionMost)
	defer end.Stop()
	for {
		done, err := inspect.Answered(w.cfg.HoldDir, id)
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
