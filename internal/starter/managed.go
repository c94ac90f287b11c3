package starter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/agent/hold"
	"replab.dev/internal/agent/inspect"
	"replab.dev/internal/call"
	"replab.dev/internal/durable"
	"replab.dev/internal/engine"
	"replab.dev/internal/launch"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

const (
	// firstMost is how long a node without data waits for the first one. A node that waited for good would never come to be where the first is
	// gone for good.
	firstMost = time.Minute
	// firstInterval is the time between two rounds of questions, and firstTimeout bounds one question.
	firstInterval = 500 * time.Millisecond
	firstTimeout  = time.Second
)

// managed is how the wrapper starts a server that a manager runs: it starts the manager, which makes the node's data, or copies them, starts
// the server, and starts it again.
type managed struct {
	engine engine.Managed
	last   string // engine.ManagedCopies.CopiedLast, "" where a manager goes on with half a copy
	http   *http.Client
	most   time.Duration // see firstMost
}

func newManaged(cfg wire.ServerConfig, e engine.Starter) (*managed, error) {
	m, ok := e.(engine.Managed)
	if !ok {
		return nil, fmt.Errorf("engine %s knows no managers, and the configuration names one", cfg.Engine)
	}
	if cfg.Manager.Template == "" || cfg.RunDir == "" {
		return nil, errors.New(`"template" of "manager" and "runDir" in the configuration are needed where a manager runs the server`)
	}
	found := &managed{engine: m, http: call.Client(&http.Transport{DisableKeepAlives: true}), most: firstMost}
	if c, ok := e.(engine.ManagedCopies); ok {
		found.last = c.CopiedLast()
	}
	return found, nil
}

// prepareManaged waits until the manager may be started, and returns how. Nothing is read before: until the manager asks for it, nothing of
// what the node holds goes.
func (w *wrapper) prepareManaged(ctx context.Context) (engine.Start, error) {
	fresh, err := isEmpty(w.cfg.DataDir)
	if err != nil {
		return engine.Start{}, err
	}
	if fresh && w.ordinal > 0 {
		if err := w.awaitFirst(ctx); err != nil {
			return engine.Start{}, err
		}
	}
	unfinished, err := w.managed.unfinished(w.cfg.DataDir, fresh)
	if err != nil {
		return engine.Start{}, err
	}
	if err := w.noteManaged(fresh, unfinished); err != nil {
		return engine.Start{}, err
	}
	if err := w.tidyData(unfinished); err != nil {
		return engine.Start{}, err
	}
	params := engine.ManagerParams{
		Name: os.Getenv(wire.EnvPodName), Address: os.Getenv(wire.EnvPodIP),
		DataDir: w.cfg.DataDir, RunDir: w.cfg.RunDir, Binary: filepath.Join(wire.BinDir, "replab"),
	}
	if params.Address == "" {
		return engine.Start{}, fmt.Errorf("the environment has no %s, by which the other nodes reach this one", wire.EnvPodIP)
	}
	if err := w.writeFiles(params); err != nil {
		return engine.Start{}, err
	}
	return w.managed.engine.Manager(params), nil
}

// unfinished tells whether the data are a part of a copy, with which the manager would not go on.
func (m *managed) unfinished(dataDir string, fresh bool) (bool, error) {
	if fresh || m.last == "" {
		return false, nil
	}
	_, err := os.Stat(filepath.Join(dataDir, m.last))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("look for an unfinished copy: %w", err)
	}
	return err != nil, nil
}

// tidyData leaves the data as the manager wants them: none, in the place of half a copy, else in a folder that is its own. A pod that mounts the
// volume again opens its folders to a group, and the server refuses such a folder.
func (w *wrapper) tidyData(unfinished bool) error {
	if unfinished {
		w.log.Warn("removing an unfinished copy of the data", "path", w.cfg.DataDir)
		if err := os.RemoveAll(w.cfg.DataDir); err != nil {
			return fmt.Errorf("remove an unfinished copy of the data: %w", err)
		}
	}
	if err := os.Chmod(w.cfg.DataDir, 0o700); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the data directory from others: %w", err)
	}
	return nil
}

// noteManaged notes a start for the agent where starts are kept.
func (w *wrapper) noteManaged(fresh, unfinished bool) error {
	if w.alone == nil {
		return nil
	}
	volume := filepath.Dir(w.cfg.DataDir)
	earlier, err := inspect.Unkept(volume, w.cfg.HoldDir)
	if err != nil {
		return err
	}
	now := time.Now()
	begun := wire.Inspection{
		ID: strconv.FormatInt(now.UnixMicro(), 10), At: metav1.NewMicroTime(now),
		Fresh: fresh, Unfinished: unfinished, Intact: !fresh && !unfinished,
	}
	if err := inspect.NoteStarts(volume, append(slices.Clone(earlier), begun)); err != nil {
		return err
	}
	return inspect.Ask(w.cfg.RunDir, inspect.Request{Inspection: begun, Final: true, Earlier: earlier})
}

// writeFiles writes what the manager reads, with the secrets in their places.
func (w *wrapper) writeFiles(params engine.ManagerParams) error {
	template, err := os.ReadFile(w.cfg.Manager.Template)
	if err != nil {
		return fmt.Errorf("read the manager's configuration: %w", err)
	}
	for _, f := range w.managed.engine.Files(string(template), params) {
		text, err := launch.Filled(f.Content, func(name string) (string, error) { return process.Secret(w.cfg.SecretDir, name) })
		if err != nil {
			return fmt.Errorf("write %s: %w", f.Name, err)
		}
		mode := os.FileMode(0o600)
		if f.Executable {
			mode = 0o700
		}
		if err := durable.WriteFile(filepath.Join(w.cfg.RunDir, f.Name), []byte(text), mode); err != nil {
			return err
		}
	}
	return nil
}

// awaitFirst waits until there are data to copy: experiments count on the first node for their first writer. errHeld tells that a hold was
// put meanwhile.
func (w *wrapper) awaitFirst(ctx context.Context) error {
	ticker := time.NewTicker(firstInterval)
	defer ticker.Stop()
	end := time.NewTimer(w.managed.most)
	defer end.Stop()
	w.log.Info("waiting for the first node to make the data")
	for {
		if standing, err := hold.Standing(w.cfg.HoldDir, time.Now()); err != nil || len(standing) > 0 {
			return errors.Join(err, errHeld)
		}
		if slices.ContainsFunc(w.cfg.Manager.First, func(url string) bool { return w.managed.says(ctx, url) }) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			w.log.Warn("the first node has made no data, so that another one may", "after", w.managed.most)
			return nil
		case <-ticker.C:
		}
	}
}

// says tells whether a manager answers with yes.
func (m *managed) says(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, firstTimeout)
	defer cancel()
	_, err := call.Do(ctx, m.http, call.Request{Method: http.MethodGet, URL: url})
	return err == nil
}
