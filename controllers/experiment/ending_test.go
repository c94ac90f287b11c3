package experiment

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// story plays an experiment up to moments at which somebody does something to it.
type story struct {
	*testing.T
	w     *world
	store *store
	key   client.ObjectKey
}

func begin(t *testing.T, change func(*v1alpha1.ReplicationExperimentSpec)) *story {
	t.Helper()
	x := experiment.Parse(t, []byte(semisync))
	change(&x.Spec)
	w := newWorld(t, x)
	return &story{T: t, w: w, store: storeOf(t, w, w, x), key: client.ObjectKeyFromObject(x)}
}

func (s *story) now() *v1alpha1.ReplicationExperiment {
	s.Helper()
	x := &v1alpha1.ReplicationExperiment{}
	if err := s.store.Get(s.Context(), s.key, x); err != nil {
		s.Fatal(err)
	}
	return x
}

// until lets the operator work until something is so.
func (s *story) until(what string, so func(*v1alpha1.ReplicationExperiment) bool) *v1alpha1.ReplicationExperiment {
	s.Helper()
	for range 3000 {
		after, _ := once(s.T, s.store, s.w, s.w, s.key)
		if x := s.now(); so(x) {
			return x
		}
		s.w.now = s.w.now.Add(max(after, time.Millisecond))
	}
	s.Fatalf("never %s; the last writes were %v", what, s.w.log[max(0, len(s.w.log)-5):])
	return nil
}

// edit changes the spec as the API server does.
func (s *story) edit(change func(*v1alpha1.ReplicationExperimentSpec)) {
	s.Helper()
	x := s.now()
	change(&x.Spec)
	x.Generation++
	s.store.put(s.T, x)
}

func isComplete(x *v1alpha1.ReplicationExperiment) bool {
	return isTrue(x.Status.Conditions, v1alpha1.ConditionComplete)
}

func underLoad(x *v1alpha1.ReplicationExperiment) bool {
	return isTrue(x.Status.Conditions, v1alpha1.ConditionLoadStarted)
}

func TestAnAbortedRunKeepsWhatWasMeasured(t *testing.T) {
	s := begin(t, func(*v1alpha1.ReplicationExperimentSpec) {})
	s.until("under load", underLoad)
	s.edit(func(spec *v1alpha1.ReplicationExperimentSpec) { spec.Abort = true })
	x := s.until("complete", isComplete)

	if x.Status.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(x.Status.Reasons[0], "spec.abort ended the run") {
		t.Errorf("%s: %q", x.Status.Verdict, x.Status.Reasons)
	}
	if x.Status.Load == nil || x.Status.Load.Requests != 3000 || x.Status.Results == "" {
		t.Errorf("load %+v, results %q: what was measured is gone", x.Status.Load, x.Status.Results)
	}
	if w := x.Status.Writes; w == nil || w.Sent != 1000 || w.Lost != nil || len(x.Status.Goals) > 0 {
		t.Errorf("writes %+v, goals %+v: what was not audited is judged", w, x.Status.Goals)
	}
	if s.w.kills > 0 {
		t.Error("a fault was injected after the end")
	}
	if s.deployed() {
		t.Error("objects are left: keep is Never")
	}
}

func (s *story) deployed() bool {
	for _, o := range s.w.objects {
		if _, ok := o.(*appsv1.StatefulSet); ok {
			return true
		}
	}
	return false
}

func TestARunThatHasNotBegunIsAbortedAtOnce(t *testing.T) {
	s := begin(t, func(spec *v1alpha1.ReplicationExperimentSpec) { spec.Suspend, spec.Abort = true, true })
	x := s.until("complete", isComplete)
	if x.Status.Verdict != v1alpha1.VerdictInconclusive || x.Status.Load != nil || x.Status.Results != "" || s.deployed() {
		t.Errorf("%s: %+v", x.Status.Verdict, x.Status)
	}
}

