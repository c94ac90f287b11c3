package figures_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/reporttest"
	report "replab.dev/internal/results"
)

func document(t *testing.T, r report.Results) *figures.Document {
	t.Helper()
	d, err := figures.Of(r)
	if err != nil {
		t.Fatal(err)
	}
	return d
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
		"status.goals[outageMilliseconds].measured":                *r.Status.Goals[1].Measured,
		"recorder.stages[open].operations[register].failures":      r.Recorder.Stages[1].Operations[0].Failures,
		"recorder.resources[3].cpuMillicores":                      r.Recorder.Resources[3].CPUMillicores,
		"recorder.stages[1].operations[2].latency.p95Microseconds": r.Recorder.Stages[1].Operations[2].Latency.P95Microseconds,
	} {
		f := d.Figure(path)
		if f.Value == nil || *f.Value != want || f.Why != "" {
			t.Errorf("%s is %v (%s), want %d", path, f.Exact(), f.Why, want)
		}
	}
}

// TestAMisspeltPathSaysSo, also one of which nothing but the last word is wrong; none of the main ones is.
func TestAMisspeltPathSaysSo(t *testing.T) {
	d := document(t, report.Results{})
	for path, known := range map[string]bool{
		"status.load.latency.p98Microseconds": false, "status.load.latency": false, "status.load.stages.requests": false, "status.verdict": false, "nothing": false, "": false,
		"status.load.stages[x].latency.p99Microseconds": true, "recorder.group.nodes[x].uncountedMicroseconds": true, "recorder.rejections[unavailable]": true,
	} {
		if f := d.Figure(path); strings.HasPrefix(f.Why, figures.NoSuch) == known {
			t.Errorf("%q: %s", path, f.Why)
		}
	}
	for _, path := range figures.Main {
		if f := d.Figure(path); strings.HasPrefix(f.Why, figures.NoSuch) {
			t.Error(f.Why)
		}
	}
}

func TestBoundsAreShownAsBounds(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Status.OutageMilliseconds, r.Status.OutageUncertaintyMilliseconds = ptr.To[int64](1600), ptr.To[int64](400)
	r.Status.Load.Latency.P99Microseconds, r.Status.Load.Latency.LowerBounds = 12_349_990, []v1alpha1.Percentile{v1alpha1.P99}
	r.Status.Load.Latency.P50Microseconds = 12_345
	r.Status.Replication.DegradedCommits, r.Status.Replication.DegradedCommitsAtMost = ptr.To[int64](4), ptr.To[int64](1009)
	r.Status.Writes.Lost, r.Status.Writes.LostWhileDegraded, r.Status.Writes.LostWhileDegradedAtMost = ptr.To[int64](9), ptr.To[int64](9), ptr.To[int64](9)
	d := document(t, r)
	for path, want := range map[string]string{
		"status.outageMilliseconds":                 "1.2 s to 1.6 s",
		"status.goals[outageMilliseconds].measured": "1.2 s to 1.6 s",
		"status.load.latency.p99Microseconds":       "≥ 12.34 s", // a lower bound is not rounded up
		"status.load.latency.p50Microseconds":       "12.35 ms",
		"status.replication.degradedCommits":        "4 to 1,009",
		"status.writes.lostWhileDegraded":           "9",
		"status.writes.recovered":                   "2",
	} {
		if got := d.Figure(path).Text(); got != want {
			t.Errorf("%s is shown as %q, want %q", path, got, want)
		}
	}
	r.Status.OutageUncertaintyMilliseconds, r.Status.OutageLowerBound = nil, true
	for _, path := range []string{"status.outageMilliseconds", "status.goals[outageMilliseconds].measured"} {
		if got := document(t, r).Figure(path).Text(); got != "≥ 1.6 s" {
			t.Errorf("%s of an outage that did not end is shown as %q", path, got)
		}
	}
	r.Status.Replication.DegradedCommitsAtMost = nil
	if got := document(t, r).Figure("status.replication.degradedCommits").Text(); got != "≥ 4" {
		t.Errorf("without an upper bound it is shown as %q", got)
	}
	r.Status.Goals[0].Measured, r.Status.Goals[0].Met = ptr.To[int64](9), "Unknown"
	if got := document(t, r).Figure("status.writes.lost").Text(); got != "≥ 9" {
		t.Errorf("losses of which a goal stays open are shown as %q", got)
	}
}

