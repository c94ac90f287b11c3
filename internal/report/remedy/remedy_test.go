package remedy

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// condition that has been False for so long.
func condition(name, reason string, since time.Duration) metav1.Condition {
	return metav1.Condition{Type: name, Status: metav1.ConditionFalse, Reason: reason, LastTransitionTime: metav1.NewTime(now.Add(-since))}
}

func TestRemediesOfExperiments(t *testing.T) {
	with := func(s v1alpha1.ReplicationExperimentStatus, c ...metav1.Condition) v1alpha1.ReplicationExperimentStatus {
		s.Conditions = c
		return s
	}
	inconclusive := v1alpha1.ReplicationExperimentStatus{Verdict: v1alpha1.VerdictInconclusive, Phase: "Complete"}
	for name, c := range map[string]struct {
		status v1alpha1.ReplicationExperimentStatus
		want   []string // parts of the lines
	}{
		"no operator":       {v1alpha1.ReplicationExperimentStatus{}, []string{"kubectl replab doctor"}},
		"on its way":        {with(v1alpha1.ReplicationExperimentStatus{Phase: "Deploying"}, condition("Deployed", "Starting", time.Minute)), nil},
		"waits for long":    {with(v1alpha1.ReplicationExperimentStatus{Phase: "Deploying"}, condition("Deployed", "Starting", 7*time.Minute)), []string{"Deployed has waited for 7m0s"}},
		"under a long load": {with(v1alpha1.ReplicationExperimentStatus{Phase: "UnderLoad"}, condition("LoadFinished", "Running", time.Hour)), nil},
		"queued":            {with(v1alpha1.ReplicationExperimentStatus{Phase: "Pending"}, condition("Accepted", "Queued", time.Second)), []string{"kubectl replab abort"}},
		"passed":            {v1alpha1.ReplicationExperimentStatus{Verdict: v1alpha1.VerdictPassed, Phase: "Complete"}, nil},
		"objects remain":    {with(v1alpha1.ReplicationExperimentStatus{Verdict: v1alpha1.VerdictPassed, Phase: "Complete"}, condition("CleanedUp", "Remaining", time.Second)), []string{"objects-remain"}},
		"missed goals": {v1alpha1.ReplicationExperimentStatus{Verdict: v1alpha1.VerdictFailed, Phase: "Complete", Goals: []v1alpha1.GoalStatus{
			{Metric: "outageMilliseconds", Met: metav1.ConditionTrue},
			{Metric: "lostWrites", Met: metav1.ConditionFalse},
			{Metric: "p50Microseconds", Met: metav1.ConditionFalse},
			{Metric: "p99Microseconds", Met: metav1.ConditionFalse},
		}}, []string{"topologies.md", "See which stage was slow, and the processors' use, in `kubectl replab report a -n b --file report.html`"}},
		"a control without a loss": {v1alpha1.ReplicationExperimentStatus{Verdict: v1alpha1.VerdictFailed, Phase: "Complete", Goals: []v1alpha1.GoalStatus{
			{Metric: "lostWrites", Limit: "min 1", Met: metav1.ConditionFalse},
		}}, []string{"loss-window.md"}},
		"aborted":     {with(inconclusive, condition("Deployed", v1alpha1.ReasonAborted, time.Second)), []string{"until the abort"}},
		"ended early": {with(inconclusive, condition("Deployed", v1alpha1.ReasonPodUnschedulable, time.Second)), []string{"fewer nodes", "--replace"}},
		"findings": {v1alpha1.ReplicationExperimentStatus{Verdict: v1alpha1.VerdictInvalid, Phase: "Complete", Reasons: []string{
			"2 writes are present more than once: something behind the app repeats writes.", "Another sentence.", "Fault a on pod b is not confirmed: c.", "The recorder failed: d.",
		}}, []string{"Turn retries off", "fault's evidence", "--replace -n b`"}},
	} {
		x := &v1alpha1.ReplicationExperiment{Status: c.status}
		x.Name, x.Namespace, x.CreationTimestamp = "a", "b", metav1.NewTime(now.Add(-time.Hour))
		compare(t, name, Experiment(x, now), c.want)
	}
}

