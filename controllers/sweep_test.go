package controllers

import (
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
