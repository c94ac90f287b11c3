package ci

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/api/v1alpha1"
)

func TestTheSummaryHasATableAndTheReports(t *testing.T) {
	var b strings.Builder
	err := WriteSummary(&b, []Run{
		{Name: "experiment semisync", Namespace: "db", Verdict: v1alpha1.VerdictPassed, Reasons: []string{"The goal was met."}, Report: "# semisync: Passed"},
		{Name: "experiment after", Namespace: "db", Reasons: []string{"It was not begun,", "a|b"}},
	})
	want := `
## replab: 1 of 2 passed

| run | namespace | verdict | reason |
|---|---|---|---|
| experiment semisync | db | Passed | The goal was met. |
| experiment after | db | none | It was not begun, a\|b |

<details><summary>experiment semisync</summary>

# semisync: Passed
</details>
`
	if diff := cmp.Diff(want, b.String()); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
