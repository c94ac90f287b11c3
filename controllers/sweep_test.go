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

// ends has the experiment be there as one that is Complete, since it has begun, and then go.
func (f following) ends(t *testing.T, begun bool) {
	t.Helper()
	if begun {
		f.x.Status.StartTime = &metav1.Time{Time: f.w.now}
	}
	markComplete(&Run{ReplicationExperiment: f.x, Now: f.Now})
	f.store.put(t, f.x)
	if _, err := f.goesOn(t); err != nil {
		t.Fatal(err)
	}
	f.store.text = nil
}

// TestWhatIsSweptIsTheDeletedExperiments: what it is made of, and from when on objects may be its own, is known of one that has begun.
func TestWhatIsSweptIsTheDeletedExperiments(t *testing.T) {
	for _, begun := range []bool{true, false} {
		f := follow(t)
		f.ends(t, begun)
		if _, err := f.goesOn(t); err != nil {
			t.Fatal(err)
		}
		of := f.w.sweptOf
		if of == nil || of.Name != f.x.Name || of.Namespace != f.x.Namespace {
			t.Fatalf("begun %v: swept %+v", begun, of)
		}
		known := of.UID == f.x.UID && of.CreationTimestamp.Equal(&f.x.CreationTimestamp) && of.Status.StartTime != nil &&
			of.Spec.Topology.Patroni != nil && of.Spec.Topology.Patroni.Provider == v1alpha1.ProviderZalando
		if known != begun {
			t.Errorf("begun %v: swept %+v", begun, of)
		}
	}
}

// TestAnExperimentWaitsForTheOneOfItsNameBefore, and what that one has left is removed as long: an experiment's own pods and claims are not there yet.
func TestAnExperimentWaitsForTheOneOfItsNameBefore(t *testing.T) {
	f := follow(t)
	f.ends(t, true)
	next := experiment.Load(t, "patroni-zalando")
	next.UID, next.CreationTimestamp = "second", metav1.Unix(2000, 0)
	run := &Run{ReplicationExperiment: next, Cluster: f.w, Now: f.Now, Before: f.sweeps.before(next)}
	f.sweeps.there(next)
	f.w.orphans = 1
	if out, err := predecessor(t.Context(), run); err != nil || out.Done || out.Terminal {
		t.Errorf("with something left of it: %+v, %v", out, err)
	}
	if of := f.w.sweptOf; of == nil || of.UID != "first" {
		t.Errorf("swept %+v, want the first one", of)
	}
	if before := f.sweeps.before(next); before == nil || before.UID != "first" {
		t.Errorf("at the next look the one before is %+v", before)
	}
	f.w.orphans = 0
	if out, err := predecessor(t.Context(), run); err != nil || !out.Done {
		t.Errorf("with nothing left of it: %+v, %v", out, err)
	}
	next.Status.StartTime = &metav1.Time{Time: f.w.now}
	f.sweeps.there(next)
	if before := f.sweeps.before(next); before != nil {
		t.Errorf("once it has begun what is there is its own, and of one before: %+v", before)
	}
}

// TestTheFirstLookOfAnExperimentKnowsTheOneBefore.
func TestTheFirstLookOfAnExperimentKnowsTheOneBefore(t *testing.T) {
	f := follow(t)
	f.ends(t, true)
	next := experiment.Parse(t, []byte(semisync))
	next.Name, next.Namespace, next.UID = f.x.Name, f.x.Namespace, "second"
	f.store.put(t, next)
	f.w.orphans = 1
	for range 5 {
		if _, err := f.goesOn(t); err != nil {
			t.Fatal(err)
		}
	}
	if of := f.w.sweptOf; of == nil || of.UID != "first" {
		t.Errorf("swept %+v, want the first one", of)
	}
}

// TestWhatCannotBeRemovedIsNotFollowedForEver, and it is told why.
func TestWhatCannotBeRemovedIsNotFollowedForEver(t *testing.T) {
	f := follow(t)
	f.ends(t, true)
	f.w.unswept = errors.New("no such right")
	if _, err := f.goesOn(t); !errors.Is(err, f.w.unswept) || errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("at first: %v", err)
	}
	f.w.now = f.w.now.Add(sweepAtMost + time.Second)
	if _, err := f.goesOn(t); !errors.Is(err, f.w.unswept) || !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("at last: %v", err)
	}
}