func TestThroughputIsShownWithItsBounds(t *testing.T) {
	r := reporttest.SemiSync(t)
	l := r.Status.Load
	l.RequestsPerSecond, l.RequestsPerSecondMilli, l.RequestsPerSecondMilliAtMost = ptr.To[int64](11), ptr.To[int64](11_500), ptr.To[int64](12_344)
	r.Status.Goals = []v1alpha1.GoalStatus{{Metric: "requestsPerSecond", Measured: ptr.To[int64](11), MeasuredMilli: ptr.To[int64](11_500), Met: "Unknown"}}
	shown := func(want map[string]string) {
		t.Helper()
		for path, text := range want {
			if got := document(t, r).Figure(path).Text(); got != text {
				t.Errorf("%s is shown as %q, want %q", path, got, text)
			}
		}
	}
	shown(map[string]string{
		"status.load.requestsPerSecondMilli": "11.5/s to 12.35/s", "status.goals[requestsPerSecond].measuredMilli": "11.5/s to 12.35/s",
		"status.load.requestsPerSecond": "11/s to 13/s", "status.goals[requestsPerSecond].measured": "11/s to 13/s",
	})
	if got := document(t, r).Goal("requestsPerSecond").Text(); got != "11.5/s to 12.35/s" {
		t.Errorf("the goal's figure is %q", got)
	}
	l.RequestsPerSecondMilliAtMost = nil
	shown(map[string]string{"status.load.requestsPerSecondMilli": "≥ 11.5/s", "status.load.requestsPerSecond": "≥ 11/s", "status.goals[requestsPerSecond].measured": "≥ 11/s"})
	l.RequestsPerSecondMilli, l.RequestsPerSecondMilliAtMost = ptr.To[int64](1_234_567), ptr.To[int64](1_234_567)
	shown(map[string]string{"status.load.requestsPerSecondMilli": "1,235/s"})
	for milli, want := range map[int64]string{2_600: "2.6/s", 79_467: "79.47/s"} {
		l.RequestsPerSecondMilli, l.RequestsPerSecondMilliAtMost = &milli, &milli
		shown(map[string]string{"status.load.requestsPerSecondMilli": want})
	}
}

func TestAnAbsentFigureSaysWhy(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Status.Writes.Lost, r.Status.OutageMilliseconds, r.Status.Replication.Lag = nil, nil, nil
	r.Spec.Probes.Availability.IntervalMilliseconds, r.Spec.Probes.Lag.IntervalMilliseconds = 0, 0
	r.Status.Nodes[1].Lag.Samples, r.Status.Nodes[1].Lag.P50Microseconds = 0, nil
	r.Status.Nodes[0].Rows, r.Status.Nodes[0].Note = nil, "it did not answer"
	d := document(t, r)
	for path, want := range map[string]string{
		"status.writes.lost":                              "not known that there was anything to lose",
		"status.outageMilliseconds":                       "availability probe was off",
		"status.replication.lag.p99Microseconds":          "lag probe was off",
		"status.nodes[semisync-db-0].rows":                "it did not answer",
		"status.nodes[semisync-db-1].lag.p50Microseconds": "no sample",
		"status.replication.group.forcedAborts":           "Galera",
		"status.faults[crash].lossWindowMilliseconds":     "no lost write",
	} {
		f := d.Figure(path)
		if f.Value != nil || !strings.Contains(f.Why, want) || f.Text() != "not measured" {
			t.Errorf("%s: %s, why %q, want %q", path, f.Text(), f.Why, want)
		}
	}
	for _, path := range figures.Main {
		if f := document(t, report.Results{}).Figure(path); f.Why == "" || f.Value != nil {
			t.Errorf("%s of a run without figures: %v, why %q", path, f.Value, f.Why)
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
	if l == nil || l[4] != d.Figure(l[3]).Exact() || l[5] != "µs" || l[6] != "at least" || l[0] != "semisync" || l[2] != "Passed" {
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
	r.Status.OutageMilliseconds, r.Status.OutageUncertaintyMilliseconds = ptr.To[int64](0), nil
	r.Status.Comparison = &v1alpha1.ComparisonStatus{RequestsPerSecondPercent: ptr.To[int64](27), P99Percent: ptr.To[int64](-8)}
	d := document(t, r)
	for path, want := range map[string]string{
		"status.outageMilliseconds": "0 ms", "status.comparison.requestsPerSecondPercent": "+27 %", "status.comparison.p99Percent": "−8 %",
	} {
		if got := d.Figure(path).Text(); got != want {
			t.Errorf("%s is shown as %q, want %q", path, got, want)
		}
	}
}

// TestALatencyThatTheClosedLoopContradictsSaysSo: of its stage, and of the load where that stage counts.
func TestALatencyThatTheClosedLoopContradictsSaysSo(t *testing.T) {
	const doubt = "contradicted by the closed loop"
	for stage, doubted := range map[int]map[string]bool{
		0: { // the warmup, which does not count
			"status.load.latency.p50Microseconds": false, "status.load.stages[warmup].latency.p50Microseconds": true, "status.load.stages[open].latency.p50Microseconds": false,
		},
		1: {
			"status.load.latency.p50Microseconds": true, "status.goals[p50Microseconds].measured": true, "status.load.stages[warmup].latency.p50Microseconds": false,
			"status.load.stages[1].latency.p50Microseconds": true, "recorder.stages[open].operations[search].latency.p50Microseconds": true, "recorder.stages[open].latency.p95Microseconds": true,
			"status.load.requestsPerSecond": false, "status.replication.lag.p50Microseconds": false,
		},
	} {
		r := reporttest.SemiSync(t)
		r.Status.Goals = append(r.Status.Goals, v1alpha1.GoalStatus{Metric: "p50Microseconds", Measured: &r.Status.Load.Latency.P50Microseconds, Met: "Unknown"})
		r.Status.Load.Stages[stage].ClosedLoopHolds = "False"
		d := document(t, r)
		for path, want := range doubted {
			if f := d.Figure(path); strings.HasSuffix(f.Text(), " ("+doubt+")") != want || f.Value == nil {
				t.Errorf("with stage %d contradicted %s is %q", stage, path, f.Text())
			}
		}
		var b bytes.Buffer
		if err := figures.WriteCSV(&b, d); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), ","+doubt+"\n") {
			t.Error("the CSV does not say so")
		}
	}
}
