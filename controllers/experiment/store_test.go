package experiment

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
)

// store holds one experiment as the API server does: as it is read from JSON, whose times have no more digits than they are written with,
// under a resource version that a write may insist on. The tests write statuses ten thousands of times: it does no more than that.
type store struct {
	client.Reader
	client.SubResourceWriter

	w       *world
	p       ports
	held    *v1alpha1.ReplicationExperiment // never changed: a write puts another in its place
	status  []byte                          // of held, as JSON
	version int                             // of held
	turn    bool
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
	s.version++
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	s.held = &v1alpha1.ReplicationExperiment{}
	if err := json.Unmarshal(text, s.held); err != nil {
		t.Fatal(err)
	}
	if s.status, err = json.Marshal(s.held.Status); err != nil {
		t.Fatal(err)
	}
}

func (s *store) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	x := o.(*v1alpha1.ReplicationExperiment)
	if s.held == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: "replicationexperiments"}, x.Name)
	}
	s.held.DeepCopyInto(x)
	x.ResourceVersion = strconv.Itoa(s.version)
	return nil
}

func (s *store) Status() client.SubResourceWriter { return s }

// Patch writes the status and nothing else.
func (s *store) Patch(_ context.Context, o client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	if s.turn = !s.turn; s.w.disturbed && s.turn {
		s.w.now = s.w.now.Add(time.Millisecond)
		s.version++
	}
	write := func() error {
		if err := s.merge(o, patch); err != nil {
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

// merge refuses a patch that insists on another version. One that does not, and was decided on an older one, is a mistake.
func (s *store) merge(o client.Object, patch client.Patch) error {
	text, err := patch.Data(o)
	if err != nil {
		return err
	}
	var wanted struct {
		Metadata struct{ ResourceVersion string }
		Status   json.RawMessage
	}
	if err := json.Unmarshal(text, &wanted); err != nil {
		return err
	}
	now, seen := strconv.Itoa(s.version), o.GetResourceVersion()
	if v := wanted.Metadata.ResourceVersion; v != "" && v != now {
		return apierrors.NewConflict(schema.GroupResource{}, o.GetName(), fmt.Errorf("it is at version %s, not %s", now, v))
	}
	if seen != now {
		s.w.t.Errorf("version %s of the status is overwritten by what was decided on version %s", now, seen)
	}
	if text, err = jsonpatch.MergePatch(s.status, wanted.Status); err != nil {
		return err
	}
	held := *s.held
	held.Status = v1alpha1.ReplicationExperimentStatus{}
	if err := json.Unmarshal(text, &held.Status); err != nil {
		return err
	}
	s.held, s.status = &held, text
	s.version++
	return nil
}
