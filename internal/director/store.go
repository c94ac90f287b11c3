package director

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

	"replab.dev/internal/protocol"
)

// storeTimeout bounds one request to the API server. The director looks at no node meanwhile.
const storeTimeout = 2 * time.Second

// configMaps is what the store needs of the API server, on the one named ConfigMap that the plan has made.
type configMaps interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*corev1.ConfigMap, error)
	Patch(ctx context.Context, name string, kind types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*corev1.ConfigMap, error)
}

// configMapStore keeps the state in a ConfigMap. Its resource version is the lock: a write fails when the stored state is
// not the one that this store knows.
type configMapStore struct {
	client  configMaps
	name    string
	version string // resource version of the last read or write
	known   string // document that was read or written last
}

// Load returns the stored state; the zero state when the ConfigMap has none yet. It waits for the API server and for
// the ConfigMap until ctx ends.
func (s *configMapStore) Load(ctx context.Context) (protocol.DirectorState, error) {
	var state protocol.DirectorState
	for err := s.read(ctx); err != nil; err = s.read(ctx) {
		slog.Warn("the state cannot be read yet", "error", err)
		select {
		case <-ctx.Done():
			return state, err
		case <-time.After(saveRetry):
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

func (s *configMapStore) read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	m, err := s.client.Get(ctx, s.name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read ConfigMap %s: %w", s.name, err)
	}
	s.version, s.known = m.ResourceVersion, m.Data[protocol.DirectorStateKey]
	return nil
}

// Save writes the document if the stored one is the known one. Another's change to the rest of the ConfigMap, such as a
// label, is none to the state.
func (s *configMapStore) Save(ctx context.Context, document string) error {
	err := s.patch(ctx, document)
	if !apierrors.IsConflict(err) {
		return err
	}
	known := s.known
	if err := s.read(ctx); err != nil {
		return err
	}
	if s.known != known {
		return fmt.Errorf("ConfigMap %s: %w", s.name, errChanged)
	}
	return s.patch(ctx, document)
}

func (s *configMapStore) patch(ctx context.Context, document string) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]string{"resourceVersion": s.version},
		"data":     map[string]string{protocol.DirectorStateKey: document},
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
