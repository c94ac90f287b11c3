package metrics

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/cached"
	"replab.dev/internal/figure"
	"replab.dev/internal/metrics/metricstest"
)

// judged is an experiment of which everything is known.
func judged() v1alpha1.ReplicationExperiment {
	whole := metav1.NewTime(time.Unix(1_700_000_000, 0))
	exact := metav1.NewMicroTime(time.Unix(1_700_000_010, 500_000_000))
	number := func(n int64) *int64 { return &n }
	var bounds figure.Bounds
	bounds.Between("load.requestsPerSecondMilli", 98_600, 99_100, "the recorder was paused")
	return v1alpha1.ReplicationExperiment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a"},
		Spec: v1alpha1.ReplicationExperimentSpec{
			Topology: v1alpha1.TopologySpec{Type: v1alpha1.TopologySemiSync, Engine: v1alpha1.EngineMySQL}, Routing: v1alpha1.RoutingSpec{Proxy: v1alpha1.ProxyHAProxy},
		},
		Status: v1alpha1.ReplicationExperimentStatus{
			Bounds: bounds, Phase: "Complete", Verdict: v1alpha1.VerdictFailed, StartTime: &whole, LoadStartTime: &exact, CompletionTime: &whole,
			Load: &v1alpha1.LoadStatus{StageFigures: v1alpha1.StageFigures{
				Requests: 1000, Failures: 10, RequestsPerSecond: number(98), RequestsPerSecondMilli: number(98_600), Latency: &v1alpha1.LatencyStatus{P50Microseconds: 1500, P95Microseconds: 2000, P99Microseconds: 9000, MaxMicroseconds: 20_000},
			}},
			Writes:      &v1alpha1.WritesStatus{Sent: 100, Acknowledged: 90, Rejected: 8, Indeterminate: 2, Present: number(88), Lost: number(3)},
			GhostWrites: number(0), OutageMilliseconds: number(4200),
			Replication: &v1alpha1.ReplicationStatus{Lag: &v1alpha1.LagStatus{P50Microseconds: number(800), P99Microseconds: number(5000)}},
			Faults:      []v1alpha1.FaultStatus{{Name: "crash", Pod: "a-db-0", InjectedTime: &exact, ReleasedTime: &exact, OutageMilliseconds: number(4200)}, {Name: "later", Pod: "a-db-1"}},
			Nodes:       []v1alpha1.NodeStatus{{Name: "a-db-0", GhostWrites: number(0)}, {Name: "a-db-1"}},
			Goals:       []v1alpha1.GoalStatus{{Metric: "lostWrites", Met: metav1.ConditionFalse}, {Metric: "p99Microseconds", Met: metav1.ConditionTrue}, {Metric: "outageMilliseconds", Met: metav1.ConditionUnknown}},
		},
	}
}

// concluded is a suite of which everything is known.
func concluded() v1alpha1.ReplicationSuite {
	at := metav1.NewTime(time.Unix(1_700_000_000, 0))
	return v1alpha1.ReplicationSuite{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "s"},
		Status: v1alpha1.ReplicationSuiteStatus{
			Verdict: v1alpha1.VerdictInvalid, StartTime: &at, CompletionTime: &at, EstimatedCompletionTime: &at,
			Trials: &v1alpha1.TrialCounts{Total: 12, Done: 12, Passed: 6, Failed: 3, Inconclusive: 2, Invalid: 1, Repeated: 2},
		},
	}
}

func TestMetricsAreWhatTheStatusSays(t *testing.T) {
	items := []v1alpha1.ReplicationExperiment{judged(), {ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "young"}}}
	unread := &cached.Undecodable{}
	unread.Namespace, unread.Name = "n", "unread"
	bad := []*cached.Undecodable{unread}
	r := prometheus.NewRegistry()
	suites := []v1alpha1.ReplicationSuite{concluded()}
	r.MustRegister(showing(func() (shown, error) { return shown{decoded: items, undecodable: bad, suites: suites}, nil }))
	metricstest.Documented(t, "operator", shownFamilies(), r)
	for family, want := range map[string]map[string]float64{
		"replab_experiments":                                  {"Complete/SemiSync/Failed": 1, "//": 1},
		"replab_experiment_undecodable":                       {"unread/n": 1},
		"replab_experiment_info":                              {"MySQL/a/n/HAProxy/SemiSync": 1, "/young/n//": 1},
		"replab_experiment_verdict":                           {"a/n/Failed": 1},
		"replab_experiment_load_start_timestamp_seconds":      {"a/n": 1_700_000_010.5},
		"replab_experiment_load_requests":                     {"a/n": 1000},
		"replab_experiment_load_requests_per_second":          {"a/n": 98.6},
		"replab_experiment_figure_bound":                      {"atLeast/a/load.requestsPerSecondMilli/n": 98_600, "atMost/a/load.requestsPerSecondMilli/n": 99_100},
		"replab_experiment_load_latency_seconds":              {"a/n/p50": .0015, "a/n/p95": .002, "a/n/p99": .009, "a/n/max": .02},
		"replab_experiment_writes":                            {"a/n/sent": 100, "a/n/acknowledged": 90, "a/n/rejected": 8, "a/n/indeterminate": 2, "a/n/present": 88, "a/n/lost": 3},
		"replab_experiment_ghost_writes":                      {"a/n": 0},
		"replab_experiment_node_ghost_writes":                 {"a/n/a-db-0": 0},
		"replab_experiment_outage_seconds":                    {"a/n": 4.2},
		"replab_experiment_replication_lag_seconds":           {"a/n/p50": .0008, "a/n/p99": .005},
		"replab_experiment_fault_injected_timestamp_seconds":  {"a/crash/n/a-db-0": 1_700_000_010.5},
		"replab_experiment_fault_outage_seconds":              {"a/crash/n/a-db-0": 4.2},
		"replab_experiment_goal_met":                          {"a/lostWrites/n": 0, "a/p99Microseconds/n": 1},
		"replab_suite_trials":                                 {"n/planned/s": 12, "n/passed/s": 6, "n/failed/s": 3, "n/inconclusive/s": 2, "n/invalid/s": 1, "n/repeated/s": 2},
		"replab_suite_verdict":                                {"n/s/Invalid": 1},
		"replab_suite_start_timestamp_seconds":                {"n/s": 1_700_000_000},
		"replab_suite_completion_timestamp_seconds":           {"n/s": 1_700_000_000},
		"replab_suite_estimated_completion_timestamp_seconds": {"n/s": 1_700_000_000},
	} {
		if got := metricstest.Values(t, r, family); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", family, got, want)
		}
	}
	items, bad, suites = nil, nil, nil
	if got := metricstest.Gathered(t, r); len(got) > 0 {
		t.Errorf("of experiments that were deleted there is still %v", got[0].Name)
	}
}

