package figures_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/reporttest"
	"replab.dev/internal/results"
	"replab.dev/internal/wire"
)

func document(t *testing.T, r results.Results) *figures.Document {
	t.Helper()
	return figures.Of(r)
}

func TestTheRunOfTheTestsIsASoundOne(t *testing.T) {
	r := reporttest.SemiSync(t)
	if r.Status.Verdict != v1alpha1.VerdictPassed {
		t.Fatalf("the fixture is %s: %q", r.Status.Verdict, r.Status.Reasons)
	}
	if r.Status.Failover == nil || r.Status.Failover.RoutingMilliseconds == nil || r.Status.OutageMilliseconds == nil {
		t.Errorf("the fixture has no failover: %+v", r.Status.Failover)
	}
}

// TestFiguresAreThoseOfTheDocument: each is what its path leads to, whether it is named by itself or by its place in a list.
func TestFiguresAreThoseOfTheDocument(t *testing.T) {
	r := reporttest.SemiSync(t)
	d := document(t, r)
	for path, want := range map[string]int64{
		"status.load.latency.p99Microseconds":                      r.Status.Load.Latency.P99Microseconds,
		"status.load.stages[warmup].requests":                      r.Status.Load.Stages[0].Requests,
		"status.nodes[semisync-db-2].lag.p50Microseconds":          *r.Status.Nodes[2].Lag.P50Microseconds,
		"recorder.stages[open].operations[register].failures":      r.Recorder.Stages[1].Operations[0].Failures,
		"recorder.resources[3].cpuMillicores":                      r.Recorder.Resources[3].CPUMillicores,
		"recorder.stages[1].operations[2].latency.p95Microseconds": r.Recorder.Stages[1].Operations[2].Latency.P95Microseconds,
	} {
		f := d.Figure(path)
		if f.Value == nil || *f.Value != want || f.Bound() == "" && f.Because != "" {
			t.Errorf("%s is %v (%s), want %d", path, f.Value, f.Because, want)
		}
	}
}

// TestAMisspeltPathSaysSo, also one of which nothing but the last word is wrong; none of the main ones is.
func TestAMisspeltPathSaysSo(t *testing.T) {
	d := document(t, results.Results{})
	for path, known := range map[string]bool{
		"status.load.latency.p98Microseconds": false, "status.load.latency": false, "status.load.stages.requests": false, "status.verdict": false, "nothing": false, "": false,
		"status.load.stages[x].latency.p99Microseconds": true, "recorder.group.nodes[x].uncountedMicroseconds": true, "recorder.rejections[unavailable]": true,
	} {
		if f := d.Figure(path); strings.HasPrefix(f.Because, figures.NoSuch) == known {
			t.Errorf("%q: %s", path, f.Because)
		}
	}
	for _, path := range figures.Main() {
		if f := d.Figure(path); strings.HasPrefix(f.Because, figures.NoSuch) {
			t.Error(f.Because)
		}
	}
}

func TestBoundsAreShownAsBounds(t *testing.T) {
	r := reporttest.SemiSync(t)
	b := (*figure.Bounds)(&r.Status.Bounds)
	*b = nil
	r.Status.OutageMilliseconds = ptr.To[int64](1600)
	b.Between("outageMilliseconds", 1200, 1600, "the recorder was paused")
	r.Status.Load.Latency.P50Microseconds, r.Status.Load.Latency.P99Microseconds = 12_345, 12_349_990
	b.AtLeast("load.latency.p99Microseconds", 12_349_990, "some failed")
	r.Status.Replication.DegradedCommits = ptr.To[int64](4)
	b.Between("replication.degradedCommits", 4, 1009, "they wait together")
	r.Status.Load.RequestsPerSecondMilli = ptr.To[int64](79_467)
	b.Between("load.requestsPerSecondMilli", 79_467, 81_000, "the recorder was paused")
	for path, want := range map[string]string{
		"status.outageMilliseconds":           "1.2 s to 1.6 s",
		"status.load.latency.p99Microseconds": "≥ 12.34 s", // a lower bound is not rounded up
		"status.load.latency.p50Microseconds": "12.35 ms",
		"status.load.requestsPerSecondMilli":  "79.47/s", // nobody reads a difference of a fiftieth
		"status.replication.degradedCommits":  "4 to 1,009",
		"status.writes.recovered":             "2",
	} {
		if got := document(t, r).Figure(path).Text(); got != want {
			t.Errorf("%s is shown as %q, want %q", path, got, want)
		}
	}
	if got := document(t, r).Goal("outageMilliseconds").Text(); got != "1.2 s to 1.6 s" {
		t.Errorf("the goal's figure is %q", got)
	}
}

