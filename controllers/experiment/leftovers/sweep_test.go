package leftovers

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"replab.dev/api/v1alpha1"
)

// remains is how many objects are left, or why they cannot be removed. It counts how often they were looked for.
type remains struct {
	left, looks int
	err         error
}

func (r *remains) RemoveOrphans(context.Context, *v1alpha1.ReplicationExperiment) (int, error) {
	r.looks++
	return r.left, r.err
}

var gone = types.NamespacedName{Namespace: "default", Name: "gone"}

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
			var sweeper Sweeper
			var r remains
			var took time.Duration
			for range 1000 {
				r.left = c.left(took)
				result, err := sweeper.Sweep(t.Context(), &r, gone, time.Unix(0, 0).Add(took))
				if err != nil {
					t.Fatal(err)
				}
				if result.RequeueAfter == 0 {
					break
				}
				took += result.RequeueAfter
			}
			if took < c.atLeast || took > c.atMost || r.looks < 2 {
				t.Errorf("followed for %s in %d looks, want %s to %s", took, r.looks, c.atLeast, c.atMost)
			}
		})
	}
}

// TestWhatCannotBeRemovedIsNotFollowedForEver, and it is told why.
func TestWhatCannotBeRemovedIsNotFollowedForEver(t *testing.T) {
	var sweeper Sweeper
	r := remains{err: errors.New("no such right")}
	if _, err := sweeper.Sweep(t.Context(), &r, gone, time.Unix(0, 0)); !errors.Is(err, r.err) || errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("at first: %v", err)
	}
	if _, err := sweeper.Sweep(t.Context(), &r, gone, time.Unix(1, 0).Add(sweepAtMost)); !errors.Is(err, r.err) || !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("at last: %v", err)
	}
}
