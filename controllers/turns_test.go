package controllers

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// kept are the experiments of a cache.
type kept []v1alpha1.ReplicationExperiment

func (k kept) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	into.(*v1alpha1.ReplicationExperimentList).Items = k
	return nil
}

func (k kept) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return nil
}

var began = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// waiting is an experiment that was made so many seconds after the first.
func waiting(name string, second int, reason string) v1alpha1.ReplicationExperiment {
	x := v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(began.Add(time.Duration(second) * time.Second)),
	}}
	if reason != "" {
		x.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, Reason: reason}}
	}
	return x
}

func TestOnlyThoseInLineAreAhead(t *testing.T) {
	x := waiting("x", 10, "Queued")
	running := waiting("running", 20, "")
	running.Status.StartTime = &running.CreationTimestamp
	suspended := waiting("suspended", 1, "Queued")
	suspended.Spec.Suspend = true
	for name, c := range map[string]struct {
		other v1alpha1.ReplicationExperiment
		ahead bool
	}{
		"an older one that waits":            {waiting("a", 1, "Queued"), true},
		"an older one that is new":           {waiting("a", 1, ""), true},
		"a younger one that waits":           {waiting("a", 11, "Queued"), false},
		"an older one that is held":          {waiting("a", 1, "Held"), false},
		"an older one that a webhook stops":  {waiting("a", 1, "Refused"), false},
		"an older one without its reference": {waiting("a", 1, "ReferenceMissing"), false},
		"one under way":                      {running, true},
		"a suspended one":                    {suspended, false},
	} {
		turns := &turns{experiments: kept{c.other, x}, policy: wire.OneAtATimeAlways, now: func() time.Time { return began }}
		ahead, err := turns.ahead(t.Context(), &x, false)
		if err != nil || (len(ahead) == 1) != c.ahead {
			t.Errorf("%s: %v, %v", name, ahead, err)
		}
	}
}

// TestTwoDoNotBeginAtOnce, though the cache has the start of neither, and an older one was held up.
func TestTwoDoNotBeginAtOnce(t *testing.T) {
	older, x := waiting("a", 1, "Refused"), waiting("x", 10, "Queued")
	now := began
	turns := &turns{experiments: kept{older, x}, policy: wire.OneAtATimeAlways, now: func() time.Time { return now }}
	if ahead, err := turns.ahead(t.Context(), &x, true); err != nil || len(ahead) > 0 {
		t.Fatalf("%v, %v", ahead, err)
	}
	if ahead, err := turns.ahead(t.Context(), &older, true); err != nil || len(ahead) != 1 {
		t.Errorf("both begin: %v, %v", ahead, err)
	}
	now = now.Add(grantLasts)
	if ahead, err := turns.ahead(t.Context(), &older, true); err != nil || len(ahead) > 0 {
		t.Errorf("a turn that was not taken is kept: %v, %v", ahead, err)
	}
}
