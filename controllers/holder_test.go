package controllers

import (
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

func leaseOf(x, holder string, renewed time.Time) *coordinationv1.Lease {
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: leaseName(x)}}
	l.Spec.HolderIdentity, l.Spec.RenewTime = &holder, ptr.To(metav1.NewMicroTime(renewed))
	return l
}

func TestHolding(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		holder string
		age    time.Duration
		want   held
	}{
		{"mine and fresh", "me", 0, heldByMe},
		{"mine and old", "me", holdRenew, toBeRenewed},
		{"mine and long expired", "me", time.Hour, toBeRenewed},
		{"another's", "other", holdExpiry, heldByOther},
		{"another's, who is gone", "other", holdExpiry + 1, toBeRenewed},
		{"another's, whose clock is ahead", "other", -time.Minute, heldByOther},
	} {
		if got := holding(leaseOf("x", c.holder, now.Add(-c.age)), "me", now); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if holding(&coordinationv1.Lease{}, "me", now) != toBeRenewed {
		t.Error("a Lease that nobody has is not taken")
	}
}

// TestARunOfAnotherOperatorIsLeftAlone, until that one is gone: then this one finishes it.
func TestARunOfAnotherOperatorIsLeftAlone(t *testing.T) {
	x := experiment.Parse(t, []byte(semisync))
	w := newWorld(t, x)
	store := storeOf(t, w, w, x)
	lease := leaseOf(x.Name, "another operator", w.now)
	lease.OwnerReferences = []metav1.OwnerReference{controlledBy(x)}
	w.objects[key(lease)] = lease
	for range 5 {
		if after, _ := once(t, store, w, w, client.ObjectKeyFromObject(x)); after < time.Second {
			t.Errorf("looks again after %s", after)
		}
		w.now = w.now.Add(10 * time.Second)
	}
	if w.writes != 0 {
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
