package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/atomicfile"
	"replab.dev/internal/wire"
)

// state is what the operator follows, and what outlives this process. Its file is durable before the first request is forwarded.
type state struct {
	path string
	now  func() time.Time
	// started is called once, with the load's start, before the first request of the load goes on.
	started func(time.Time)
	changed chan struct{} // holds one value while a change waits to be published

	loading atomic.Bool            // whether doc.LoadStartedAt is set
	broken  atomic.Pointer[string] // doc.Failed

	mu  sync.Mutex
	doc wire.RecorderState
}

// stateFile is the part of the state that the file holds: the ledger itself knows the restarts.
type stateFile struct {
	LoadStartedAt *metav1.MicroTime `json:"loadStartedAt,omitempty"`
	Failed        string            `json:"failed,omitempty"`
}

func newState(path string, now func() time.Time) *state {
	return &state{path: path, now: now, started: func(time.Time) {}, changed: make(chan struct{}, 1)}
}

// load reads the file of a recorder before this one, if there is any.
func (s *state) load() error {
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var file stateFile
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		return fmt.Errorf("read the recorder's state %s: %w", s.path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doc.LoadStartedAt, s.doc.Failed = file.LoadStartedAt, file.Failed
	s.loading.Store(file.LoadStartedAt != nil)
	if file.Failed != "" {
		s.broken.Store(&file.Failed)
	}
	return nil
}

// loadStarts notes that a request of the load has come. Only for the first one it waits for the disk.
func (s *state) loadStarts() error {
	if s.loading.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loading.Load() {
		return nil
	}
	if s.doc.Failed != "" {
		return errors.New("the recorder cannot begin to measure: " + s.doc.Failed)
	}
	at := s.now()
	s.doc.LoadStartedAt = new(metav1.NewMicroTime(at))
	if err := s.save(); err != nil {
		s.doc.LoadStartedAt = nil
		err = fmt.Errorf("note the start of the load: %w", err)
		s.failLocked(err.Error())
		return err
	}
	s.started(at)
	s.loading.Store(true)
	s.announce()
	return nil
}

// fail notes why the recorder can no longer vouch for its figures. The first reason stays.
func (s *state) fail(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failLocked(reason)
}

func (s *state) failLocked(reason string) {
	if s.doc.Failed != "" {
		return
	}
	s.doc.Failed = reason
	s.broken.Store(&reason)
	// The reason is often the disk itself. Then the published state, and the same fault at the next start, have to do.
	_ = s.save()
	s.announce()
}

// failure returns why the recorder failed, or "".
func (s *state) failure() string {
	if reason := s.broken.Load(); reason != nil {
		return *reason
	}
	return ""
}

func (s *state) setRestarts(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doc.Restarts = n
	s.announce()
}

// restore takes over the state of a recorder that has finished.
func (s *state) restore(doc wire.RecorderState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doc = doc
	s.loading.Store(doc.LoadStartedAt != nil)
	if doc.Failed != "" {
		s.broken.Store(&doc.Failed)
	}
	s.announce()
}

func (s *state) get() wire.RecorderState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doc
}

func (s *state) announce() {
	select {
	case s.changed <- struct{}{}:
	default: // a change waits already; the latest state will be published
	}
}

func (s *state) save() error {
	text, err := json.Marshal(stateFile{s.doc.LoadStartedAt, s.doc.Failed})
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(s.path, text, 0o600)
}

// board is where the recorder publishes: its ConfigMap.
type board interface {
	// Read returns what is published; it retries until ctx ends.
	Read(ctx context.Context) (*corev1.ConfigMap, error)
	// Publish sets the given keys; it retries until ctx ends.
	Publish(ctx context.Context, data map[string]string, binaryData map[string][]byte) error
}

// publisher publishes the latest state, and the results if any, one publication after the other.
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
			slog.Error("writing the state into its ConfigMap failed", "error", err)
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
		slog.Error("the figures are unusable", append(attrs, "failed", doc.Failed)...)
		return
	}
	slog.Info("the state changed", attrs...)
}