// TestLowerBoundsAreNotToldAsFigures: a dashboard has no sign for "at least".
func TestLowerBoundsAreNotToldAsFigures(t *testing.T) {
	x := judged()
	b := (*figure.Bounds)(&x.Status.Bounds)
	b.AtLeast("load.latency.p99Microseconds", 9000, "some failed")
	b.Unknown("load.latency.maxMicroseconds", "the closed loop contradicts it")
	b.AtLeast("replication.lag.p50Microseconds", 800, "a node was behind")
	b.AtLeast("outageMilliseconds", 4200, "it did not end")
	b.AtLeast("faults[crash].outageMilliseconds", 4200, "it did not end")
	b.AtLeast("writes.lost", 3, "more may have been lost")
	tellsNoBound(t, x)
}

func tellsNoBound(t *testing.T, x v1alpha1.ReplicationExperiment) {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(showing(func() (shown, error) { return shown{decoded: []v1alpha1.ReplicationExperiment{x}}, nil }))
	for family, want := range map[string]map[string]float64{
		"replab_experiment_load_requests_per_second": {"a/n": 98.6},
		"replab_experiment_load_latency_seconds":     {"a/n/p50": .0015, "a/n/p95": .002},
		"replab_experiment_replication_lag_seconds":  {"a/n/p99": .005},
		"replab_experiment_outage_seconds":           {},
		"replab_experiment_fault_outage_seconds":     {},
		"replab_experiment_writes":                   {"a/n/sent": 100, "a/n/acknowledged": 90, "a/n/rejected": 8, "a/n/indeterminate": 2, "a/n/present": 88},
	} {
		if got := metricstest.Values(t, r, family); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", family, got, want)
		}
	}
}

// TestExperimentsThatCannotBeReadAreNotNone: the scrape fails.
func TestExperimentsThatCannotBeReadAreNotNone(t *testing.T) {
	r := prometheus.NewRegistry()
	r.MustRegister(showing(func() (shown, error) { return shown{}, errors.New("the cache is not there") }))
	if _, err := r.Gather(); err == nil || !strings.Contains(err.Error(), "the cache is not there") {
		t.Errorf("%v", err)
	}
}

var (
	ofExperiments = regexp.MustCompile(`\breplab_experiments?(_\w+)?\b`)
	oneOfSeveral  = regexp.MustCompile(`\b(replab_experiment_\w+)\{[^}]*(percentile|set)=\\"(\w+)\\"`)
)

// TestDashboardsNameOnlyFiguresOfTheCatalogue, and alerts too: a figure that was renamed leaves an empty panel.
func TestDashboardsNameOnlyFiguresOfTheCatalogue(t *testing.T) {
	known := map[string]bool{}
	for _, f := range shownFamilies() {
		known[f.Name] = true
	}
	for _, e := range figure.All() {
		known[e.Gauge.Name+e.Gauge.Label+e.Gauge.Of] = true
	}
	files, err := filepath.Glob("../../charts/replab/dashboards/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d dashboards, %v", len(files), err)
	}
	found := 0
	for _, file := range append(files, "../../charts/replab/files/rules.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range ofExperiments.FindAllString(string(text), -1) {
			if found++; !known[name] {
				t.Errorf("%s asks for %s, which the operator does not serve", file, name)
			}
		}
		for _, m := range oneOfSeveral.FindAllStringSubmatch(string(text), -1) {
			if found++; !known[m[1]+m[2]+m[3]] {
				t.Errorf("%s asks for %s of %s %s, which the catalogue does not have", file, m[1], m[2], m[3])
			}
		}
	}
	if found < 20 {
		t.Errorf("%d metrics of experiments are asked for: were the files read?", found)
	}
}
