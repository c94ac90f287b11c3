package html

import (
	"bytes"
	"strings"
	"testing"

	"replab.dev/internal/report/comparison"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/reporttest"
	"replab.dev/internal/results"
)

// compared is the page of several runs.
func compared(t *testing.T, all ...results.Results) string {
	t.Helper()
	var documents []*figures.Document
	for _, r := range all {
		d := figures.Of(r)
		documents = append(documents, d)
	}
	c, err := comparison.Of(documents...)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteComparison(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAComparisonIsAPageOfItsOwn(t *testing.T) {
	one, two := reporttest.SemiSync(t), reporttest.SemiSync(t)
	one.Experiment, two.Experiment = "one", `two<script>alert(1)</script>`
	page := compared(t, one, two)
	sound(t, page)
	if strings.Contains(page, "<script>alert") || len(elements(t, page, "src")) > 0 {
		t.Error("the page has markup that a run made")
	}
	if n := len(elements(t, page, "data-figure")); n < 30 {
		t.Errorf("the page shows %d figures", n)
	}
	for _, want := range []string{"one run each: an anecdote", `data-chart="latency"`, `<span class="soft">&#43;0%</span>`, "All 2 goals were met."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}
