package progress

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

func reached(created time.Time, after map[string]time.Duration) *v1alpha1.ReplicationExperiment {
	x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(created)}}
	for name, d := range after {
		x.Status.Conditions = append(x.Status.Conditions, metav1.Condition{Type: name, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(created.Add(d))})
	}
	return x
}

func TestStepsAreTheMilestonesThatWereReached(t *testing.T) {
	x := reached(time.Unix(1000, 0), map[string]time.Duration{
		v1alpha1.ConditionAccepted: time.Second, v1alpha1.ConditionDeployed: 13 * time.Second,
		v1alpha1.ConditionFaultsInjected: 40 * time.Second, v1alpha1.ConditionLoadFinished: 39 * time.Second,
		v1alpha1.ConditionPassed: 90 * time.Second, // a verdict is no step
	})
	x.Status.Conditions = append(x.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSettled, Status: metav1.ConditionFalse})
	want := []Step{{"Accepted", 1}, {"Deployed", 12}, {"FaultsInjected", 27}, {"LoadFinished", 0}}
	if diff := cmp.Diff(want, Steps(x)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if found := Steps(&v1alpha1.ReplicationExperiment{}); len(found) != 0 {
		t.Errorf("a run that has not begun has reached %v", found)
	}
}
