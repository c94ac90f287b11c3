package verdict

import (
	"encoding/json"
	"strings"
	"testing"

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
	"requestsPerSecond":     "load.requestsPerSecond",
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
		if got := figureOf[metric](&status); got == nil || *got != 1234567 {
			t.Errorf("%s does not read status.%s", metric, path)
		}
		if got := figureOf[metric](&v1alpha1.ReplicationExperimentStatus{}); got != nil {
			t.Errorf("%s is %d in an empty status", metric, *got)
		}
	}
	if len(fieldOf) != len(figureOf) {
		t.Errorf("%d metrics are read, %d of them tested", len(figureOf), len(fieldOf))
	}
}

func TestTheAPIHasTheMetricsThatAreRead(t *testing.T) {
	offered := experiment.CRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["goals"].Items.Schema.Properties["metric"].Enum
	for _, o := range offered {
		if m := v1alpha1.Metric(strings.Trim(string(o.Raw), `"`)); figureOf[m] == nil {
			t.Errorf("a goal may limit %s, which is read nowhere", m)
		}
	}
	if len(offered) != len(figureOf) {
		t.Errorf("%d metrics are read, %d offered", len(figureOf), len(offered))
	}
}
