package verdict

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// fieldOf is the field of the status that a metric limits.
var fieldOf = map[v1alpha1.Metric]string{
	"lostWrites":            "writes.lost",
	"indeterminateWrites":   "writes.indeterminate",
	"rejectedWrites":        "writes.rejected",
	"ghostWrites":           "ghostWrites",
	"staleReads":            "load.staleReads",
	"failedRequests":        "load.failures",
	"requestsPerSecond":     "load.requestsPerSecondMilli",
	"droppedIterations":     "load.droppedIterations",
	"p50Microseconds":       "load.latency.p50Microseconds",
	"p95Microseconds":       "load.latency.p95Microseconds",
	"p99Microseconds":       "load.latency.p99Microseconds",
	"maxMicroseconds":       "load.latency.maxMicroseconds",
	"lagP50Microseconds":    "replication.lag.p50Microseconds",
	"lagP99Microseconds":    "replication.lag.p99Microseconds",
	"lagMaxMicroseconds":    "replication.lag.maxMicroseconds",
	"unacknowledgedCommits": "replication.unacknowledgedCommits",
	"outageMilliseconds":    "outageMilliseconds",
	"conflictingWrites":     "writes.conflicting",
	"certificationFailures": "replication.group.certificationFailures",
	"forcedAborts":          "replication.group.forcedAborts",

	"flowControlPausedPermille": "replication.group.flowControlPausedPermille",
}

func TestAMetricReadsTheFieldThatItNames(t *testing.T) {
	for metric, path := range fieldOf {
		var status v1alpha1.ReplicationExperimentStatus
		names := strings.Split(path, ".")
		text := strings.Repeat(`{"%":`, len(names)) + "1234567" + strings.Repeat("}", len(names))
		for _, n := range names {
			text = strings.Replace(text, "%", n, 1)
		}
		if err := json.Unmarshal([]byte(text), &status); err != nil {
			t.Fatal(err)
		}
		if got := metrics[metric].figure(&status); got == nil || *got != 1234567 {
			t.Errorf("%s does not read status.%s", metric, path)
		}
		if got := metrics[metric].figure(&v1alpha1.ReplicationExperimentStatus{}); got != nil {
			t.Errorf("%s is %d in an empty status", metric, *got)
		}
	}
	if len(fieldOf) != len(metrics) {
		t.Errorf("%d metrics are read, %d of them tested", len(metrics), len(fieldOf))
	}
}

func TestTheAPIHasTheMetricsThatAreRead(t *testing.T) {
	offered := experiment.CRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["goals"].Items.Schema.Properties["metric"].Enum
	for _, o := range offered {
		if m := v1alpha1.Metric(strings.Trim(string(o.Raw), `"`)); metrics[m].figure == nil {
			t.Errorf("a goal may limit %s, which is read nowhere", m)
		}
	}
	if len(offered) != len(metrics) {
		t.Errorf("%d metrics are read, %d offered", len(metrics), len(offered))
	}
}

// twoBounds are runs in which a figure lies between 10 and at most 20, of the metrics whose field has a twin …AtMost.
var twoBounds = map[v1alpha1.Metric]func(*Evidence){
	"unacknowledgedCommits": func(e *Evidence) {
		e.Witness.Commits.Nodes[0].UncountedMicroseconds = 0
		e.Witness.Commits.UnacknowledgedCommits, e.Witness.Commits.UnacknowledgedCommitsAtMost = 10, 20
	},
	"requestsPerSecond": func(e *Evidence) { e.Witness.Load.Succeeded, e.Witness.Load.PausedMicroseconds = 600, 30_000_000 },
	"flowControlPausedPermille": func(e *Evidence) {
		grouped(e)
		for i := range e.Witness.Group.Nodes {
			n := &e.Witness.Group.Nodes[i]
			n.CoveredMicroseconds, n.FlowControlPausedMicroseconds, n.UncoveredMicroseconds = 990_000, 10_000, 10_000
		}
	},
}

func TestALimitBetweenTheTwoBoundsOfAFigureIsNotDecided(t *testing.T) {
	twins := 0
	for metric, path := range fieldOf {
		if !hasField(t, path+"AtMost") {
			continue
		}
		twins++
		bounds := twoBounds[metric]
		if bounds == nil {
			t.Errorf("status.%s has a second bound: add a run to twoBounds", path)
			continue
		}
		for limit, want := range map[int64]metav1.ConditionStatus{9: metav1.ConditionFalse, 10: metav1.ConditionUnknown, 15: metav1.ConditionUnknown, 19: metav1.ConditionUnknown, 20: metav1.ConditionTrue} {
			s := judged(func(e *Evidence) {
				bounds(e)
				e.Spec.Goals = []v1alpha1.Goal{{Metric: metric, Max: ptr.To(limit)}}
			})
			if len(s.Goals) != 1 || s.Goals[0].Met != want {
				t.Errorf("%s of 10 to 20 with max %d: %+v, want Met %s", metric, limit, s.Goals, want)
			}
			reasons := strings.Join(s.Reasons, "\n")
			if told := strings.Contains(reasons, "it lies between 10 and 20") || strings.Contains(reasons, "measured 10.000 may have been up to 20.000"); told != (want == metav1.ConditionUnknown) {
				t.Errorf("%s of 10 to 20 with max %d: the reasons tell both bounds: %v: %q", metric, limit, told, s.Reasons)
			}
		}
	}
	if twins == 0 {
		t.Error("no field that a goal may limit has a twin with AtMost")
	}
}

// hasField tells whether the status has this field.
func hasField(t *testing.T, path string) bool {
	t.Helper()
	field := experiment.CRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	for _, name := range strings.Split(path, ".") {
		below, ok := field.Properties[name]
		if !ok {
			return false
		}
		field = below
	}
	return true
}
