package plugin

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/kubetest"
)

// seeding is a run that is under way.
func seeding() v1alpha1.ReplicationExperimentStatus {
	return v1alpha1.ReplicationExperimentStatus{Phase: "Seeding", Conditions: reached(v1alpha1.ConditionAccepted)}
}

// end gives a run its verdict.
func end(t *testing.T, x *v1alpha1.ReplicationExperiment, verdict v1alpha1.Verdict) {
	t.Helper()
	x = found(t, x.DeepCopy())
	x.Status = ended(verdict)
	if err := kubetest.Client(t).Status().Update(t.Context(), x); err != nil {
		t.Fatal(err)
	}
}

func TestReplaceRemovesNoneThatIsUnderWay(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	older := stored(t, here, "semisync", seeding())
	run := begin(t, here, "run", "--replace", file(t, semisync))
	run.awaits(t, "Seeding")
	end(t, older, v1alpha1.VerdictFailed)
	if got := run.ends(); got.code != ExitFailed || !strings.Contains(got.out, "is under way already") || strings.Contains(got.out, "Removing") {
		t.Errorf("%+v", got)
	}
}

// TestOneThatEndsBeforeItsTurn was under way when all was tried: nobody has seen its results, so that it is not removed.
func TestOneThatEndsBeforeItsTurn(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	older := stored(t, here, "semisync", seeding())
	run := begin(t, here, "run", "--replace", file(t, strings.Replace(semisync, "name: semisync", "name: first", 1)+"\n---\n"+semisync))
	run.awaits(t, "Waiting for the operator")
	end(t, older, v1alpha1.VerdictFailed)
	operate(t, here, "first", v1alpha1.VerdictPassed, atOnce)
	if got := run.ends(); got.code != ExitFailed || !strings.Contains(got.out, "Experiment semisync has already ended") || found(t, older.DeepCopy()).UID != older.UID {
		t.Errorf("%+v", got)
	}
}

func TestWhoLeavesWhileAnOlderOneIsRemoved(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	older := stored(t, here, "semisync", ended(v1alpha1.VerdictPassed))
	hold := []byte(`{"metadata":{"finalizers":["test.replab.dev/held"]}}`)
	if err := kubetest.Client(t).Patch(t.Context(), older, client.RawPatch(types.MergePatchType, hold)); err != nil {
		t.Fatal(err)
	}
	run := begin(t, here, "run", "--replace", file(t, semisync+"\n---\n"+strings.Replace(semisync, "name: semisync", "name: second", 1)))
	run.awaits(t, "Removing the older experiment")
	run.leave()
	got := run.ends()
	for _, want := range []string{"Experiment semisync was not begun, and the older one is being removed", "Experiment second was not begun"} {
		if got.code != ExitInterrupted || !strings.Contains(got.err, want) {
			t.Errorf("%+v", got)
		}
	}
}

// TestOneThatRemovesItselfWithItsVerdict: with ttlSecondsAfterFinished 0 nobody may ever see it complete.
func TestOneThatRemovesItselfWithItsVerdict(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	status := seeding()
	status.Phase, status.Verdict = "CleaningUp", v1alpha1.VerdictFailed
	x := stored(t, here, "semisync", status)
	run := begin(t, here, "watch", "semisync")
	run.awaits(t, "CleaningUp")
	if err := kubetest.Client(t).Delete(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	if got := run.ends(); got.code != ExitFailed || !strings.Contains(got.out, "Verdict   Failed") {
		t.Errorf("%+v", got)
	}
}

func TestOneThatTheOperatorRefused(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	status := ended(v1alpha1.VerdictInconclusive)
	status.Conditions[0].Status, status.Conditions[0].Reason = metav1.ConditionFalse, v1alpha1.ReasonSpecRefused
	stored(t, here, "semisync", status)
	if got := command(t, here, "watch", "semisync"); got.code != ExitNotRun || !strings.Contains(got.out, "Verdict   Inconclusive") {
		t.Errorf("%+v", got)
	}
}

func TestWhoDoesNotLookForEver(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	stored(t, here, "semisync", seeding())
	got := command(t, here, "watch", "semisync", "--timeout", "300ms")
	if got.code != ExitNotRun || !strings.Contains(got.err, "experiment semisync is still at Seeding after 300ms") {
		t.Errorf("%+v", got)
	}
}

// unbegun is a run that ended before its start.
func unbegun() v1alpha1.ReplicationExperimentStatus {
	return v1alpha1.ReplicationExperimentStatus{
		ObservedGeneration: 1, Phase: "Complete", Verdict: v1alpha1.VerdictInconclusive, Conditions: reached(v1alpha1.ConditionComplete),
	}
}

func TestOneThatEndedBeforeItsStartBeginsAnewWhereChanged(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	older := stored(t, here, "semisync", unbegun())
	if got := command(t, here, "run", file(t, semisync)); got.code != ExitNotRun || !strings.Contains(got.err, "experiment semisync ended before its start: change its spec, or begin it again with --replace") {
		t.Errorf("with the same spec: %+v", got)
	}
	run := begin(t, here, "run", file(t, semisync+"  deadlineSeconds: 900\n"))
	run.awaits(t, "Experiment semisync ended before its start, and begins anew.")
	x := found(t, older.DeepCopy())
	x.Status = v1alpha1.ReplicationExperimentStatus{} // as the operator does
	if err := kubetest.Client(t).Status().Update(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	operate(t, here, "semisync", v1alpha1.VerdictPassed, atOnce)
	if got := run.ends(); got.code != ExitOK || x.UID != older.UID || strings.Contains(got.out, "Inconclusive") || strings.Contains(got.out, "has already ended") {
		t.Errorf("with a changed spec: %+v", got)
	}
}

func TestOneAbortedBeforeItsStartNeedsReplace(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"abort":   "experiment semisync was aborted before its start: begin it again with --replace",
		"suspend": "experiment semisync ended before its start and is suspended: set spec.suspend to false, or begin it again with --replace",
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			here := namespace(t)
			x := stored(t, here, "semisync", unbegun())
			if err := kubetest.Client(t).Patch(t.Context(), x, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"`+field+`":true}}`))); err != nil {
				t.Fatal(err)
			}
			x.Status = unbegun()
			x.Status.ObservedGeneration = x.Generation
			if err := kubetest.Client(t).Status().Update(t.Context(), x); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{semisync, semisync + "  deadlineSeconds: 900\n"} {
				if got := command(t, here, "run", "--timeout", "1s", file(t, text)); got.code != ExitNotRun || !strings.Contains(got.err, want) {
					t.Errorf("%+v", got)
				}
			}
			if now := found(t, x.DeepCopy()); now.Generation != x.Generation {
				t.Errorf("its spec was changed: %+v", now.Spec)
			}
			text := semisync + "  " + field + ": true\n  deadlineSeconds: 900\n" // who writes it into the file wants it
			if got := command(t, here, "run", "--timeout", "1s", file(t, text)); !strings.Contains(got.out, "begins anew") {
				t.Errorf("with it in the file: %+v", got)
			}
		})
	}
}