func TestAnAbsentFigureSaysWhy(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Status.Writes.Lost, r.Status.OutageMilliseconds, r.Status.Replication.Lag = nil, nil, nil
	r.Spec.Probes.Availability.IntervalMilliseconds, r.Spec.Probes.Lag.IntervalMilliseconds = 0, 0
	r.Status.Nodes[0].Rows, r.Status.Bounds = nil, nil
	(*figure.Bounds)(&r.Status.Bounds).Unknown("writes.lost", "no write was under way")
	d := document(t, r)
	for path, want := range map[string]string{
		"status.writes.lost":                          "no write was under way",
		"status.outageMilliseconds":                   "availability probe was off",
		"status.replication.lag.p99Microseconds":      "lag probe was off",
		"status.nodes[semisync-db-0].rows":            "could not be read",
		"status.nodes[semisync-db-0].group.deadlocks": "reasons and notes say why",
		"status.replication.group.forcedAborts":       "the members of a group",
		"status.faults[crash].lossWindowMilliseconds": "no write was lost",
	} {
		f := d.Figure(path)
		if f.Value != nil || !strings.Contains(f.Because, want) || f.Text() != "not measured" {
			t.Errorf("%s: %s, why %q, want %q", path, f.Text(), f.Because, want)
		}
	}
	const none, older = "no request succeeded", "the document does not have it"
	const of = "recorder.stages[open].operations[register]"
	r.Recorder.Stages[1].Operations = []wire.OperationResult{{Name: "register", Requests: 2, Latency: &wire.Latency{P50Microseconds: 1}}}
	r.Status.Load.Latency.P75Microseconds = nil
	r.Status.Load.Stages[0].Latency, r.Status.Load.Stages[0].Failures = nil, r.Status.Load.Stages[0].Requests
	for path, want := range map[string]string{
		"status.load.latency.p75Microseconds": older, "status.load.stages[warmup].latency.p75Microseconds": none, of + ".latency.p75Microseconds": older,
		"status.load.stages[unknown].latency.p75Microseconds": "reasons and notes say why",
	} {
		if f := d.Figure(path); f.Value != nil || f.Because != want {
			t.Errorf("%s: %v, why %q, want %q", path, f.Value, f.Because, want)
		}
	}
	for _, path := range figures.Main() {
		if f := document(t, results.Results{}).Figure(path); f.Because != "reasons and notes say why" || f.Value != nil {
			t.Errorf("%s of a run without figures: %v, why %q", path, f.Value, f.Because)
		}
	}
}

// TestCSVHasEveryNumber of the status and of the recorder once, and each as the document has it.
func TestCSVHasEveryNumber(t *testing.T) {
	r := reporttest.SemiSync(t)
	d := document(t, r)
	var b bytes.Buffer
	if err := figures.WriteCSV(&b, d); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, l := range lines[1:] {
		if got[l[3]] != nil {
			t.Errorf("figure %s is there twice", l[3])
		}
		got[l[3]] = l
	}
	numbers := count(t, r.Status.Load) + count(t, r.Status.Writes)
	for path := range got {
		if strings.HasPrefix(path, "status.load.") || strings.HasPrefix(path, "status.writes.") {
			numbers--
		}
	}
	if numbers != 0 {
		t.Errorf("%d numbers of the load and the writes are not among the figures, or too many are", numbers)
	}
	l := got["status.load.latency.p99Microseconds"]
	if l == nil || l[4] != strconv.FormatInt(*d.Figure(l[3]).Value, 10) || l[5] != "µs" || l[6] != "at least" || l[0] != "semisync" || l[2] != "Passed" {
		t.Errorf("the line of the p99 is %q", l)
	}
	if l := got["status.replication.degradedCommits"]; l == nil || l[6] != "at least" {
		t.Errorf("the line of the commits is %q", l)
	}
}

func count(t *testing.T, v any) int {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	n, decoder := 0, json.NewDecoder(bytes.NewReader(text))
	for {
		token, err := decoder.Token()
		if err != nil {
			return n
		}
		if _, ok := token.(float64); ok {
			n++
		}
	}
}

func TestTimelineCSVLeavesOutWhatWasNotMeasured(t *testing.T) {
	r := reporttest.SemiSync(t)
	var b bytes.Buffer
	if err := document(t, r).WriteTimelineCSV(&b); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 1+len(r.Recorder.Timeline) || lines[0][10] != "lagMicroseconds[semisync-db-0]" || lines[0][2] != "seconds" {
		t.Fatalf("%d lines, header %q", len(lines), lines[0])
	}
	if first := lines[1]; first[10] != "" || first[11] == "" || first[1] != "2026-01-01T12:00:00Z" || first[2] != "1" {
		t.Errorf("the first second is %q: the primary has no lag", first)
	}
	if down := lines[1+21]; down[7] != "p99Microseconds" || down[10] != "2000000" {
		t.Errorf("the second after the fault is %q", down)
	}
}

