package markdown

import (
	"strings"
	"testing"

	"replab.dev/internal/report/comparison"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/reporttest"
	"replab.dev/internal/results"
)

func TestMarkdownOfARun(t *testing.T) {
	r := reporttest.SemiSync(t)
	r.Status.Reasons = append(r.Status.Reasons, "one | two\n# <b>three", "![x](y) by @them")
	r.Spec.Topology.Parameters = map[string]string{"x": "````"}
	r.Status.Load.StaleReads = nil
	r.Status.Faults[0].Pod = "a|b"
	var b strings.Builder
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{
		"# semisync: Passed\n\n- All 2 goals were met.\n", "- one \\| two #\u200b &lt;b>three\n", "| outageMilliseconds | max 15 s | 1.6 s | met |\n", "| p99 | status.load.latency.p99Microseconds | ≥ 16.17 ms | the recorder",
		"| a\\|b | +20.000 s | +20.012 s | Released: the server's process is gone |  | 1.6 s |\n", "| semisync-db-0 | Isolated | 10,602 | 701 | 1 | ", "`````yaml\napiVersion: replab.dev/v1alpha1\n", "\n`````\n", `- !\[x](y) by @` + "\u200bthem\n",
		"| stale reads | status.load.staleReads | not measured | ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if goals, notes := strings.Index(got, "\n## Goals"), strings.Index(got, "\n## Limits of the figures\n\n- "); goals < 0 || notes < goals {
		t.Errorf("the notes do not follow the tables:\n%s", got)
	}
	if strings.Contains(got, figures.NoSuch) {
		t.Errorf("it asks for a figure that there cannot be:\n%s", got)
	}
	b.Reset()
	if err := Write(&b, results.Results{Experiment: "x"}); err != nil || !strings.HasPrefix(b.String(), "# x: no verdict\n") {
		t.Errorf("of a run without figures: %v\n%s", err, b.String())
	}
}

func TestMarkdownOfAComparison(t *testing.T) {
	base, now := reporttest.SemiSync(t), reporttest.SemiSync(t)
	base.Experiment, now.Experiment = "a`<b>\n# c", "d|e"
	c, err := comparison.Of(figures.Of(base), figures.Of(now))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := WriteComparison(&b, c); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"|  | a\\`&lt;b> #\u200b c | d\\|e |\n|---|---|---|\n| verdict | Passed | Passed |\n", "\nd\\|e against a\\`&lt;b> #\u200b c, the baseline: "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
