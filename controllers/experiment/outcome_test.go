package experiment

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/diagnose"
	"replab.dev/internal/kube"
	"replab.dev/test/experiment"
)

// refusing is a world whose API server refuses objects of some kind from when the first one is written.
type refusing struct {
	*world
	refuses func(client.Object) bool
	err     error
	lasts   time.Duration
	since   time.Time
}

func (r *refusing) refuse(o client.Object) error {
	if !r.refuses(o) {
		return nil
	}
	if r.since.IsZero() {
		r.since = r.now
	}
	if r.now.Sub(r.since) < r.lasts {
		return r.err
	}
	return nil
}

func (r *refusing) Apply(ctx context.Context, x *v1alpha1.ReplicationExperiment, o client.Object) error {
	if err := r.refuse(o); err != nil {
		return err
	}
	return r.world.Apply(ctx, x, o)
}

func (r *refusing) Create(ctx context.Context, x *v1alpha1.ReplicationExperiment, o client.Object) error {
	if err := r.refuse(o); err != nil {
		return err
	}
	return r.world.Create(ctx, x, o)
}

func overQuota() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "any"}, "a", errors.New("exceeded quota: a, requested: pods=1, used: pods=4, limited: pods=4"))
}

// TestRefusedObjectsAreTriedAgain for as long as refused pods are, whatever step makes them.
func TestRefusedObjectsAreTriedAgain(t *testing.T) {
	for name, refuses := range map[string]func(client.Object) bool{
		"a Secret": func(o client.Object) bool { _, is := o.(*corev1.Secret); return is },
		"the seed": func(o client.Object) bool { j, is := o.(*batchv1.Job); return is && strings.HasSuffix(j.Name, "-seed") },
		"the load": func(o client.Object) bool { j, is := o.(*batchv1.Job); return is && strings.Contains(j.Name, "-load-") },
		"the audit": func(o client.Object) bool {
			j, is := o.(*batchv1.Job)
			return is && strings.HasSuffix(j.Name, "-audit")
		},
		"the results": func(o client.Object) bool { return o.GetLabels()[kube.LabelComponent] == kube.ComponentResults },
	} {
		for _, lasts := range []time.Duration{diagnose.RefusedAfter / 2, 2 * diagnose.RefusedAfter} {
			t.Run(name+" for "+lasts.String(), func(t *testing.T) {
				x := experiment.Parse(t, []byte(semisync))
				w := newWorld(t, x)
				r := &refusing{world: w, refuses: refuses, err: overQuota(), lasts: lasts}
				found := play(t, w, r, x)
				if r.since.IsZero() {
					t.Fatal("nothing was refused")
				}
				got := outcomeOf(found, w)
				if lasts < diagnose.RefusedAfter && got.Verdict != v1alpha1.VerdictPassed {
					t.Errorf("%s: %s", got.Verdict, got.Reasons)
				}
				if lasts > diagnose.RefusedAfter && (got.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(got.Reason, "exceeded quota")) {
					t.Errorf("%s: %s", got.Verdict, got.Reasons)
				}
				if n := strings.Count(got.Reasons, "exceeded quota"); n > 1 {
					t.Errorf("it is said %d times: %s", n, got.Reasons)
				}
			})
		}
	}
}

// TestResultsThatAreRefusedAreSalvagedOnce: an aborted run waits for them, too, and says only once that they could not be kept.
func TestResultsThatAreRefusedAreSalvagedOnce(t *testing.T) {
	for lasts, kept := range map[time.Duration]bool{diagnose.RefusedAfter / 2: true, 2 * diagnose.RefusedAfter: false} {
		s := begin(t, func(*v1alpha1.ReplicationExperimentSpec) {})
		s.until("under load", underLoad)
		s.edit(aborted)
		r := &refusing{world: s.w, refuses: func(o client.Object) bool { return o.GetLabels()[kube.LabelComponent] == kube.ComponentResults }, err: overQuota(), lasts: lasts}
		for range 1000 {
			after, _ := once(t, s.store, s.w, r, s.key)
			s.w.now = s.w.now.Add(max(after, time.Millisecond))
			if isComplete(s.now()) {
				break
			}
		}
		x := s.now()
		if n := strings.Count(strings.Join(x.Status.Notes, "\n"), "could not be kept"); !isComplete(x) || (x.Status.Results != "") != kept || (n == 0) != kept || n > 1 || x.Status.Load == nil {
			t.Errorf("refused for %s: results %q, load %v, %q", lasts, x.Status.Results, x.Status.Load, x.Status.Reasons)
		}
	}
}

// unremovable is a world in which the operator may remove nothing.
type unremovable struct{ *world }

func (unremovable) Remove(context.Context, *v1alpha1.ReplicationExperiment) (int, error) {
	return 0, overQuota()
}

func (unremovable) RemoveLoad(context.Context, *v1alpha1.ReplicationExperiment) error {
	return overQuota()
}

// TestARunThatMayNotBeRemovedEnds, aborted or not, and says what is left.
func TestARunThatMayNotBeRemovedEnds(t *testing.T) {
	for _, aborts := range []bool{false, true} {
		s := begin(t, func(*v1alpha1.ReplicationExperimentSpec) {})
		s.until("under load", underLoad)
		if aborts {
			s.edit(aborted)
		}
		for range 3000 {
			after, _ := once(t, s.store, s.w, unremovable{s.w}, s.key)
			s.w.now = s.w.now.Add(max(after, time.Millisecond))
			if isComplete(s.now()) {
				break
			}
		}
		x := s.now()
		cleaned := meta.FindStatusCondition(x.Status.Conditions, v1alpha1.ConditionCleanedUp)
		if !isComplete(x) || cleaned == nil || cleaned.Reason != "Remaining" || !strings.Contains(cleaned.Message, "could not be removed within 3m0s") {
			t.Errorf("aborted %v: %s: %+v", aborts, x.Status.Phase, cleaned)
		}
	}
}
