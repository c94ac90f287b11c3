package experiment

import (
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"replab.dev/api/v1alpha1"
)

func TestTheEventOfAVerdictIsShortEnough(t *testing.T) {
	told := events.NewFakeRecorder(1)
	x := &v1alpha1.ReplicationExperiment{}
	x.Status.Verdict = v1alpha1.VerdictInconclusive
	x.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Message: strings.Repeat("x", 5000)}}
	(&Reconciler{Events: told}).announce(&v1alpha1.ReplicationExperiment{}, x)
	got := <-told.Events
	if note, ok := strings.CutPrefix(got, "Warning Inconclusive "); !ok || len(note) > 1024 {
		t.Errorf("event of %d bytes: %.80s", len(got), got)
	}
}

func TestEventNote(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"a short one stays":     {"container server ended 3 times", "container server ended 3 times"},
		"as long as may be":     {strings.Repeat("x", 1024), strings.Repeat("x", 1024)},
		"a longer one is cut":   {strings.Repeat("x", 1025), strings.Repeat("x", 1020) + " ..."},
		"never within a letter": {strings.Repeat("я", 600), strings.Repeat("я", 510) + " ..."},
		"nor within a letter":   {"x" + strings.Repeat("я", 600), "x" + strings.Repeat("я", 509) + " ..."},
	} {
		t.Run(name, func(t *testing.T) {
			got := eventNote(c.message)
			if got != c.want || len(got) > 1024 || !utf8.ValidString(got) {
				t.Errorf("%d bytes: %q", len(got), got)
			}
		})
	}
}
