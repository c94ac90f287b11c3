package experiment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

// TestAnUpgradeInMidRunFinishesIt: another image of replab's, at any point of the run.
func TestAnUpgradeInMidRunFinishesIt(t *testing.T) {
	kept := strings.ReplaceAll(semisync, "keep: Never", "keep: Always")
	want, writes := carryOut(t, kept)
	for at := 2; at < writes; at += 7 {
		t.Run(fmt.Sprintf("from write %d on", at), func(t *testing.T) {
			var w *world
			got, _ := carryOut(t, kept, func(in *world) {
				w = in
				w.upgradeAt, w.upgrade = at, func(c *wire.OperatorConfig) { c.Images.Replab, c.Images.K6 = "replab:2", "k6:2" }
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			seen := false
			for _, o := range w.objects {
				d, ok := o.(*appsv1.Deployment)
				if !ok || !strings.HasSuffix(d.Name, "-social") {
					continue
				}
				seen = true
				if image := d.Spec.Template.Spec.Containers[0].Image; image != "replab:1" {
					t.Errorf("the app runs %s, want the image that the run was started with", image)
				}
			}
			if !seen {
				t.Error("the app was not deployed")
			}
		})
	}
}

// TestAnotherPlanIsNotMixedIn: an operator that plans otherwise ends a run whose objects were still being made, and finishes one
// whose load has started.
func TestAnotherPlanIsNotMixedIn(t *testing.T) {
	_, writes := carryOut(t, semisync)
	ended, finished := 0, 0
	for at := 3; at < writes; at += 5 {
		got, _ := carryOut(t, semisync, func(w *world) {
			w.upgradeAt, w.upgrade = at, func(c *wire.OperatorConfig) { c.ClusterDomain = "elsewhere.local" }
		})
		switch {
		case got.Verdict == v1alpha1.VerdictPassed && got.Loads == 1:
			finished++
		case got.Verdict == v1alpha1.VerdictInconclusive && strings.Contains(got.Reason, "upgraded during deployment") && finished == 0:
			ended++
		default:
			t.Errorf("upgraded at write %d: %s, %s", at, got.Verdict, got.Reason)
		}
	}
	if ended == 0 || finished == 0 {
		t.Errorf("%d runs ended and %d were finished: both must be seen", ended, finished)
	}
}

// TestAVerdictStandsWhateverTheNextOperatorCanPlan: what is left is the cleaning up, and an operator that cannot plan the run any more
// has no say in what came of it.
func TestAVerdictStandsWhateverTheNextOperatorCanPlan(t *testing.T) {
	x := experiment.Parse(t, []byte(semisync))
	x.Status.Verdict, x.Status.PlanHash = v1alpha1.VerdictPassed, "of another operator"
	x.Status.Images = &v1alpha1.ImagesStatus{}
	w := newWorld(t, x)
	r := &Reconciler{Cluster: w, Processes: w, Now: func() time.Time { return w.now }, Config: w.config()} // no server that it knows
	if _, err := r.step(t.Context(), &Run{ReplicationExperiment: x, Cluster: w, Processes: w, Now: r.Now}, Done()); err != nil {
		t.Fatal(err)
	}
	if x.Status.Verdict != v1alpha1.VerdictPassed || len(x.Status.Reasons) > 0 {
		t.Errorf("%s, %v, want the verdict that stood", x.Status.Verdict, x.Status.Reasons)
	}
}