// TestWritesLostWhileDegraded name the setting that makes commits wait, unless it is set.
func TestWritesLostWhileDegraded(t *testing.T) {
	for want, topology := range map[string]v1alpha1.TopologySpec{
		"semiSync.timeoutMilliseconds":          {Type: v1alpha1.TopologySemiSync},
		"topology.patroni.strict":               {Type: v1alpha1.TopologyPatroni, Patroni: &v1alpha1.PatroniSpec{}},
		"Choose another durability or topology": {Type: v1alpha1.TopologyPatroni, Patroni: &v1alpha1.PatroniSpec{Strict: true}},
	} {
		x := &v1alpha1.ReplicationExperiment{Status: v1alpha1.ReplicationExperimentStatus{
			Verdict: v1alpha1.VerdictFailed, Goals: []v1alpha1.GoalStatus{{Metric: "lostWrites", Met: metav1.ConditionFalse}},
			Replication: &v1alpha1.ReplicationStatus{DegradedCommits: ptr.To[int64](3)},
		}}
		x.Spec.Topology = topology
		compare(t, want, Experiment(x, now), []string{want})
	}
}

func TestRemediesOfSuites(t *testing.T) {
	for name, c := range map[string]struct {
		status v1alpha1.ReplicationSuiteStatus
		want   []string
	}{
		"new":        {v1alpha1.ReplicationSuiteStatus{}, nil},
		"name taken": {v1alpha1.ReplicationSuiteStatus{Conditions: []metav1.Condition{condition("Complete", v1alpha1.ReasonNameTaken, 0)}}, []string{"a suite of another name"}},
		"passed":     {v1alpha1.ReplicationSuiteStatus{Verdict: v1alpha1.VerdictPassed}, nil},
		"failed":     {v1alpha1.ReplicationSuiteStatus{Verdict: v1alpha1.VerdictFailed}, []string{"`kubectl replab report suite/a -n b --file report.html`"}},
		"aborted":    {v1alpha1.ReplicationSuiteStatus{Verdict: v1alpha1.VerdictInconclusive, Reasons: []string{"Aborted: spec.abort ended the suite."}}, []string{"until the abort are in the status. See what stays", "verdicts-of-a-suite"}},
		"a bad trial": {
			v1alpha1.ReplicationSuiteStatus{Verdict: v1alpha1.VerdictInvalid, Runs: []v1alpha1.TrialRun{{Name: "a-1", Verdict: v1alpha1.VerdictInvalid}, {Name: "a-2"}}},
			[]string{"kubectl replab describe experiment/a-1 -n b", "verdicts-of-a-suite"},
		},
	} {
		s := &v1alpha1.ReplicationSuite{Status: c.status}
		s.Name, s.Namespace = "a", "b"
		compare(t, name, Suite(s), c.want)
	}
}

func compare(t *testing.T, name string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %s", name, cmp.Diff(want, got))
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) || strings.Contains(got[i], "NAME") {
			t.Errorf("%s: %s, want %s", name, got[i], want[i])
		}
	}
}

func TestEveryGoalHasARemedy(t *testing.T) {
	for _, entry := range figure.All() {
		if _, found := missed[v1alpha1.Metric(entry.Name)]; found != entry.Goal {
			t.Errorf("%s: remedy %v, goal %v", entry.Name, found, entry.Goal)
		}
	}
}

func TestRemediesAreShort(t *testing.T) {
	for _, table := range []map[string]string{waits, suiteWaits, ending} {
		for _, line := range slices.Sorted(maps.Values(table)) {
			check(t, line)
		}
	}
	for _, line := range missed {
		check(t, line)
	}
}

func check(t *testing.T, line string) {
	t.Helper()
	if len(strings.Fields(line)) > 25 || !strings.Contains(line, "docs/") && !strings.Contains(line, "kubectl ") {
		t.Errorf("too long, or without a command or a page: %s", line)
	}
}
