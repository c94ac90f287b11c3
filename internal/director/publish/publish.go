// Package publish keeps what the director knows in the API server: its state in a ConfigMap, and the nodes' roles as
// labels on their pods.
package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"replab.dev/internal/wire"
)

const (
	// requestTimeout bounds one request to the API server. The director looks at no node while it stores its state.
	requestTimeout = 2 * time.Second
	// retryInterval lies between two tries of what the API server did not do.
	retryInterval = time.Second
)

// ErrChanged says that the stored state is not the one that was last read or written: another wrote it, or a write that
// was thought to have failed had arrived.
var ErrChanged = errors.New("the stored state was changed")

// ConfigMaps is what the store needs of the API server, on the one named ConfigMap. Its ServiceAccount needs get
// and patch.
type ConfigMaps interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*corev1.ConfigMap, error)
	Patch(ctx context.Context, name string, kind types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*corev1.ConfigMap, error)
}

// State keeps the director's state in a ConfigMap. Its resource version is the lock: a write fails when the stored state
// is not the one that was last read or written.
type State struct {
	client  ConfigMaps
	name    string
	version string // resource version of the last read or write
	known   string // document that was read or written last
}

// NewState returns the state in the named ConfigMap, which the plan has made.
func NewState(client ConfigMaps, name string) *State { return &State{client: client, name: name} }

// Load returns the stored state; the zero state when the ConfigMap has none yet. It waits for the API server and for
// the ConfigMap until ctx ends.
func (s *State) Load(ctx context.Context) (wire.DirectorState, error) {
	var state wire.DirectorState
	for err := s.read(ctx); err != nil; err = s.read(ctx) {
		slog.Warn("the director's state could not be read, trying again", "error", err)
		select {
		case <-ctx.Done():
			return state, err
		case <-time.After(retryInterval):
		}
	}
	if s.known == "" {
		return state, nil
	}
	if err := json.Unmarshal([]byte(s.known), &state); err != nil {
		return state, fmt.Errorf("state in ConfigMap %s: %w", s.name, err)
	}
	return state, nil
}

func (s *State) read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	m, err := s.client.Get(ctx, s.name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read ConfigMap %s: %w", s.name, err)
	}
	s.version, s.known = m.ResourceVersion, m.Data[wire.DirectorStateKey]
	return nil
}

// Save writes the document if the stored one is the known one. Another's change to the rest of the ConfigMap, such as a
// label, is none to the state.
func (s *State) Save(ctx context.Context, document string) error {
	err := s.patch(ctx, document)
	if !apierrors.IsConflict(err) {
		return err
	}
	known := s.known
	if err := s.read(ctx); err != nil {
		return err
	}
	if s.known != known {
		return fmt.Errorf("ConfigMap %s: %w", s.name, ErrChanged)
	}
	return s.patch(ctx, document)
}

func (s *State) patch(ctx context.Context, document string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]string{"resourceVersion": s.version},
		"data":     map[string]string{wire.DirectorStateKey: document},
	})
	if err != nil {
		return fmt.Errorf("write ConfigMap %s: %w", s.name, err)
	}
	m, err := s.client.Patch(ctx, s.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "replab"})
	if err != nil {
		return fmt.Errorf("write ConfigMap %s: %w", s.name, err)
	}
	s.version, s.known = m.ResourceVersion, document
	return nil
}

// Pods is what the labels need of the API server. Its ServiceAccount needs patch.
type Pods interface {
	Patch(ctx context.Context, name string, kind types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*corev1.Pod, error)
}

// Labels keeps wire.RoleLabel on the nodes' pods, beside the director's loop, so that a slow API server delays no
// failover.
type Labels struct {
	client Pods
	set    map[string]wire.Role // what the pods have, as far as known; used by Run alone

	mu     sync.Mutex
	wanted []wire.NodeView
	news   chan struct{}
}

// NewLabels returns the labels of the pods of one namespace.
func NewLabels(client Pods) *Labels {
	return &Labels{client: client, set: map[string]wire.Role{}, news: make(chan struct{}, 1)}
}

// Want tells the roles that the pods are to be labelled with.
func (l *Labels) Want(state wire.DirectorState) {
	l.mu.Lock()
	l.wanted = state.Nodes
	l.mu.Unlock()
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// Run sets labels until ctx ends. News comes with every look, and with it the next try after a failure.
func (l *Labels) Run(ctx context.Context) {
	var notBefore time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.news:
		}
		if time.Now().Before(notBefore) {
			continue
		}
		if err := l.apply(ctx); err != nil && ctx.Err() == nil {
			slog.Warn("pods could not be labelled", "error", err)
			notBefore = time.Now().Add(retryInterval)
		}
	}
}

// apply sets the labels that changed, the primary's last and only if the others could be set: at no moment do two pods
// carry it. A pod that does not exist carries none; when it is made anew its node comes back with another role.
func (l *Labels) apply(ctx context.Context) error {
	l.mu.Lock()
	wanted := l.wanted
	l.mu.Unlock()
	for _, primary := range []bool{false, true} {
		for _, n := range wanted {
			if (n.Role == wire.RoleWriter) != primary || l.set[n.Name] == n.Role {
				continue
			}
			if err := l.label(ctx, n.Name, n.Role); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			l.set[n.Name] = n.Role
		}
	}
	return nil
}

func (l *Labels) label(ctx context.Context, pod string, role wire.Role) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"labels": map[string]string{wire.RoleLabel: string(role)}},
	})
	if err != nil {
		return fmt.Errorf("label pod %s: %w", pod, err)
	}
	if _, err := l.client.Patch(ctx, pod, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "replab"}); err != nil {
		return fmt.Errorf("label pod %s as %s: %w", pod, role, err)
	}
	return nil
}
