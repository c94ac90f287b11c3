package verdict

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/test/experiment"
)

func TestTheAPIHasTheMetricsThatAreRead(t *testing.T) {
	offered := experiment.CRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["goals"].Items.Schema.Properties["metric"].Enum
	for _, o := range offered {
		name := strings.Trim(string(o.Raw), `"`)
		if e, known := figure.Named(name); !known || !e.Goal {
			t.Errorf("a goal may limit %s, which the catalogue does not let it", name)
		}
	}
	goals := slices.DeleteFunc(figure.All(), func(e figure.Entry) bool { return !e.Goal })
	if len(offered) != len(goals) {
		t.Errorf("the catalogue has %d figures for goals, the API %d", len(goals), len(offered))
	}
}

// twoBounds are runs in which a figure lies between 10 and 20, or 1.0 and 2.0 percent.
var twoBounds = map[v1alpha1.Metric]func(*evidence.Run){
	"degradedCommits": func(e *evidence.Run) {
		e.Recorder.Commits.Nodes[0].UncountedMicroseconds = 0
		e.Recorder.Commits.DegradedCommits, e.Recorder.Commits.DegradedCommitsAtMost = 10, 20
	},
	"requestsPerSecond": func(e *evidence.Run) { e.Recorder.Load.Succeeded, e.Recorder.Load.PausedMicroseconds = 600, 30_000_000 },
	"flowControlPausedPercent": func(e *evidence.Run) {
		grouped(e)
		for i := range e.Recorder.Group.Nodes {
			n := &e.Recorder.Group.Nodes[i]
			n.CoveredMicroseconds, n.FlowControlPausedMicroseconds, n.UncoveredMicroseconds = 900_000, 100_000, 100_000
		}
	},
}

func TestALimitBetweenTheTwoBoundsOfAFigureIsNotDecided(t *testing.T) {
	for metric, bounds := range twoBounds {
		for limit, want := range map[int64]metav1.ConditionStatus{9: metav1.ConditionFalse, 10: metav1.ConditionUnknown, 15: metav1.ConditionUnknown, 19: metav1.ConditionUnknown, 20: metav1.ConditionTrue} {
			s := judged(func(e *evidence.Run) {
				bounds(e)
				e.Spec.Goals = []v1alpha1.Goal{{Metric: metric, Max: ptr.To(limit)}}
			})
			if len(s.Goals) != 1 || s.Goals[0].Met != want {
				t.Errorf("%s of 10 to 20 with max %d: %+v, want Met %s", metric, limit, s.Goals, want)
			}
			reasons := strings.Join(allSaid(s), "\n")
			if told := strings.Contains(reasons, "it is between 10 and 20") || strings.Contains(reasons, "it is between 10.000 and 20.000"); told != (want == metav1.ConditionUnknown) {
				t.Errorf("%s of 10 to 20 with max %d: the reasons tell both bounds: %v: %q", metric, limit, told, s.Reasons)
			}
		}
	}
}
