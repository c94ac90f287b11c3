package progress

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

func TestProgressIsThePhaseWithWhatItWaitsFor(t *testing.T) {
	cases := map[string]struct {
		phase      string
		conditions []metav1.Condition
		want       string
	}{
		"before the operator has seen it": {want: "Waiting for the operator"},
		"while a step waits": {phase: "Deploying", conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionAccepted, Status: metav1.ConditionTrue},
			{Type: v1alpha1.ConditionDeployed, Status: metav1.ConditionFalse, Message: "2 of 3 nodes are ready"},
		}, want: "Deploying: 2 of 3 nodes are ready"},
		"when a goal was not met": {phase: "Complete", conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionFalse, Message: "lost 3"},
		}, want: "Complete"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			x := &v1alpha1.ReplicationExperiment{Status: v1alpha1.ReplicationExperimentStatus{Phase: c.phase, Conditions: c.conditions}}
			if got := Line(x); got != c.want {
				t.Errorf("Line = %q, want %q", got, c.want)
			}
		})
	}
}

// TestWordsOfOthersStayInOneLine: messages come from whoever makes the objects that an operator looks at.
func TestWordsOfOthersStayInOneLine(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{}
	x.Status.Phase = "Deploying"
	x.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionDeployed, Status: metav1.ConditionFalse, Message: "a\x1b[2J\u009bb\nc"}}
	if got := Line(x); strings.ContainsAny(got, "\x1b\u009b\n") {
		t.Errorf("%q", got)
	}
}
