package experiment

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/lease"
	"replab.dev/test/experiment"
)

func leaseOf(x, holder string, renewed time.Time) *coordinationv1.Lease {
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: lease.Name(x)}}
	l.Spec.HolderIdentity, l.Spec.RenewTime = &holder, ptr.To(metav1.NewMicroTime(renewed))
	return l
}

// TestARunOfAnotherOperatorIsLeftAlone, until that one is gone: then this one finishes it.
func TestARunOfAnotherOperatorIsLeftAlone(t *testing.T) {
	x := experiment.Parse(t, []byte(semisync))
	w := newWorld(t, x)
	store := storeOf(t, w, w, x)
	others := leaseOf(x.Name, "another operator", w.now)
	others.OwnerReferences = []metav1.OwnerReference{controlledBy(x)}
	w.objects[key(others)] = others
	for range 5 {
		if after, _ := once(t, store, w, w, client.ObjectKeyFromObject(x)); after < time.Second {
			t.Errorf("looks again after %s", after)
		}
		w.now = w.now.Add(10 * time.Second)
	}
	held := &v1alpha1.ReplicationExperiment{}
	if err := store.Get(t.Context(), client.ObjectKeyFromObject(x), held); err != nil {
		t.Fatal(err)
	}
	c := meta.FindStatusCondition(held.Status.Conditions, v1alpha1.ConditionAccepted)
	if c == nil || c.Reason != "Held" || !strings.Contains(c.Message, "operator another operator holds Lease semisync-run-holder") || InLine(held) {
		t.Errorf("it is told %+v", c)
	}
	if w.writes != 1 {
		t.Fatalf("it wrote %v", w.log)
	}
	w.now = w.now.Add(11 * time.Second)
	for range 3000 {
		after, _ := once(t, store, w, w, client.ObjectKeyFromObject(x))
		w.now = w.now.Add(max(after, time.Millisecond))
	}
	found := &v1alpha1.ReplicationExperiment{}
	if err := store.Get(t.Context(), client.ObjectKeyFromObject(x), found); err != nil {
		t.Fatal(err)
	}
	if found.Status.Verdict != v1alpha1.VerdictPassed || len(w.begun) != 1 {
		t.Errorf("%s, %v", found.Status.Verdict, found.Status.Reasons)
	}
}

// TestALockOfAnotherProgramIsNeverTaken, however old it is: the run ends and says whose name is in the way.
func TestALockOfAnotherProgramIsNeverTaken(t *testing.T) {
	for _, age := range []time.Duration{0, time.Hour} {
		x := experiment.Parse(t, []byte(semisync))
		w := newWorld(t, x)
		foreign := leaseOf(x.Name, "the leader of another program", w.now.Add(-age))
		w.objects[key(foreign)] = foreign
		found := play(t, w, w, x)
		if got := outcomeOf(found, w); got.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(got.Reason, "does not belong to experiment semisync") || got.Loads != 0 {
			t.Errorf("%s, %s, want that the Lease is in the way", got.Verdict, got.Reason)
		}
		if slices.Contains(w.log, "update "+key(foreign)) {
			t.Error("the lock of another program was taken")
		}
	}
}

// leases is a world in which Leases are read and written only with errors.
type leases struct {
	*world
	read, write error
	operator    *Reconciler
	other       func() // what another operator does after each look of this one
}

func (l *leases) Get(ctx context.Context, o client.Object) (bool, error) {
	if _, ok := o.(*coordinationv1.Lease); ok && l.read != nil {
		return false, l.read
	}
	return l.world.Get(ctx, o)
}

func (l *leases) Create(ctx context.Context, x *v1alpha1.ReplicationExperiment, o client.Object) error {
	if _, ok := o.(*coordinationv1.Lease); ok && l.write != nil {
		return l.write
	}
	return l.world.Create(ctx, x, o)
}

func (l *leases) Update(ctx context.Context, o client.Object) error {
	if _, ok := o.(*coordinationv1.Lease); ok && l.write != nil {
		return l.write
	}
	return l.world.Update(ctx, o)
}

// after has one operator, who remembers, work on a run under load for some time of the world. It returns the run as it is then.
func (l *leases) after(s *story, lasts time.Duration) *v1alpha1.ReplicationExperiment {
	s.Helper()
	if l.operator == nil {
		l.operator = &Reconciler{
			Client: s.store, Cluster: l, Processes: l, Events: &events.FakeRecorder{}, Now: func() time.Time { return s.w.now },
			Config: s.w.config(), Identity: "this operator", Servers: servers,
		}
	}
	for end := s.w.now.Add(lasts); s.w.now.Before(end) && !isComplete(s.now()); {
		result, err := l.operator.Reconcile(s.Context(), ctrl.Request{NamespacedName: s.key})
		if err != nil {
			result.RequeueAfter = 5 * time.Second
		}
		s.w.now = s.w.now.Add(max(result.RequeueAfter, time.Millisecond))
		if l.other != nil {
			l.other()
		}
	}
	return s.now()
}

