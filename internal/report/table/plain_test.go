package table

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// TestWordsOfOthersDoNotSteerATerminal: messages come from whoever makes the objects that an operator looks at.
func TestWordsOfOthersDoNotSteerATerminal(t *testing.T) {
	const evil = "a\x1b]0;title\ab\u009b2Jc\nd"
	x := &v1alpha1.ReplicationExperiment{}
	x.Status.Phase, x.Status.Reasons = "Deploying", []string{evil}
	x.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionDeployed, Status: metav1.ConditionFalse, Message: evil}}
	if got := Progress(x); strings.ContainsAny(got, "\x1b\u009b\a\n") {
		t.Errorf("%q", got)
	}
	if got := Result(x); strings.ContainsAny(got, "\x1b\u009b\a") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
}