func TestTimelineCSVSaysWhyThereIsNone(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Recorder.Timeline, r.Omitted = nil, "the timeline, which does not fit into a ConfigMap"
	var b bytes.Buffer
	if err := document(t, r).WriteTimelineCSV(&b); err == nil || !strings.Contains(err.Error(), "semisync has no timeline: left out: the timeline") || b.Len() > 0 {
		t.Errorf("%v, written: %q", err, b.String())
	}
}

// TestNoCellIsAFormula, whatever a run says; numbers below 0 stay numbers.
func TestNoCellIsAFormula(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Experiment, r.Recorder.Timeline[0].Writer = "@x", "=HYPERLINK(1)"
	r.Recorder.Timeline[0].LagMicroseconds[1] = -7
	var timeline, all bytes.Buffer
	d := document(t, r)
	if err := d.WriteTimelineCSV(&timeline); err != nil {
		t.Fatal(err)
	}
	if err := figures.WriteCSV(&all, d); err != nil {
		t.Fatal(err)
	}
	if got := timeline.String(); !strings.Contains(got, "'=HYPERLINK(1),,-7,") || strings.Contains(got, "\n@x") {
		t.Errorf("the timeline is %.300s", got)
	}
	if got := all.String(); !strings.Contains(got, "\n'@x,") || strings.Contains(got, "\n@x") {
		t.Errorf("the figures are %.300s", got)
	}
}

func TestNothingAndDifferencesHaveTheirSigns(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Status.OutageMilliseconds, r.Status.Bounds = ptr.To[int64](0), nil
	r.Status.Comparison = &v1alpha1.ComparisonStatus{RequestsPerSecondPercent: ptr.To[int64](27), P99Percent: ptr.To[int64](-8)}
	d := document(t, r)
	for path, want := range map[string]string{
		"status.outageMilliseconds": "0 ms", "status.comparison.requestsPerSecondPercent": "+27%", "status.comparison.p99Percent": "−8%",
	} {
		if got := d.Figure(path).Text(); got != want {
			t.Errorf("%s is shown as %q, want %q", path, got, want)
		}
	}
}

// TestALatencyThatTheClosedLoopContradictsSaysSo, and so do those of its stage's operations.
func TestALatencyThatTheClosedLoopContradictsSaysSo(t *testing.T) {
	const doubt = "contradicted by the closed loop"
	r := reporttest.SemiSync(t)
	b := (*figure.Bounds)(&r.Status.Bounds)
	b.Unknown("load.stages[open].latency.p50Microseconds", doubt)
	b.Unknown("load.stages[open].latency.p99Microseconds", doubt)
	d := document(t, r)
	for path, want := range map[string]bool{
		"status.load.stages[open].latency.p50Microseconds": true, "status.load.stages[warmup].latency.p50Microseconds": false,
		"recorder.stages[open].operations[search].latency.p50Microseconds": true, "recorder.stages[open].latency.p95Microseconds": true,
		"recorder.stages[warmup].latency.p95Microseconds": false, "status.load.requestsPerSecond": false, "recorder.stages[open].requests": false,
	} {
		if f := d.Figure(path); strings.HasSuffix(f.Text(), " ("+doubt+")") != want || f.Value == nil {
			t.Errorf("%s is %q", path, f.Text())
		}
	}
	var csv bytes.Buffer
	if err := figures.WriteCSV(&csv, d); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(csv.String(), ",contradicted,,,"+doubt+"\n") {
		t.Error("the CSV does not say so")
	}
}