func aborted(spec *v1alpha1.ReplicationExperimentSpec) { spec.Abort = true }

// TestARunEndsWithoutItsLease once it has to end, and says what was in the way.
func TestARunEndsWithoutItsLease(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "semisync-run-holder", errors.New("no such right"))
	broken := errors.New("no connection")
	for name, c := range map[string]struct {
		leases leases
		gone   bool // the Lease was deleted
		edit   func(*v1alpha1.ReplicationExperimentSpec)
		says   string
		atMost time.Duration
	}{
		"not read, aborted":        {leases{read: forbidden}, false, aborted, "spec.abort ended the run; its Lease semisync-run-holder could not be taken", endPatience + time.Minute},
		"not read, late":           {leases{read: broken}, false, func(*v1alpha1.ReplicationExperimentSpec) {}, "600 s: raise it; its Lease", 800 * time.Second},
		"not renewed, aborted":     {leases{write: broken}, false, aborted, "no connection", endPatience + time.Minute},
		"not renewed":              {leases{write: forbidden}, false, func(*v1alpha1.ReplicationExperimentSpec) {}, "refuses the run's Lease: give the operator the right to Leases, or free the quota: ", 2 * time.Minute},
		"deleted, and not made":    {leases{write: forbidden}, true, func(*v1alpha1.ReplicationExperimentSpec) {}, "no such right", 2 * time.Minute},
		"deleted, broken, aborted": {leases{write: broken}, true, aborted, "could not be taken for 2m0s", endPatience + time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, func(spec *v1alpha1.ReplicationExperimentSpec) {
				spec.DeadlineSeconds = ptr.To[int64](600)
				spec.Load.Stages[0].DurationSeconds = 300
			})
			s.until("under load", underLoad)
			if c.gone {
				delete(s.w.objects, key(leaseOf("semisync", "", s.w.now)))
			}
			s.w.now = s.w.now.Add(lease.Renew)
			s.edit(c.edit)
			c.leases.world = s.w
			x := c.leases.after(s, c.atMost)
			if !isComplete(x) || x.Status.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(x.Status.Reasons[0], c.says) {
				t.Errorf("%s: %s, %q", x.Status.Phase, x.Status.Verdict, x.Status.Reasons)
			}
			if !isTrue(x.Status.Conditions, v1alpha1.ConditionAccepted) {
				t.Error("it was accepted, and is not any more")
			}
			if s.deployed() {
				t.Error("objects are left")
			}
		})
	}
}

// TestAnOperatorWithoutLeasesLeavesRunsAlone: another one may carry them out.
func TestAnOperatorWithoutLeasesLeavesRunsAlone(t *testing.T) {
	s := begin(t, func(*v1alpha1.ReplicationExperimentSpec) {})
	s.until("under load", underLoad)
	writes := s.w.writes
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "semisync-run-holder", errors.New("no such right"))
	(&leases{world: s.w, read: forbidden}).after(s, 20*time.Minute)
	if s.w.writes != writes {
		t.Errorf("it wrote %v", s.w.log[writes:])
	}
}

// TestARunThatItsHolderDoesNotEndIsTakenOver, and not before its holder had time for that.
func TestARunThatItsHolderDoesNotEndIsTakenOver(t *testing.T) {
	s := begin(t, func(spec *v1alpha1.ReplicationExperimentSpec) { spec.DeadlineSeconds = nil })
	x := s.until("under load", underLoad)
	others := leaseOf(x.Name, "another operator", s.w.now)
	others.OwnerReferences = []metav1.OwnerReference{controlledBy(x)}
	l := &leases{world: s.w, other: func() { // it renews its Lease for as long as it has it
		if found, ok := s.w.objects[key(others)].(*coordinationv1.Lease); ok && *found.Spec.HolderIdentity == "another operator" {
			others.Spec.RenewTime = ptr.To(metav1.NewMicroTime(s.w.now))
			s.w.objects[key(others)] = others.DeepCopy()
		}
	}}
	s.w.objects[key(others)] = others
	writes := s.w.writes
	if l.after(s, 20*time.Minute); s.w.writes != writes {
		t.Errorf("nothing is to end, and it wrote %v", s.w.log[writes:])
	}
	s.edit(aborted)
	if l.after(s, endPatience-lease.Renew); s.w.writes != writes {
		t.Errorf("the other one had no time to end it, and it wrote %v", s.w.log[writes:])
	}
	if x = l.after(s, time.Minute); !isComplete(x) || !strings.Contains(x.Status.Reasons[0], "another operator held its Lease semisync-run-holder and had not ended it after 2m0s") {
		t.Errorf("%s: %q", x.Status.Phase, x.Status.Reasons)
	}
}
