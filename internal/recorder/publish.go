package recorder

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/internal/wire"
)

// board is where the recorder publishes: its ConfigMap.
type board interface {
	// Read returns what is published; it retries until ctx ends.
	Read(ctx context.Context) (*corev1.ConfigMap, error)
	// Publish sets the given keys; it retries until ctx ends.
	Publish(ctx context.Context, data map[string]string, binaryData map[string][]byte) error
}

// publisher publishes the recorder's state, and its results when there are any. Each publication has the latest state,
// and one follows another, so that none is overwritten by an older one.
type publisher struct {
	board board
	state *state

	mu      sync.Mutex
	results []byte // packed, nil until the recorder has finished
}

// finished takes the results, which are published together with the state from now on.
func (p *publisher) finished(results []byte, doc wire.RecorderState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.results = results
	p.state.restore(doc)
}

// follow publishes the state whenever it has changed, until ctx ends.
func (p *publisher) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.state.changed:
		}
		logState(p.state.get())
		if err := p.publish(ctx); err != nil && ctx.Err() == nil {
			slog.Error("the state could not be published", "error", err)
		}
	}
}

func (p *publisher) publish(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, err := json.Marshal(p.state.get())
	if err != nil {
		return fmt.Errorf("publish the recorder's state: %w", err)
	}
	var binary map[string][]byte
	if p.results != nil {
		binary = map[string][]byte{wire.RecorderResultsKey: p.results}
	}
	return p.board.Publish(ctx, map[string]string{wire.RecorderStateKey: string(text)}, binary)
}

func logState(doc wire.RecorderState) {
	attrs := []any{"restarts", doc.Restarts}
	if doc.LoadStartedAt != nil {
		attrs = append(attrs, "loadStartedAt", doc.LoadStartedAt.Time)
	}
	if doc.FinishedAt != nil {
		attrs = append(attrs, "finishedAt", doc.FinishedAt.Time)
	}
	if doc.Failed != "" {
		slog.Error("the recorder cannot vouch for its figures", append(attrs, "failed", doc.Failed)...)
		return
	}
	slog.Info("state", attrs...)
}
