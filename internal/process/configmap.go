package process

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// ConfigMaps is the part of client-go's client that is used. The ServiceAccount needs get and patch on the one ConfigMap.
type ConfigMaps interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*corev1.ConfigMap, error)
	Patch(ctx context.Context, name string, kind types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*corev1.ConfigMap, error)
}

// ConfigMap is the one ConfigMap, made by the plan, into which a process publishes. It has one writer per key.
type ConfigMap struct {
	client ConfigMaps
	name   string
	retry  wait.Backoff
}

// requestTimeout bounds one request to the API server, so that one that hangs is tried again.
const requestTimeout = 10 * time.Second

// InClusterConfigMap returns the named ConfigMap, reached with the pod's ServiceAccount.
func InClusterConfigMap(namespace, name string) (*ConfigMap, error) {
	cfg, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("reach the API server for ConfigMap %s/%s: %w", namespace, name, err)
	}
	cfg.Timeout = requestTimeout
	client, err := typedcorev1.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("reach the API server for ConfigMap %s/%s: %w", namespace, name, err)
	}
	return NewConfigMap(client.ConfigMaps(namespace), name), nil
}

// NewConfigMap returns the named ConfigMap as seen through client.
func NewConfigMap(client ConfigMaps, name string) *ConfigMap {
	return &ConfigMap{
		client: client, name: name,
		retry: wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 7, Cap: 5 * time.Second},
	}
}

// Publish sets the given keys, and keeps all others. It retries until ctx ends, unless the document can never be accepted.
func (m *ConfigMap) Publish(ctx context.Context, data map[string]string, binaryData map[string][]byte) error {
	patch, err := json.Marshal(struct {
		Data       map[string]string `json:"data,omitempty"`
		BinaryData map[string][]byte `json:"binaryData,omitempty"`
	}{data, binaryData})
	if err != nil {
		return fmt.Errorf("publish into ConfigMap %s: %w", m.name, err)
	}
	// A merge patch may be sent twice, and cannot overwrite what another process published under other keys.
	return m.untilDone(ctx, "publish into", func(ctx context.Context) error {
		_, err := m.client.Patch(ctx, m.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "replab"})
		return err
	})
}

// Read returns the ConfigMap, with the retries of Publish.
func (m *ConfigMap) Read(ctx context.Context) (*corev1.ConfigMap, error) {
	var found *corev1.ConfigMap
	err := m.untilDone(ctx, "read", func(ctx context.Context) (err error) {
		found, err = m.client.Get(ctx, m.name, metav1.GetOptions{})
		return err
	})
	return found, err
}

func (m *ConfigMap) untilDone(ctx context.Context, what string, act func(context.Context) error) error {
	var last error
	ended := m.retry.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := act(ctx)
		if err == nil || neverAccepted(err) {
			last = err
			return true, nil
		}
		if last == nil {
			slog.Warn("a request for a ConfigMap failed, trying again", "configMap", m.name, "operation", what, "error", err)
		}
		last = err
		return false, nil
	})
	switch {
	case last != nil:
		return fmt.Errorf("%s ConfigMap %s: %w", what, m.name, last)
	case ended != nil:
		return fmt.Errorf("%s ConfigMap %s: %w", what, m.name, ended)
	}
	return nil
}

// neverAccepted reports errors that no retry cures. NotFound and Forbidden may pass once the plan is applied.
func neverAccepted(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsBadRequest(err)
}
