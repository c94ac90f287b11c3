package process

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
)

var maps = schema.GroupResource{Resource: "configmaps"}

// flaky answers with the errors first and then as the client behind it.
type flaky struct {
	ConfigMaps
	errors []error
	calls  int
}

func (f *flaky) next() error {
	f.calls++
	if f.calls <= len(f.errors) {
		return f.errors[f.calls-1]
	}
	return nil
}

func (f *flaky) Patch(ctx context.Context, name string, kind types.PatchType, data []byte, o metav1.PatchOptions, s ...string) (*corev1.ConfigMap, error) {
	if err := f.next(); err != nil {
		return nil, err
	}
	return f.ConfigMaps.Patch(ctx, name, kind, data, o, s...)
}

func (f *flaky) Get(ctx context.Context, name string, o metav1.GetOptions) (*corev1.ConfigMap, error) {
	if err := f.next(); err != nil {
		return nil, err
	}
	return f.ConfigMaps.Get(ctx, name, o)
}

func newMap(failures ...error) (*ConfigMap, *flaky) {
	existing := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "state"},
		Data:       map[string]string{"other": "theirs"},
	}
	f := &flaky{ConfigMaps: fake.NewClientset(existing).CoreV1().ConfigMaps("ns"), errors: failures}
	m := NewConfigMap(f, "state")
	m.retry.Duration, m.retry.Cap = time.Millisecond, time.Millisecond
	return m, f
}

func TestPublishSetsItsKeysAndLeavesTheOthers(t *testing.T) {
	m, _ := newMap()
	if err := m.Publish(t.Context(), map[string]string{"a": "1"}, map[string][]byte{"b": {0, 255}}); err != nil {
		t.Fatal(err)
	}
	if err := m.Publish(t.Context(), map[string]string{"a": "2"}, nil); err != nil {
		t.Fatal(err)
	}
	got, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Data["a"] != "2" || got.Data["other"] != "theirs" || string(got.BinaryData["b"]) != "\x00\xff" {
		t.Fatalf("the ConfigMap holds %v and %v", got.Data, got.BinaryData)
	}
}

func TestPublishRetriesWhileTheAPIServerIsAway(t *testing.T) {
	m, f := newMap(errors.New("connection refused"), apierrors.NewForbidden(maps, "state", nil), apierrors.NewNotFound(maps, "state"))
	if err := m.Publish(t.Context(), map[string]string{"a": "1"}, nil); err != nil {
		t.Fatal(err)
	}
	if f.calls != 4 {
		t.Fatalf("%d requests, want 4", f.calls)
	}
}

func TestPublishGivesUpAtOnceOnWhatCanNeverBeAccepted(t *testing.T) {
	m, f := newMap(apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "state", nil))
	if err := m.Publish(t.Context(), map[string]string{"a": "1"}, nil); !apierrors.IsInvalid(err) {
		t.Fatalf("error is %v, want Invalid", err)
	}
	if f.calls != 1 {
		t.Fatalf("%d requests, want 1", f.calls)
	}
}

func TestPublishReturnsTheLastErrorWhenItIsToldToStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m, f := newMap()
	f.ConfigMaps = cancelling{f.ConfigMaps, cancel}
	err := m.Publish(ctx, map[string]string{"a": "1"}, nil)
	if err == nil || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), "state") {
		t.Fatalf("error is %v, want the API server's and the ConfigMap's name", err)
	}
}

// cancelling refuses, and ends the caller's context with it.
type cancelling struct {
	ConfigMaps
	cancel context.CancelFunc
}

func (c cancelling) Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (*corev1.ConfigMap, error) {
	c.cancel()
	return nil, errors.New("connection refused")
}
