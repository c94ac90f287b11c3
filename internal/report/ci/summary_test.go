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
		{Name: "experiment <b>\n\n# a", Report: "# a"},
		{Name: "experiment after", Namespace: "db", Reasons: []string{"It was not begun,", "a|b"}},
	})
	want := `
## replab: 1 of 3 passed

| run | namespace | verdict | reason |
|---|---|---|---|
| experiment semisync | db | Passed | The goal was met. |
| experiment &lt;b>  #` + "\u200b" + ` a |  | none |  |
| experiment after | db | none | It was not begun, a\|b |

<details><summary>experiment semisync</summary>

# semisync: Passed
</details>

<details><summary>experiment &lt;b&gt;  # a</summary>

# a
</details>
`
	if diff := cmp.Diff(want, b.String()); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
