// Package starter is the start wrapper's part of servers that a manager runs: it starts the manager in the server's place.
package starter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"replab.dev/internal/atomicfile"
	"replab.dev/internal/engine"
	"replab.dev/internal/httpclient"
	"replab.dev/internal/process"
	"replab.dev/internal/render"
	"replab.dev/internal/starter"
	"replab.dev/internal/wire"
)

const (
	// firstMost is how long a node without data waits for the first node, which may be gone for good.
	firstMost = time.Minute
	// firstInterval is the time between two rounds of questions, and firstTimeout bounds one question.
	firstInterval = 500 * time.Millisecond
	firstTimeout  = time.Second
)

// managed is how the wrapper starts a server that a manager runs: it starts the manager, which makes the node's data, or copies them, starts
// the server, and starts it again.
type managed struct {
	*starter.Node
	engine engine.Managed
	http   *http.Client
	most   time.Duration // see firstMost
}

// Family implements starter.Family for nodes whose servers a manager runs.
func Family(n *starter.Node) (starter.Way, error) {
	if n.Config.Manager == nil {
		return nil, nil
	}
	m, ok := n.Engine.(engine.Managed)
	if !ok {
		return nil, fmt.Errorf("engine %s knows no managers, and the configuration names one", n.Config.Engine)
	}
	if n.Config.Manager.Template == "" || n.Config.RunDir == "" {
		return nil, errors.New(`"template" of "manager" and "runDir" in the configuration are needed where a manager runs the server`)
	}
	return &managed{Node: n, engine: m, http: httpclient.Client(&http.Transport{DisableKeepAlives: true}), most: firstMost}, nil
}

// Again implements starter.Way: the manager starts the server again.
func (*managed) Again(int) bool { return false }

// Prepare implements starter.Way. It waits until the manager may be started. Nothing is read before: until the manager asks for it, nothing of
// what the node holds goes.
func (m *managed) Prepare(ctx context.Context) (engine.Start, error) {
	fresh, err := m.Empty()
	if err != nil {
		return engine.Start{}, err
	}
	if fresh && m.Ordinal > 0 {
		if err := m.awaitFirst(ctx); err != nil {
			return engine.Start{}, err
		}
	}
	unfinished, err := m.unfinished(fresh)
	if err != nil {
		return engine.Start{}, err
	}
	if err := m.NoteStart(fresh, unfinished); err != nil {
		return engine.Start{}, err
	}
	if err := m.tidyData(unfinished); err != nil {
		return engine.Start{}, err
	}
	params := engine.ManagerParams{
		Name: os.Getenv(wire.EnvPodName), Address: os.Getenv(wire.EnvPodIP),
		DataDir: m.Config.DataDir, RunDir: m.Config.RunDir, Binary: filepath.Join(wire.BinDir, "replab"),
	}
	if params.Address == "" {
		return engine.Start{}, fmt.Errorf("the environment has no %s, by which the other nodes reach this one", wire.EnvPodIP)
	}
	if err := m.writeFiles(params); err != nil {
		return engine.Start{}, err
	}
	return m.engine.Manager(params), nil
}

// unfinished tells whether the data are a part of a copy, with which the manager would not go on.
func (m *managed) unfinished(fresh bool) (bool, error) {
	if fresh {
		return false, nil
	}
	_, err := os.Stat(filepath.Join(m.Config.DataDir, m.engine.CopiedLast()))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("look for an unfinished copy: %w", err)
	}
	return err != nil, nil
}

// tidyData leaves the data as the manager wants them. It removes an unfinished copy, and closes the folder to others: a mount may open folders to
// a group, and the server refuses such a folder.
func (m *managed) tidyData(unfinished bool) error {
	if unfinished {
		slog.Warn("removing an unfinished copy of the data", "path", m.Config.DataDir)
		if err := os.RemoveAll(m.Config.DataDir); err != nil {
			return fmt.Errorf("remove an unfinished copy of the data: %w", err)
		}
	}
	if err := os.Chmod(m.Config.DataDir, 0o700); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the data directory from others: %w", err)
	}
	return nil
}

// writeFiles writes what the manager reads, with the secrets in their places.
func (m *managed) writeFiles(params engine.ManagerParams) error {
	template, err := os.ReadFile(m.Config.Manager.Template)
	if err != nil {
		return fmt.Errorf("read the manager's configuration: %w", err)
	}
	for _, f := range m.engine.Files(string(template), params) {
		text, err := render.Filled(f.Content, func(name string) (string, error) { return process.Secret(m.Config.SecretDir, name) })
		if err != nil {
			return fmt.Errorf("write %s: %w", f.Name, err)
		}
		mode := os.FileMode(0o600)
		if f.Executable {
			mode = 0o700
		}
		if err := atomicfile.WriteFile(filepath.Join(m.Config.RunDir, f.Name), []byte(text), mode); err != nil {
			return err
		}
	}
	return nil
}

// awaitFirst waits until there are data to copy: experiments count on the first node for their first writer. starter.ErrHeld tells that a
// hold was put meanwhile.
func (m *managed) awaitFirst(ctx context.Context) error {
	ticker := time.NewTicker(firstInterval)
	defer ticker.Stop()
	end := time.NewTimer(m.most)
	defer end.Stop()
	slog.Info("waiting until the first node has initialized its data")
	for {
		if err := m.Held(); err != nil {
			return err
		}
		if slices.ContainsFunc(m.Config.Manager.First, func(url string) bool { return m.says(ctx, url) }) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			slog.Warn("the first node has not initialized its data: this node may", "after", m.most)
			return nil
		case <-ticker.C:
		}
	}
}

// says tells whether a manager answers with yes.
func (m *managed) says(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, firstTimeout)
	defer cancel()
	_, err := httpclient.Do(ctx, m.http, httpclient.Request{Method: http.MethodGet, URL: url})
	return err == nil
}
