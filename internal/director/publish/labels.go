package publish

import (
	"context"
	"encoding/json"
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