func TestADeadlineEndsARun(t *testing.T) {
	s := begin(t, func(*v1alpha1.ReplicationExperimentSpec) {})
	s.until("started", func(x *v1alpha1.ReplicationExperiment) bool { return x.Status.StartTime != nil })
	s.edit(func(spec *v1alpha1.ReplicationExperimentSpec) { spec.DeadlineSeconds = ptr.To[int64](20) }) // the rules ask for more than the load takes
	x := s.until("complete", isComplete)
	took := x.Status.CompletionTime.Sub(x.Status.StartTime.Time)
	if x.Status.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(x.Status.Reasons[0], "exceeded spec.deadlineSeconds, 20 s") || took > 40*time.Second {
		t.Errorf("%s after %s: %q", x.Status.Verdict, took, x.Status.Reasons)
	}
	s = begin(t, func(spec *v1alpha1.ReplicationExperimentSpec) { spec.DeadlineSeconds = ptr.To[int64](3600) })
	if x := s.until("complete", isComplete); x.Status.Verdict != v1alpha1.VerdictPassed {
		t.Errorf("with time enough it is %s: %q", x.Status.Verdict, x.Status.Reasons)
	}
}

func TestAFinishedRunGoesWhenItsTimeIsOver(t *testing.T) {
	s := begin(t, func(spec *v1alpha1.ReplicationExperimentSpec) { spec.TTLSecondsAfterFinished = ptr.To[int64](600) })
	s.until("complete", isComplete)
	after, _ := once(t, s.store, s.w, s.w, s.key)
	if after < 9*time.Minute || after > 10*time.Minute || len(s.w.deleted) > 0 {
		t.Fatalf("comes back after %s, deleted %v", after, s.w.deleted)
	}
	s.w.now = s.w.now.Add(after)
	once(t, s.store, s.w, s.w, s.key)
	if !slices.Contains(s.w.deleted, s.key.Name) {
		t.Errorf("deleted %v", s.w.deleted)
	}
}

func TestKeepThatIsEditedAfterTheEndIsHonoured(t *testing.T) {
	s := begin(t, func(spec *v1alpha1.ReplicationExperimentSpec) { spec.Keep = v1alpha1.KeepAlways })
	s.until("complete", isComplete)
	once(t, s.store, s.w, s.w, s.key)
	if !s.deployed() {
		t.Fatal("the objects are gone, though keep is Always")
	}
	s.edit(func(spec *v1alpha1.ReplicationExperimentSpec) { spec.Keep = v1alpha1.KeepNever })
	s.until("tidy", func(x *v1alpha1.ReplicationExperiment) bool { return x.Status.ObservedGeneration == x.Generation })
	if s.deployed() {
		t.Error("the objects are still there")
	}
}

// TestARefusedSpecThatIsCorrectedBegins: nothing was made for it. A run that began stays over, whatever is edited.
func TestARefusedSpecThatIsCorrectedBegins(t *testing.T) {
	s := begin(t, func(spec *v1alpha1.ReplicationExperimentSpec) { spec.DeadlineSeconds = ptr.To[int64](1) })
	if x := s.until("complete", isComplete); x.Status.StartTime != nil || x.Status.Verdict != v1alpha1.VerdictInconclusive {
		t.Fatalf("%s, started at %v", x.Status.Verdict, x.Status.StartTime)
	}
	s.edit(func(spec *v1alpha1.ReplicationExperimentSpec) { spec.DeadlineSeconds = nil })
	s.until("started", func(x *v1alpha1.ReplicationExperiment) bool { return x.Status.StartTime != nil })
	x := s.until("complete", isComplete)
	if x.Status.Verdict != v1alpha1.VerdictPassed {
		t.Errorf("%s: %q", x.Status.Verdict, x.Status.Reasons)
	}
	s.edit(func(spec *v1alpha1.ReplicationExperimentSpec) { spec.Keep = v1alpha1.KeepAlways })
	once(t, s.store, s.w, s.w, s.key)
	if x := s.now(); !isComplete(x) || x.Status.Verdict != v1alpha1.VerdictPassed {
		t.Errorf("it begins anew: %+v", x.Status)
	}
}
