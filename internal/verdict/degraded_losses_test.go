package verdict

import (
	"strings"
	"testing"

	"replab.dev/internal/verdict/evidence"
)

// TestLossesAreExplainedWhereNobodyTellsWhenCommitsWaitedForNone, of servers that may go on without a standby alone.
func TestLossesAreExplainedWhereNobodyTellsWhenCommitsWaitedForNone(t *testing.T) {
	const off, unknown = "(someField Off): asynchronous replication may lose all ", "while degraded is unknown: the recorder did not sample all commits"
	untold := func(degraded string, change ...func(*evidence.Run)) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.LossesWhileDegraded, e.DegradedBy, e.Recorder.Commits = true, degraded, nil
			lost(e, lostFrom(20_000, 21_000, 5))
			for _, c := range change {
				c(e)
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		says   string // "" for neither
	}{
		"no commit waits":                {untold("someField Off"), off},
		"none does, and nothing is lost": {untold("someField Off", func(e *evidence.Run) { e.Audit.Writes.Lost = 0 }), ""},
		"none ever could":                {untold("", func(e *evidence.Run) { e.LossesWhileDegraded = false }), ""},
		"no commits were counted":        {untold(""), unknown},
		"a recorder that was restarted":  {untold("", func(e *evidence.Run) { e.Recorder.Incomplete = "it was restarted" }), unknown},
		"they were counted": {func(e *evidence.Run) {
			e.LossesWhileDegraded = true
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(20_000, 21_000, 5))
		}, ""},
	} {
		s := judged(c.change)
		all := strings.Join(allSaid(s), "\n")
		for _, says := range []string{off, unknown} {
			if strings.Contains(all, says) != (says == c.says) {
				t.Errorf("%s: want %q and no other:\n%s", name, c.says, all)
			}
		}
		if c.says == off && !strings.Contains(all, off+"5 lost writes") {
			t.Errorf("%s: want 5 of them:\n%s", name, all)
		}
		if name != "they were counted" && s.Writes.LostWhileDegraded != nil {
			t.Errorf("%s: %d are said to have been acknowledged then", name, *s.Writes.LostWhileDegraded)
		}
	}
}
