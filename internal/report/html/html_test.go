package html

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	nethtml "golang.org/x/net/html"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/google/go-cmp/cmp"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/reporttest"
	"replab.dev/internal/report/story"
	"replab.dev/internal/results"
	"replab.dev/internal/wire"
)

func written(t *testing.T, r results.Results) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	sound(t, b.String())
	return b.String()
}

// sound pages ask for no figure that there cannot be, and draw nothing at no place.
func sound(t *testing.T, page string) {
	t.Helper()
	for _, wrong := range []string{figures.NoSuch, "NaN", "Inf,", `"+Inf`, `"-Inf`} {
		if i := strings.Index(page, wrong); i >= 0 {
			t.Errorf("the page has %q: %.300s", wrong, page[max(0, i-100):])
		}
	}
}

// elements of a page that have an attribute.
func elements(t *testing.T, page, attribute string) (found []map[string]string) {
	t.Helper()
	root, err := nethtml.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if !slices.ContainsFunc(n.Attr, func(a nethtml.Attribute) bool { return a.Key == attribute }) {
			continue
		}
		attributes := map[string]string{"": n.Data, "text": textOf(n)}
		for _, a := range n.Attr {
			attributes[a.Key] = a.Val
		}
		found = append(found, attributes)
	}
	return found
}