// TestPausesBoundTheLatenciesOfOperations as they bound those of stages in the status.
func TestPausesBoundTheLatenciesOfOperations(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Recorder.Stages[1].Operations = []wire.OperationResult{{Name: "register", Requests: 2, Latency: &wire.Latency{
		P50Microseconds: 100, P99Microseconds: 900, MaxMicroseconds: 950, LowerBounds: []v1alpha1.Percentile{v1alpha1.Max},
		Unpaused: &wire.Latency{P50Microseconds: 100, P99Microseconds: 500, MaxMicroseconds: 600},
	}}}
	d := document(t, r)
	for name, want := range map[string]string{"p50": "100 µs", "p99": "500 µs to 900 µs", "max": "≥ 600 µs"} {
		if got := d.Figure("recorder.stages[open].operations[register].latency." + name + "Microseconds").Text(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// TestCountersOfServersAreThoseOfTheStatus: the recorder's own have no bounds.
func TestCountersOfServersAreThoseOfTheStatus(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Recorder.Group = &wire.GroupResult{Nodes: []wire.NodeGroup{{Name: "a", ForcedAborts: 2, UncountedMicroseconds: 7}}}
	for _, f := range document(t, r).All() {
		if strings.HasPrefix(f.Path, "recorder.commits") || strings.HasPrefix(f.Path, "recorder.group") {
			t.Errorf("%s is listed", f.Path)
		}
	}
}

// TestTheServersOwnLagsStandBesideThoseOfTheProbe of each node.
func TestTheServersOwnLagsStandBesideThoseOfTheProbe(t *testing.T) {
	for _, table := range document(t, reporttest.SemiSync(t)).Tables() {
		if table.Head[0] == "lag of" {
			if len(table.Rows) != 3 || !slices.Contains(table.Head, "server's own: apply p50") || !slices.Contains(table.Head, "p99") {
				t.Errorf("%d rows, head %q", len(table.Rows), table.Head)
			}
			return
		}
	}
	t.Error("there is no such table")
}

// TestTheTopologyNamesItsServerOnce, also one whose version begins with its name.
func TestTheTopologyNamesItsServerOnce(t *testing.T) {
	for version, want := range map[string]string{"MySQL 8.4.6": "SemiSync of MySQL 8.4.6", "8.4.6 ((Debian))": "SemiSync of MySQL 8.4.6 (Debian)"} {
		r := reporttest.SemiSync(t)
		r.Status.Versions = &v1alpha1.VersionsStatus{Server: version}
		if got := figures.Of(r).Topology(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

// TestAGapNamesTheFaultWhoseOutageItIs, and one of no fault none.
func TestAGapNamesTheFaultWhoseOutageItIs(t *testing.T) {
	r := reporttest.SemiSync(t)
	other := r.Recorder.Availability.Gaps[0]
	other.LastAcknowledgedAt, other.NextAcknowledgedAt = metav1.NewMicroTime(other.LastAcknowledgedAt.Add(time.Minute)), ptr.To(metav1.NewMicroTime(other.NextAcknowledgedAt.Add(time.Minute)))
	r.Recorder.Availability.Gaps = append(r.Recorder.Availability.Gaps, other)
	for _, table := range document(t, r).Tables() {
		if at := slices.Index(table.Head, "outage of fault"); at >= 0 {
			if got := []string{table.Rows[0][at].Words, table.Rows[1][at].Words}; !slices.Equal(got, []string{"crash", ""}) {
				t.Errorf("they are the outages of %q", got)
			}
			return
		}
	}
	t.Error("there is no such table")
}

// TestMissingWritesAreNotLost: a reader would take the writes that a node lacks for contradicting that none was lost.
func TestMissingWritesAreNotLost(t *testing.T) {
	for want, change := range map[string]func(*results.Results){
		"The writes missing on semisync-db-0 are not lost: the surviving primary has them, and this node was kept apart from it.": func(*results.Results) {},
		"The writes missing on semisync-db-0 are not lost: the surviving primary has them.":                                       func(r *results.Results) { r.Status.Nodes[0].Role = v1alpha1.NodeReplica },
		"": func(r *results.Results) { r.Status.Nodes[0].Missing = ptr.To[int64](0) },
		"with two primaries, whose rows are counted for each": func(r *results.Results) { r.Spec.Topology.Type = v1alpha1.TopologyDualPrimary },
	} {
		r := reporttest.SemiSync(t)
		change(&r)
		told := ""
		for _, table := range document(t, r).Tables() {
			if i := slices.IndexFunc(table.Notes, func(n string) bool { return strings.HasPrefix(n, "The writes missing on ") }); i >= 0 {
				told = table.Notes[i]
			}
		}
		if told != want && (told != "" || strings.HasPrefix(want, "The ")) {
			t.Errorf("it says %q, want %q", told, want)
		}
	}
}

func TestAPartOfABaselineKeepsItsBounds(t *testing.T) {
	measured, permille, low, high := int64(50), int64(500), int64(495), int64(506)
	d := &figures.Document{}
	d.Status.OutageMilliseconds = &measured
	g := v1alpha1.GoalStatus{Metric: "outageMilliseconds", Measured: &measured, BaselinePermille: &permille}
	d.Status.Goals = []v1alpha1.GoalStatus{g}
	if got, want := d.Measured(g).Words, "50 ms, 50.0% of the baseline"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d.Status.Bounds = []v1alpha1.BoundStatus{{Figure: "goals[outageMilliseconds].baselinePermille", AtLeast: &low, AtMost: &high}}
	if got, want := d.Measured(g).Words, "50 ms, 49.5% to 50.6% of the baseline"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
