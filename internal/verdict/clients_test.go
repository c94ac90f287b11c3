package verdict

import (
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

func TestTheRecorderIsHeldAgainstK6(t *testing.T) {
	type figures struct{ requests, failures, late int64 } // late: of the recorder's requests, those that ended after the stage
	for name, c := range map[string]struct {
		k6, recorder figures
		change       func(*evidence.Run)
		said         string // "" when they agree
	}{
		"both count the same":                       {k6: figures{3000, 10, 0}, recorder: figures{3000, 10, 0}},
		"half of the requests never came":           {k6: figures{6000, 3010, 0}, recorder: figures{3000, 10, 0}, said: "Stage steady: k6 counts 6000 requests (3010 failed), the recorder 3000 (10 failed)."},
		"three of 2999 never came":                  {k6: figures{2999, 10, 0}, recorder: figures{2996, 10, 0}, said: "k6 counts 2999 requests"},
		"three of 3000 are no more than 0.1%":       {k6: figures{3000, 10, 0}, recorder: figures{2997, 10, 0}},
		"two are too few to tell":                   {k6: figures{20, 0, 0}, recorder: figures{18, 0, 0}},
		"three of few are not":                      {k6: figures{20, 0, 0}, recorder: figures{17, 0, 0}, said: "k6 counts 20 requests"},
		"somebody else asked the recorder":          {k6: figures{3000, 10, 0}, recorder: figures{3100, 10, 0}, said: "the recorder 3100"},
		"answers failed on their way to k6":         {k6: figures{3000, 14, 0}, recorder: figures{3000, 10, 0}, said: "k6 counts 3000 requests (14 failed)"},
		"k6 took failures for successes":            {k6: figures{3000, 10, 0}, recorder: figures{3000, 14, 0}, said: "the recorder 3000 (14 failed)"},
		"k6 gave up what was late":                  {k6: figures{2950, 10, 0}, recorder: figures{3000, 60, 50}},
		"what was late explains no more than it is": {k6: figures{2950, 10, 0}, recorder: figures{3000, 10, 46}, said: "the recorder 3000"},
		"what was late does not explain what k6 has": {
			k6: figures{3050, 10, 0}, recorder: figures{3000, 10, 50}, said: "k6 counts 3050",
		},
		"a discarded stage too": {
			k6: figures{6000, 0, 0}, recorder: figures{3000, 0, 0}, said: "Stage steady: k6 counts 6000",
			change: func(e *evidence.Run) { e.Spec.Load.Stages[0].Discard, e.Recorder.Stages[0].Discarded = true, true },
		},
		"a recorder that was restarted before the load knows all of it": {
			k6: figures{6000, 0, 0}, recorder: figures{3000, 0, 0}, change: func(e *evidence.Run) { e.Recorder.Restarts = 1 }, said: "k6 counts 6000",
		},
		"a stage that k6 does not tell of": {
			k6: figures{3000, 0, 0}, recorder: figures{3000, 0, 0}, said: "Stage steady: k6 counts 0 requests (0 failed), the recorder 3000",
			change: func(e *evidence.Run) { e.K6.Stages[0].Name = "stead" },
		},
		"a script of one's own by its totals": {
			k6: figures{6000, 10, 0}, recorder: figures{3000, 10, 0}, said: "k6 counts 6000 requests (10 failed), the recorder 3000 (10 failed). The script may ask other hosts",
			change: ownScript,
		},
		"a script that agrees":                            {k6: figures{3000, 10, 0}, recorder: figures{3000, 10, 0}, change: ownScript},
		"a script may expect what is a failure otherwise": {k6: figures{3000, 0, 0}, recorder: figures{3000, 900, 0}, change: ownScript},
		"a script gave up what was under way at its end": {
			k6: figures{2950, 0, 0}, recorder: figures{3000, 0, 0},
			change: func(e *evidence.Run) { ownScript(e); e.Recorder.Stages[0].Trailing = 50 },
		},
		"a script's failures that the recorder has not": {k6: figures{3000, 14, 0}, recorder: figures{3000, 10, 0}, change: ownScript, said: "k6 counts 3000 requests (14 failed)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) {
				e.Spec.Goals = nil
				k, w := &e.K6.Stages[0], &e.Recorder.Stages[0]
				k.Requests, k.FailedRequests, e.K6.Requests, e.K6.FailedRequests = c.k6.requests, c.k6.failures, c.k6.requests, c.k6.failures
				w.Requests, w.Failures, w.Answered = c.recorder.requests, c.recorder.failures, c.recorder.requests-c.recorder.late
				if c.change != nil {
					c.change(e)
				}
			})
			all := strings.Join(allSaid(s), " ")
			if (s.Verdict == v1alpha1.VerdictInconclusive) != (c.said != "") || strings.Contains(all, "k6 counts") != (c.said != "") || !strings.Contains(all, c.said) {
				t.Errorf("verdict %s, reasons %q; want %q", s.Verdict, s.Reasons, c.said)
			}
		})
	}
}

// ownScript has k6 know of no stages.
func ownScript(e *evidence.Run) {
	e.Spec.Load.Script, e.K6.Stages = &v1alpha1.ScriptSource{}, nil
	e.K6.Registered, e.K6.RegisteredKnown = 0, false
}

func TestStagesOfBothInstrumentsAreMatchedByName(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		e.Recorder.Stages = append(e.Recorder.Stages, wire.StageResult{Name: "later", Requests: 50, DurationMicroseconds: 1, Answered: 50})
		e.K6.Stages = append([]wire.K6StageSummary{{Name: "later", Requests: 50}}, e.K6.Stages...)
	})
	if s.Verdict != v1alpha1.VerdictPassed {
		t.Errorf("verdict %s: %q", s.Verdict, s.Reasons)
	}
}
