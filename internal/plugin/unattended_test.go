package plugin

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// impatient begins a command that gives up soon on a run that no operator looks at.
func impatient(t *testing.T, namespace string, args ...string) *running {
	t.Helper()
	return beginAs(t, &Options{alone: 4 * quick}, namespace, args...)
}

func TestRunWithoutOperatorEnds(t *testing.T) {
	t.Parallel()
	for noun, text := range map[string]string{"experiment semisync": semisync, "suite cost": cost} {
		t.Run(noun, func(t *testing.T) {
			t.Parallel()
			here := namespace(t)
			got := impatient(t, here, "run", file(t, text)).ends()
			want := "error: " + noun + " has not begun: no operator wrote its status for 0 s: kubectl replab doctor -n " + here + "; it may begin later\n"
			if got.code != ExitNotRun || got.err != want {
				t.Errorf("exit code %d, %q, want %q", got.code, got.err, want)
			}
		})
	}
}

// TestPendingRunIsFollowed however long it waits, once an operator has written a status.
func TestPendingRunIsFollowed(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	queued := []metav1.Condition{{Type: v1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonQueued, LastTransitionTime: metav1.Now()}}
	for name, status := range map[string]v1alpha1.ReplicationExperimentStatus{
		"queued": {Phase: "Pending", Conditions: queued},
		"looked": {Phase: "Pending", ObservedGeneration: 1}, // its step failed
	} {
		stored(t, here, name, status)
		got := impatient(t, here, "watch", name, "--timeout", "1s").ends()
		if got.code != ExitNotRun || !strings.Contains(got.err, "is still at") {
			t.Errorf("%s: exit code %d: %s", name, got.code, got.err)
		}
	}
}
