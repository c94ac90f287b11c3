package ci

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	parser "github.com/joshdk/go-junit"

	"replab.dev/api/v1alpha1"
)

// TestAParserReadsIt, also texts that end what they stand in.
func TestAParserReadsIt(t *testing.T) {
	const text = "lost 0\n]]></system-out><b & c>"
	var b bytes.Buffer
	err := WriteJUnit(&b, []Run{
		{Name: "experiment semisync", Namespace: "db", Verdict: v1alpha1.VerdictPassed, Begun: true, Reasons: []string{"The goal was met."}, Text: text, Took: 90 * time.Second},
		{Name: "experiment async", Namespace: "db", Verdict: v1alpha1.VerdictFailed, Begun: true, Reasons: []string{`lostWrites is 3 > "0".`, "and more"}},
		{Name: "suite cost", Namespace: "db", Verdict: v1alpha1.VerdictInconclusive, Begun: true, Reasons: []string{"It was aborted."}},
		{Name: "experiment refused", Namespace: "db", Begun: true, Reasons: []string{"no answer"}},
		{Name: "experiment after", Namespace: "db", Reasons: []string{"It was not begun."}},
	})
	if err != nil {
		t.Fatal(err)
	}
	suites, err := parser.Ingest(b.Bytes())
	if err != nil || len(suites) != 1 {
		t.Fatalf("%d suites, %v in\n%s", len(suites), err, b.String())
	}
	type found struct{ name, status, message, out string }
	var got []found
	for _, c := range suites[0].Tests {
		f := found{name: c.Classname + "/" + c.Name, status: string(c.Status), message: c.Message, out: c.SystemOut}
		if c.Error != nil {
			f.message = c.Error.Error()
		}
		got = append(got, f)
	}
	want := []found{
		{"db/experiment semisync", "passed", "", text},
		{"db/experiment async", "failed", "lostWrites is 3 > \"0\".\nand more", ""},
		{"db/suite cost", "error", "It was aborted.", ""},
		{"db/experiment refused", "error", "no answer", ""},
		{"db/experiment after", "skipped", "It was not begun.", ""},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(found{})); diff != "" {
		t.Errorf("(-want +got):\n%s\nin %s", diff, b.String())
	}
	if total := suites[0].Totals; total.Tests != 5 || total.Duration != 90*time.Second {
		t.Errorf("%+v", total)
	}
}