func textOf(n *nethtml.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == nethtml.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// tree is a document as plain JSON has it.
func tree(t *testing.T, r results.Results) any {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var all any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// lookup is what a document has at a path, by a way of its own.
func lookup(here any, path string) any {
	for _, part := range strings.Split(strings.ReplaceAll(path, "[", ".["), ".") {
		if key, ok := strings.CutPrefix(part, "["); ok {
			list, _ := here.([]any)
			key = strings.TrimSuffix(key, "]")
			i := slices.IndexFunc(list, func(v any) bool {
				o := v.(map[string]any)
				return o["name"] == key || o["metric"] == key
			})
			if i < 0 {
				if _, err := fmt.Sscan(key, &i); err != nil || i >= len(list) {
					return nil
				}
			}
			here = list[i]
			continue
		}
		object, _ := here.(map[string]any)
		here = object[part]
	}
	return here
}

// TestEachNumberIsThatOfTheDocument, and what is shown as not measured is not there.
func TestEachNumberIsThatOfTheDocument(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Status.Load.StaleReads = nil
	page, all := written(t, r), tree(t, r)
	shown := elements(t, page, "data-figure")
	if len(shown) < 100 {
		t.Fatalf("the page shows %d figures", len(shown))
	}
	for _, e := range shown {
		value := e["value"] + e["data-value"]
		if want := lookup(all, e["data-figure"]); want == nil || fmt.Sprintf("%.0f", want) != value || e["text"] == "" {
			t.Errorf("%s is shown as %s (%q), and is %v in the document", e["data-figure"], value, e["text"], want)
		}
	}
	for _, e := range elements(t, page, "data-absent") {
		if there := lookup(all, e["data-absent"]); there != nil {
			t.Errorf("%s is shown as absent, and is %v in the document", e["data-absent"], there)
		}
	}
}

func TestTheVerdictAndItsReasonsComeFirst(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Status.Versions.Server = "8.4.6 ((Debian))"
	page := written(t, r)
	_, body, _ := strings.Cut(page, "<body>")
	order := []string{
		`class="verdict Passed"`, "No acknowledged write was lost, and the longest outage was 1.6 s, after crash at 20.0 s.", r.Status.Reasons[0], ">Timeline<", `data-chart="requests"`, `class="tiles"`,
		">Faults<", "killed semisync-db-0, the primary", "0.90 s</b> detected", "first write again on semisync-db-1", ">Goals<", ">Writes<", ">Latency<", ">Replication lag<", ">Outages and faults in figures<", ">Nodes<",
		">Configuration and versions<", ">The experiment's YAML<", ">Limits of the figures",
	}
	at := 0
	for _, want := range order {
		i := strings.Index(body[at:], want)
		if i < 0 {
			t.Fatalf("after %d bytes there is no %q", at, want)
		}
		at += i
	}
	for _, want := range []string{"crash: semisync-db-0", "detection 899 ms", "outage 1.6 s", ">warmup</span>", "5 s of 4 users, discarded", "sync_binlog", "sha256:0123", "1.6 s", "SemiSync of MySQL 8.4.6 (Debian), 3 nodes"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestRedMeansBad: a goal that is not met, and lost writes without a goal.
func TestRedMeansBad(t *testing.T) {
	for name, c := range map[string]struct {
		lost   int64
		change func(*results.Results)
		red    []string
	}{
		"nothing was lost":       {0, func(*results.Results) {}, nil},
		"the goal is not met":    {3, func(*results.Results) {}, []string{"tile bad", "bad"}},
		"lost without a goal":    {3, func(r *results.Results) { r.Status.Goals = nil }, []string{"tile bad", "bad"}},
		"the goal asks for loss": {3, func(r *results.Results) { r.Status.Goals[0].Met = "True" }, []string{"bad"}},
	} {
		r := reporttest.Run(t, reporttest.Shape{Experiment: "semisync", Seconds: 45, FaultAt: 20, Lost: c.lost})
		c.change(&r)
		var red []string
		for _, e := range elements(t, written(t, r), "class") {
			if slices.Contains(strings.Fields(e["class"]), "bad") {
				red = append(red, e["class"])
			}
		}
		if !slices.Equal(red, c.red) {
			t.Errorf("%s: red are %q, want %q", name, red, c.red)
		}
	}
}

// TestATileNamesItsDoubtBelowTheFigure: the reason is no part of the large text.
func TestATileNamesItsDoubtBelowTheFigure(t *testing.T) {
	r := reporttest.SemiSync(t)
	(*figure.Bounds)(&r.Status.Bounds).Unknown("load.latency.p99Microseconds", "packets were late")
	if page := written(t, r); !strings.Contains(page, " ?</data></b> <small>packets were late</small>") {
		t.Error("the tile of p99 has no reason in small letters")
	}
}

// TestGreenNeedsAVerdict: a run that decides nothing meets no goal.
func TestGreenNeedsAVerdict(t *testing.T) {
	r := reporttest.SemiSync(t)
	for verdict, want := range map[v1alpha1.Verdict]bool{v1alpha1.VerdictPassed: true, v1alpha1.VerdictFailed: true, v1alpha1.VerdictInconclusive: false, v1alpha1.VerdictInvalid: false, "": false} {
		r.Status.Verdict = verdict
		if got := strings.Contains(written(t, r), `class="tile good"`); got != want {
			t.Errorf("%q: a tile is green: %v, want %v", verdict, got, want)
		}
	}
}

// TestAMissedGoalLooksMissed: its figure is shown exactly enough to differ from the limit.
func TestAMissedGoalLooksMissed(t *testing.T) {
	for want, tile := range map[string]Tile{
		"16 ms":     {Figure: figure.Exact("status.load.latency.p99Microseconds", 16_400), Goal: &v1alpha1.GoalStatus{Metric: "p99Microseconds", Limit: "max 17000", Met: "True"}},
		"16.4 ms":   {Figure: figure.Exact("status.load.latency.p99Microseconds", 16_400), Goal: &v1alpha1.GoalStatus{Metric: "p99Microseconds", Limit: "max 16000", Met: "False"}},
		"16,001 µs": {Figure: figure.Exact("status.load.latency.p99Microseconds", 16_001), Goal: &v1alpha1.GoalStatus{Metric: "p99Microseconds", Limit: "max 16000", Met: "False"}},
	} {
		if got := tile.Text(); got != want {
			t.Errorf("it shows %q, want %q", got, want)
		}
	}
}

// TestHistogramsHaveTheRecordersBuckets, and a document without them says so.
func TestHistogramsHaveTheRecordersBuckets(t *testing.T) {
	r := reporttest.SemiSync(t)
	page := written(t, r)
	for _, b := range slices.Concat(r.Recorder.Load.Histogram, r.Recorder.Lag.Histogram) {
		if want := "<title>" + figure.Grouped(b.Count) + " from "; !strings.Contains(page, want) {
			t.Errorf("the page has no bar of %+v", b)
		}
	}
	r.Recorder.Load.Histogram, r.Recorder.Lag.Histogram = nil, nil
	page = written(t, r)
	for _, want := range []string{"There is no histogram of latencies: the document has none.", "There is no histogram of lags: the document has none."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestHistogramsNeedAWholeRecord, as the figures beside them do.
func TestHistogramsNeedAWholeRecord(t *testing.T) {
	for why, change := range map[string]func(*wire.RecorderResults){
		"it was restarted": func(r *wire.RecorderResults) { r.Incomplete = "it was restarted" },
		"the disk is full": func(r *wire.RecorderResults) { r.Failed = "the disk is full" },
	} {
		r := reporttest.SemiSync(t)
		change(r.Recorder)
		page := written(t, r)
		if strings.Contains(page, "-histogram") || strings.Count(page, "There is no histogram of la") != 2 || !strings.Contains(page, ": "+why+".") {
			t.Errorf("%s: the page has histograms, or does not say why not", why)
		}
	}
	if page := written(t, reporttest.SemiSync(t)); !strings.Contains(page, "Samples of the lag probe, each of a row on a node") {
		t.Error("the page does not say what a lag is of")
	}
}

// TestThePageHasTheLostWrites with where they were at the audit.
func TestThePageHasTheLostWrites(t *testing.T) {
	if page := written(t, reporttest.Run(t, reporttest.Shape{Experiment: "semisync", Seconds: 45, FaultAt: 20, Lost: 64})); !strings.Contains(page, "on semisync-db-0") {
		t.Error("no lost write is there")
	}
}

// TestAFaultThatMayHaveBeenIsNotDenied in its line.
func TestAFaultThatMayHaveBeenIsNotDenied(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Status.Faults[0].InjectedTime = nil
	if page := written(t, r); !strings.Contains(page, "<b>Not known to have been carried out:</b> killed semisync-db-0") {
		t.Error("the page denies the fault")
	}
}

func TestThePageAsksForNothing(t *testing.T) {
	page := written(t, reporttest.SemiSync(t))
	for _, attribute := range []string{"src", "href", "srcset", "action", "xlink:href"} {
		for _, e := range elements(t, page, attribute) {
			if !strings.HasPrefix(e[attribute], "data:") && !strings.HasPrefix(e[attribute], "#") {
				t.Errorf("%s of <%s> is %q", attribute, e[""], e[attribute])
			}
		}
	}
	if strings.Contains(page, "url(") || strings.Contains(page, "@import") {
		t.Error("its style asks for something")
	}
}

// TestThePolicyKnowsTheScript that the page has, and none beside it.
func TestThePolicyKnowsTheScript(t *testing.T) {
	page := written(t, reporttest.SemiSync(t))
	i := strings.LastIndex(page, "<script>")
	script, _, _ := strings.Cut(page[i+len("<script>"):], "</script>")
	policies := elements(t, page, "http-equiv")
	if len(policies) != 1 || !strings.Contains(policies[0]["content"], "script-src '"+hashOf(script)+"';") || !strings.Contains(policies[0]["content"], "base-uri 'none'; form-action 'none'") {
		t.Errorf("the policy is %v, the script's hash %s", policies, hashOf(script))
	}
}

func TestWhatARunSaysIsNoMarkup(t *testing.T) {
	r := reporttest.Run(t, reporttest.Shape{Experiment: "semisync", Seconds: 45, FaultAt: 20, Lost: 3})
	const evil = `</script></pre><script>alert("x")</script><img src=x>`
	r.Status.Reasons = append(r.Status.Reasons, evil)
	r.Status.Faults[0].Evidence, r.Spec.Topology.Parameters = evil, map[string]string{"init_connect": evil}
	r.Status.Nodes[0].Name, r.Recorder.Settings[0].Node, r.Status.Failover.NewPrimary, r.Status.Faults[0].Name = evil, evil, evil, evil
	r.Recorder.Stages[0].Name, r.Spec.Load.Stages[0].Name, r.Status.Load.Stages[0].Name = evil, evil, evil
	r.Status.Notes, r.Status.Conditions = append(r.Status.Notes, ""), append(r.Status.Conditions, metav1.Condition{})
	reporttest.Say(&r, evil) // each other text, such as the leak of a fault and the node of lost writes
	page := written(t, r)
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img") {
		t.Error("the page has markup that a run made")
	}
	if n := len(elements(t, page, "src")); n != 0 {
		t.Errorf("%d elements have a source", n)
	}
}

// TestWhatIsNotThereSaysWhy, and a document of a run that was ended before its load is a report too.
func TestWhatIsNotThereSaysWhy(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Status.Writes.Lost, r.Status.OutageMilliseconds, r.Status.Failover.RoutingMilliseconds = nil, nil, nil
	(*figure.Bounds)(&r.Status.Bounds).Unknown("writes.lost", "no write was under way")
	r.Recorder.Timeline, r.Omitted = nil, "the timeline, which does not fit into a ConfigMap"
	r.Spec.Probes.Availability.IntervalMilliseconds = 0
	page := written(t, r)
	for _, want := range []string{"no write was under way", "the availability probe was off", "left out: the timeline, which does not fit", `data-absent="status.writes.lost"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	nothing := written(t, results.Results{Experiment: "x", Status: v1alpha1.ReplicationExperimentStatus{Verdict: v1alpha1.VerdictInconclusive, Reasons: []string{"The image cannot be pulled."}}})
	for _, want := range []string{"The image cannot be pulled.", "there are no results of the recorder", "No fault was injected."} {
		if !strings.Contains(nothing, want) {
			t.Errorf("the page of a run without figures has no %q", want)
		}
	}
}

func TestBoundsStayBounds(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Status.Replication.DegradedCommits, r.Status.Load.Latency.P99Microseconds = ptr.To[int64](4), 12_000
	b := (*figure.Bounds)(&r.Status.Bounds)
	b.Between("replication.degradedCommits", 4, 9, "why")
	b.AtLeast("load.latency.p99Microseconds", 12_000, "why")
	r.Status.Writes.Lost = ptr.To[int64](5)
	b.AtLeast("writes.lost", 5, "fault crash may have had nothing to destroy")
	page := written(t, r)
	for _, want := range []string{">4 to 9</data>", ">≥ 12 ms</data>", "Lost: fault crash may have had nothing to destroy."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestTheYAMLRepeatsTheRun: it is the experiment as it was asked for, and no field of it is unknown.
func TestTheYAMLRepeatsTheRun(t *testing.T) {
	r := reporttest.SemiSync(t)
	ended := r
	ended.Spec.Abort, ended.Spec.Suspend = true, true
	text, err := ended.Repeat()
	if err != nil {
		t.Fatal(err)
	}
	var x v1alpha1.ReplicationExperiment
	if err := yaml.UnmarshalStrict([]byte(text), &x); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Spec, x.Spec); diff != "" || x.Name != "semisync" || x.Kind != "ReplicationExperiment" || x.APIVersion != "replab.dev/v1alpha1" {
		t.Errorf("the YAML is another experiment:\n%s\n%s", diff, text)
	}
	for _, e := range elements(t, written(t, r), "id") {
		if e["id"] == "yaml" && e["text"] != text {
			t.Errorf("the page has another YAML:\n%s", cmp.Diff(text, e["text"]))
		}
	}
}

// TestTheScriptsFiguresAreThoseOfTheTimeline: with nothing where the document has nothing.
func TestTheScriptsFiguresAreThoseOfTheTimeline(t *testing.T) {
	r := reporttest.SemiSync(t)
	var data Data
	for _, e := range elements(t, written(t, r), "id") {
		if e["id"] == "timeline" {
			if err := json.Unmarshal([]byte(e["text"]), &data); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(data.Series["requests"]) != 2 || len(data.Series["latency"]) != 2 || len(data.Series["lag"]) != 3 || data.View != [2]float64{5, 50} || len(data.Bounds) != len(r.Recorder.Timeline) {
		t.Fatalf("the series are %v", data.Series)
	}
	for i, s := range r.Recorder.Timeline {
		if got := *data.Series["requests"][0].Values[i]; got != s.Requests-s.Failures {
			t.Errorf("in second %d %d succeeded, want %d", i, got, s.Requests-s.Failures)
		}
		if got := *data.Series["latency"][1].Values[i]; got != *s.P99Microseconds {
			t.Errorf("second %d has a p99 of %d, want %d", i, got, *s.P99Microseconds)
		}
		if got, want := data.Series["lag"][0].Values[i], s.LagMicroseconds[0]; (got == nil) != (want == -1) || got != nil && *got != want {
			t.Errorf("second %d has a lag of %v, want %d", i, got, want)
		}
		if strings.Contains(data.Bounds[i], "p99") != slices.Contains(s.LowerBounds, v1alpha1.P99) {
			t.Errorf("second %d: bounds %q, want %v", i, data.Bounds[i], s.LowerBounds)
		}
	}
}

// TestTheLastSecondIsNoCollapse: most of it is after the load.
func TestTheLastSecondIsNoCollapse(t *testing.T) {
	r := reporttest.SemiSync(t)
	last := len(r.Recorder.Timeline) - 1
	for after, want := range map[time.Duration]bool{100 * time.Millisecond: false, 900 * time.Millisecond: true} {
		ended := metav1.NewMicroTime(r.Recorder.Timeline[last].At.Add(after))
		r.Recorder.LoadEndedAt = &ended
		all := series(figures.Of(r))
		for _, v := range slices.Concat(all[0].values, all[1].values) {
			if v.Values[last-1] == nil || (v.Values[last] != nil) != (want || v.Name == "failed") {
				t.Errorf("%s is shown in the last second: %v, want %v", v.Name, v.Values[last] != nil, want)
			}
		}
	}
	r.Recorder.LoadEndedAt, r.Recorder.Timeline[last].Failures = &r.Recorder.Timeline[last].At, 9
	for _, v := range series(figures.Of(r))[0].values {
		if v.Values[last] == nil {
			t.Errorf("%s is not shown in a second with failures", v.Name)
		}
	}
}

// TestTheTimelineDrawsLowerBoundsApart, as its notes say.
func TestTheTimelineDrawsLowerBoundsApart(t *testing.T) {
	r := reporttest.SemiSync(t)
	for i := range r.Recorder.Timeline {
		r.Recorder.Timeline[i].LowerBounds = nil
	}
	const note, line = "A dashed line of percentiles has lower bounds", `class="series c3 bound" data-series="1"`
	if page := written(t, r); strings.Contains(page, note) || strings.Contains(page, line) {
		t.Error("exact percentiles are drawn as bounds")
	}
	r.Recorder.Timeline[5].LowerBounds = []v1alpha1.Percentile{v1alpha1.P99}
	if page := written(t, r); !strings.Contains(page, note) || !strings.Contains(page, line) || strings.Contains(page, `c2 bound`) {
		t.Error("the lower bound of a p99 is drawn as an exact figure, or that of a p50 is not exact")
	}
}

// TestATimelineOfLongerSteps says so, and shows no percentile.
func TestATimelineOfLongerSteps(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Recorder.TimelineStepSeconds = 10
	for i := range r.Recorder.Timeline {
		s := &r.Recorder.Timeline[i]
		*s = wire.Second{At: s.At, Requests: s.Requests, Failures: s.Failures, LagMicroseconds: s.LagMicroseconds}
	}
	page := written(t, r)
	for _, want := range []string{"Requests in each 10 seconds", "Each entry spans 10 seconds", "none of it was measured: Latency of each 10 seconds."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(page, `data-chart="latency"`) {
		t.Error("there is a picture of nothing")
	}
}

// TestWhatLiesBeyondTheTimelineIsNotDrawn at its edge.
func TestWhatLiesBeyondTheTimelineIsNotDrawn(t *testing.T) {
	const note = "What was before or after this time is in the tables."
	r := reporttest.SemiSync(t)
	if strings.Contains(written(t, r), note) {
		t.Error("all moments lie in the timeline, and it says that some do not")
	}
	r.Recorder.Timeline, r.Recorder.TimelineOmittedSeconds = r.Recorder.Timeline[:10], 40 // the fault came after 20
	page := written(t, r)
	if !strings.Contains(page, note) || strings.Contains(page, `class="mark fault"`) || strings.Contains(page, ">outage 1.6 s</span>") {
		t.Errorf("a fault after the timeline is drawn in it, or not told of: %v", strings.Contains(page, note))
	}
}

// TestAFaultOfAnUnknownClockIsAbout where its own clock has it, and a note says so.
func TestAFaultOfAnUnknownClockIsAbout(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Status.Faults[0].Clock = nil
	page := written(t, r)
	for _, want := range []string{">Fault at about 20.0 s</button>", "<b>At about 20.0 s</b>", "Where it was not measured, they are approximate"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestLagsThatAreNothing are drawn at the foot of the scale.
func TestLagsThatAreNothing(t *testing.T) {
	r := reporttest.SemiSync(t)
	for i := range r.Recorder.Timeline {
		r.Recorder.Timeline[i].LagMicroseconds = []int64{0, 0, 0}
	}
	if !strings.Contains(written(t, r), `data-chart="lag"`) {
		t.Error("lags of 0 are not drawn")
	}
}

func TestAnHoursReportIsSmall(t *testing.T) {
	r := reporttest.Hour(t)
	page := written(t, r)
	t.Logf("an hour of %d nodes: %d bytes", len(r.Status.Nodes), len(page))
	if len(r.Recorder.Timeline) != 3600 || len(r.Status.Nodes) != 10 || len(page) > 1<<20 {
		t.Errorf("a report of %d seconds and %d nodes has %d bytes, want at most 1 MiB", len(r.Recorder.Timeline), len(r.Status.Nodes), len(page))
	}
}

// TestKeptRunsHavePages, whatever version of replab wrote their documents.
func TestKeptRunsHavePages(t *testing.T) {
	files, err := filepath.Glob("../../../test/kept/testdata/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	for _, file := range files {
		packed, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r results.Results
		if err := results.Unpack(packed, &r); err != nil {
			t.Fatal(err)
		}
		if page := written(t, r); !strings.Contains(page, story.Headline(figures.Of(r))) || strings.Count(page, "</b> ") < len(r.Status.Faults) {
			t.Errorf("%s: the page has no headline, or not all faults", file)
		}
	}
}

// TestAnOutageIsDrawnOnce, whole, where two faults share its start, and not at all where its start is unknown.
func TestAnOutageIsDrawnOnce(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1alpha1.ReplicationExperimentStatus)
		want   []string
	}{
		"of one fault": {func(*v1alpha1.ReplicationExperimentStatus) {}, []string{"outage 1.6 s from 20 to 21.6"}},
		"of two, for one of which it was cut": {func(s *v1alpha1.ReplicationExperimentStatus) {
			s.Faults = append([]v1alpha1.FaultStatus{*s.Faults[0].DeepCopy()}, s.Faults...)
			s.Faults[0].Name, s.Faults[0].OutageMilliseconds = "before", ptr.To[int64](900)
		}, []string{"outage 1.6 s from 20 to 21.6"}},
		"in an older document": {func(s *v1alpha1.ReplicationExperimentStatus) { s.Faults[0].OutageStartTime = nil }, nil},
	} {
		r := reporttest.SemiSync(t)
		c.change(&r.Status)
		var got []string
		for _, b := range outages(figures.Of(r)) {
			got = append(got, fmt.Sprintf("%s from %g to %g", b.Name, b.From, b.To))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
