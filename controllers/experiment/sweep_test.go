package experiment

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// following is an operator, and the experiment that it reconciles.
type following struct {
	*Reconciler
	w     *world
	store *store
	x     *v1alpha1.ReplicationExperiment
}

func follow(t *testing.T) following {
	t.Helper()
	x := experiment.Load(t, "patroni-zalando")
	x.UID, x.CreationTimestamp = "first", metav1.Unix(1000, 0)
	w := newWorld(t, x)
	s := storeOf(t, w, w, x)
	r := &Reconciler{Client: s, Cluster: w, Processes: w, Events: &events.FakeRecorder{}, Config: w.config(), Servers: servers, Now: func() time.Time { return w.now }}
	return following{r, w, s, x}
}

// goesOn reconciles once.
func (f following) goesOn(t *testing.T) (ctrl.Result, error) {
	t.Helper()
	return f.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(f.x)})
}

// TestTheNameOfADeletedExperimentIsEnough to sweep what it left: an operator that has just begun to work knows no more.
func TestTheNameOfADeletedExperimentIsEnough(t *testing.T) {
	f := follow(t)
	f.store.held = nil
	if _, err := f.goesOn(t); err != nil {
		t.Fatal(err)
	}
	if of := f.w.sweptOf; of == nil || of.Name != f.x.Name || of.Namespace != f.x.Namespace || of.UID != "" {
		t.Errorf("swept %+v", of)
	}
}

// TestAnExperimentWaitsForTheOneOfItsNameBefore, and what that one has left is removed.
func TestAnExperimentWaitsForTheOneOfItsNameBefore(t *testing.T) {
	f := follow(t)
	run := &Run{ReplicationExperiment: f.x, Cluster: f.w, Now: f.Now}
	f.w.orphans = 1
	if out, err := predecessor(t.Context(), run); err != nil || out.Done || out.Terminal {
		t.Errorf("with something left of it: %+v, %v", out, err)
	}
	if of := f.w.sweptOf; of == nil || of.Name != f.x.Name || of.UID != "" {
		t.Errorf("swept %+v, want the one before", of)
	}
	f.w.orphans = 0
	if out, err := predecessor(t.Context(), run); err != nil || !out.Done {
		t.Errorf("with nothing left of it: %+v, %v", out, err)
	}
}
