package controllers

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// TestWhatIsLeftOfADeletedExperimentIsFollowed until nothing is left, and a little longer: a claim may come late.
func TestWhatIsLeftOfADeletedExperimentIsFollowed(t *testing.T) {
	for _, c := range []struct {
		name    string
		left    func(age time.Duration) int
		atLeast time.Duration
		atMost  time.Duration
	}{
		{"nothing is left at once", func(time.Duration) int { return 0 }, sweepFor, sweepFor + sweepEvery},
		{"a pod takes its time", func(age time.Duration) int {
			if age < time.Minute {
				return 1
			}
			return 0
		}, time.Minute, time.Minute + sweepEvery},
		{"one never goes", func(time.Duration) int { return 1 }, sweepAtMost, sweepAtMost + 2*sweepEvery},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := experiment.Parse(t, []byte(semisync))
			w := newWorld(t, x)
			s := storeOf(t, w, w, x)
			s.text = nil
			began := w.now
			r := &Reconciler{Client: s, Cluster: w, Now: func() time.Time { return w.now }}
			for range 1000 {
				w.orphans = c.left(w.now.Sub(began))
				result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(x)})
				if err != nil {
					t.Fatal(err)
				}
				if result.RequeueAfter == 0 {
					break
				}
				w.now = w.now.Add(result.RequeueAfter)
			}
			if took := w.now.Sub(began); took < c.atLeast || took > c.atMost || w.swept < 2 {
				t.Errorf("followed for %s in %d looks, want %s to %s", took, w.swept, c.atLeast, c.atMost)
			}
		})
	}
}

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
	f.store.text = nil
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

// TestWhatCannotBeRemovedIsNotFollowedForEver, and it is told why.
func TestWhatCannotBeRemovedIsNotFollowedForEver(t *testing.T) {
	f := follow(t)
	f.store.text = nil
	f.w.unswept = errors.New("no such right")
	if _, err := f.goesOn(t); !errors.Is(err, f.w.unswept) || errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("at first: %v", err)
	}
	f.w.now = f.w.now.Add(sweepAtMost + time.Second)
	if _, err := f.goesOn(t); !errors.Is(err, f.w.unswept) || !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("at last: %v", err)
	}
}
