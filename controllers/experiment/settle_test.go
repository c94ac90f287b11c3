package experiment

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// What a director that looks every five seconds tells right after the last writes is of before them.
func TestRestIsToldByALookAfterTheLastWrites(t *testing.T) {
	for _, c := range []struct {
		after, waits time.Duration
	}{{0, 11 * time.Second}, {time.Second, 10 * time.Second}, {10900 * time.Millisecond, 100 * time.Millisecond}, {11 * time.Second, 0}} {
		s := &scene{}
		run := s.run(t)
		run.Spec.Topology.Director.PeriodMilliseconds = 5000
		reach(run, v1alpha1.MilestoneLedgerClosed)
		s.now = s.now.Add(c.after)
		out, err := settle(t.Context(), run)
		if err != nil || out.Done != (c.waits == 0) || out.After != c.waits {
			t.Errorf("%s after the last writes: %+v, %v; want to wait for %s", c.after, out, err, c.waits)
		}
		if rested := run.Status.Rest != nil && run.Status.Rest.AtRest == metav1.ConditionTrue; rested != out.Done {
			t.Errorf("%s after the last writes: rest %+v", c.after, run.Status.Rest)
		}
	}
}
