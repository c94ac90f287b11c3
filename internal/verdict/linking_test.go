package verdict

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
)

// TestLinksThatWereNotSetInTheirStage have it in a field as well, and a second verdict says it once more, not twice.
func TestLinksThatWereNotSetInTheirStage(t *testing.T) {
	e := evidencetest.WithoutDistanceFirst()
	judged := func(why string, problem v1alpha1.LinkProblem) {
		t.Helper()
		s := v1alpha1.ReplicationExperimentStatus{Distance: e.Distance.DeepCopy()}
		Judge(e, &s)
		told := 0
		for _, r := range allSaid(s) {
			if strings.Contains(r, "he links of db-0") {
				told++
			}
		}
		if got := s.Distance.Nodes[0].Problem; got != problem || (problem == v1alpha1.LinkNotInStage) != (told == 1 && s.Verdict == v1alpha1.VerdictInconclusive) {
			t.Errorf("%s: problem %q, want %q; %s: %q", why, got, problem, s.Verdict, s.Reasons)
		}
		e.Distance = s.Distance // which the next verdict finds
	}
	node := func() *v1alpha1.LinkedNodeStatus { return &e.Distance.Nodes[0] }
	judged("set in their stage", "")
	node().LinkingTime, node().LinkedTime = evidencetest.AtPtr(12_000), evidencetest.AtPtr(20_001)
	judged("perhaps ended in the stage after", v1alpha1.LinkNotInStage)
	judged("once more", v1alpha1.LinkNotInStage)
	clocks := e.Recorder.Clocks
	node().LinkedTime, e.Recorder.Clocks = evidencetest.AtPtr(12_100), nil
	judged("by a clock that nobody knows", v1alpha1.LinkNotInStage)
	e.Recorder.Clocks = clocks
	judged("by a clock that is known in the end", "")
	node().LinkedTime, node().Problem = evidencetest.AtPtr(20_001), v1alpha1.LinkNotKept
	judged("and something else before", v1alpha1.LinkNotKept)
}

// TestWhatIsSaidOfLinksIsTheSameTheSecondTime: the problem that a verdict states is no evidence for the next one.
func TestWhatIsSaidOfLinksIsTheSameTheSecondTime(t *testing.T) {
	e := evidencetest.WithoutDistanceFirst()
	n := &e.Distance.Nodes[0]
	n.LinkedTime, n.DroppedPackets = evidencetest.AtPtr(20_001), nil
	first := v1alpha1.ReplicationExperimentStatus{Distance: e.Distance.DeepCopy()}
	Judge(e, &first)
	e.Distance = first.Distance.DeepCopy()
	second := *first.DeepCopy()
	if Judge(e, &second); !slices.Equal(allSaid(first), allSaid(second)) || !strings.Contains(strings.Join(allSaid(first), " "), "The number of packets that the links of db-0 delayed is unknown.") {
		t.Errorf("first %q, then %q", first.Reasons, second.Reasons)
	}
}

func TestJudgeLeavesItsEvidence(t *testing.T) {
	for name, e := range map[string]evidence.Run{"sound": evidencetest.Sound(), "at a distance": evidencetest.WithoutDistanceFirst()} {
		if e.Distance != nil { // which the verdict states in the status
			e.Distance.Nodes[0].LinkedTime = evidencetest.AtPtr(20_001)
		}
		s := v1alpha1.ReplicationExperimentStatus{Distance: e.Distance.DeepCopy()}
		before, distance := asText(t, e), asText(t, s.Distance)
		Judge(e, &s)
		if after := asText(t, e); after != before {
			t.Errorf("%s: the evidence was\n%s\nand is\n%s", name, before, after)
		}
		if e.Distance != nil && asText(t, s.Distance) == distance {
			t.Errorf("%s: nothing was stated of the links: %s", name, distance)
		}
	}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
