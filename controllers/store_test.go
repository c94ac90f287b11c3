package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
)

// store holds one experiment as the API server does: as JSON, whose times have no more digits than they are written with, under a
// resource version that a write may insist on. The tests write statuses ten thousands of times: it does no more than that.
type store struct {
	client.Reader
	client.SubResourceWriter

	w    *world
	p    ports
	text []byte
	turn bool
}

// storeOf holds the experiment. In a disturbed world another writer comes first before every other status write.
func storeOf(t *testing.T, w *world, p ports, x *v1alpha1.ReplicationExperiment) *store {
	t.Helper()
	s := &store{w: w, p: p}
	s.put(t, x)
	return s
}

// put is what a person does to the experiment.
func (s *store) put(t *testing.T, x *v1alpha1.ReplicationExperiment) {
	t.Helper()
	x = x.DeepCopy()
	version, _ := strconv.Atoi(x.ResourceVersion) // none yet is 0
	x.ResourceVersion = strconv.Itoa(version + 1)
	var err error
	if s.text, err = json.Marshal(x); err != nil {
		t.Fatal(err)
	}
}

func (s *store) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	x := o.(*v1alpha1.ReplicationExperiment)
	*x = v1alpha1.ReplicationExperiment{}
	return json.Unmarshal(s.text, x)
}

func (s *store) Status() client.SubResourceWriter { return s }

// Patch writes the status.
func (s *store) Patch(_ context.Context, o client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	if s.turn = !s.turn; s.w.disturbed && s.turn {
		s.w.now = s.w.now.Add(time.Millisecond)
		if err := s.merge([]byte(fmt.Sprintf(`{"metadata":{"annotations":{"touched":%q}}}`, s.w.now))); err != nil {
			return err
		}
	}
	write := func() error {
		text, err := patch.Data(o)
		if err != nil {
			return err
		}
		if err := s.merge(text); err != nil {
			return err
		}
		s.w.wrote("status")
		return s.Get(context.Background(), client.ObjectKeyFromObject(o), o)
	}
	if f, ok := s.p.(*flaky); ok {
		return f.do("write the status", write)
	}
	return write()
}

// merge makes a change, and refuses one of another resource version.
func (s *store) merge(patch []byte) error {
	var was, wanted metav1.PartialObjectMetadata
	if err := json.Unmarshal(s.text, &was); err != nil {
		return err
	}
	if err := json.Unmarshal(patch, &wanted); err != nil {
		return err
	}
	if v := wanted.ResourceVersion; v != "" && v != was.ResourceVersion {
		return apierrors.NewConflict(schema.GroupResource{}, was.Name, fmt.Errorf("it is at version %s, not %s", was.ResourceVersion, v))
	}
	version, err := strconv.Atoi(was.ResourceVersion)
	if err != nil {
		return err
	}
	text, err := jsonpatch.MergePatch(s.text, patch)
	if err != nil {
		return err
	}
	s.text, err = jsonpatch.MergePatch(text, []byte(fmt.Sprintf(`{"metadata":{"resourceVersion":"%d"}}`, version+1)))
	return err
}
