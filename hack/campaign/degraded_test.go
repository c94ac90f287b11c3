package main

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
)

// TestWhatWasLostWhileDegradedIsSummedUp over the runs that tell of it, and so are places that were taken again.
func TestWhatWasLostWhileDegradedIsSummedUp(t *testing.T) {
	run := func(lost int64, alone *int64, again ...v1alpha1.RestartInPlaceStatus) record {
		s := &v1alpha1.ReplicationExperimentStatus{Verdict: v1alpha1.VerdictPassed, RestartsInPlace: again}
		s.Writes = &v1alpha1.WritesStatus{Lost: &lost, LostWhileDegraded: alone}
		if alone != nil {
			(*figure.Bounds)(&s.Bounds).Between("writes.lostWhileDegraded", *alone, *alone+2, "why")
		}
		return record{Status: s}
	}
	runs := []record{run(5, ptr.To[int64](3)), run(9, ptr.To[int64](0), v1alpha1.RestartInPlaceStatus{}, v1alpha1.RestartInPlaceStatus{}), run(4, nil), run(0, nil), {Error: "none"}}
	all := sum(runs)
	for _, says := range []string{"Of 14 writes that were lost in 2 runs, 3 to 7 were acknowledged", "In 1 more runs writes were lost of which that is not told", "In 1 runs a primary lost its server and took its place again"} {
		if !strings.Contains(all, says) {
			t.Errorf("want %q:\n%s", says, all)
		}
	}
	if all := sum([]record{run(4, nil)}); strings.Contains(all, "acknowledged while") || strings.Contains(all, "place again") {
		t.Errorf("nobody knows, and it says\n%s", all)
	}
	if got := line(runs[1]); !strings.Contains(got, "lost alone      2") {
		t.Errorf("the line of a run is %q", got)
	}
}
