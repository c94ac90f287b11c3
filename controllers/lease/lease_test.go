package lease

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func leaseOf(holder string, renewed time.Time) *coordinationv1.Lease {
	l := &coordinationv1.Lease{}
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
		{"mine and old", "me", Renew, toBeRenewed},
		{"mine and long expired", "me", time.Hour, toBeRenewed},
		{"another's", "other", Expiry, heldByOther},
		{"another's, who is gone", "other", Expiry + 1, toBeRenewed},
		{"another's, whose clock is ahead", "other", -time.Minute, heldByOther},
		{"another's, from a time that is made up", "other", -50 * 365 * 24 * time.Hour, toBeRenewed},
		{"mine, from a time that is made up", "me", -time.Hour, toBeRenewed},
	} {
		if got := holding(leaseOf(c.holder, now.Add(-c.age)), "me", now); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if holding(&coordinationv1.Lease{}, "me", now) != toBeRenewed {
		t.Error("a Lease that nobody has is not taken")
	}
}
