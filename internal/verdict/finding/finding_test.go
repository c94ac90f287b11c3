package finding

import (
	"fmt"
	"strings"
	"testing"
)

// most is how many words a sentence or a remedy may have; a parameter is one.
const most = 25

func TestSentencesAreShort(t *testing.T) {
	if len(codes) < 200 {
		t.Fatalf("only %d codes are declared", len(codes))
	}
	for _, c := range codes {
		for _, text := range []string{c.sentence, c.remedy} {
			if words := strings.Fields(text); len(words) > most {
				t.Errorf("%d words, more than %d: %s", len(words), most, text)
			}
		}
		if whole := strings.HasSuffix(c.sentence, "."); whole == (c.effect == Clause) {
			t.Errorf("a sentence ends with a full stop, and a clause does not: %s", c.sentence)
		}
	}
}

func TestWhatLeavesARunUndecidedHasARemedy(t *testing.T) {
	for _, c := range codes {
		switch {
		case c.effect > Failed && c.remedy == "":
			t.Errorf("no remedy: %s", c.sentence)
		case c.remedy != "" && !strings.Contains(c.remedy, "docs/") && !strings.Contains(c.remedy, "`kubectl "):
			t.Errorf("a remedy without a command or a page: %s", c.remedy)
		}
	}
}

// sample of the code's sentence.
func (c Code) sample() string {
	params := make([]any, len(verb.FindAllString(c.sentence, -1)))
	for i := range params {
		params[i] = i
		if strings.HasSuffix(verb.FindAllString(c.sentence, -1)[i], "f") {
			params[i] = 0.5
		}
	}
	return strings.ReplaceAll(fmt.Sprintf(c.sentence, params...), "%!s(int=", "(")
}

func TestSentencesTakeTheirParameters(t *testing.T) {
	for _, c := range codes {
		if text := c.sample(); strings.Contains(text, "%!") {
			t.Errorf("other parameters: %s", text)
		}
	}
}

func TestASentenceLeadsToItsRemedy(t *testing.T) {
	for _, c := range codes {
		if got := Remedy(c.sample()); c.effect > Failed && got != c.remedy {
			t.Errorf("%s\nleads to %q\nwant %q", c.sample(), got, c.remedy)
		}
	}
	for _, c := range []struct {
		of   Finding
		want string
	}{
		{Of(GoalUnknown, "p99Microseconds", "max 9", Of(NotMeasured)), unknownGoal},
		{Of(GoalUnknown, "p99Microseconds", "max 9", Of(MeasuredMinimum, "8", Of(RecorderSlept))), busyMachine},
		{Of(GoalUnknown, "lagP99Microseconds", "max 9", Of(MeasuredMinimum, "8", Of(NodeBehind))), unknownGoal},
		{Of(RecorderFailed, "disk full\nand more"), recorderLog},
		{Of(GoalMet), ""},
		{Of(EvidenceMissing, "a"), missingEvidence},
	} {
		if got := Remedy(c.of.String()); got != c.want {
			t.Errorf("%s leads to %q, want %q", c.of, got, c.want)
		}
	}
	if got := Remedy("Deployed: image a of container b cannot be pulled."); got != "" {
		t.Errorf("another sentence leads to %q", got)
	}
}

func TestAClauseIsPartOfItsSentence(t *testing.T) {
	whole := Of(GhostsUnknown, "a-db-0", Of(DataDeleted, "crash"))
	if want := "Ghost writes of node a-db-0 are unknown: fault crash deleted its data with its pod."; whole.String() != want {
		t.Errorf("%s, want %s", whole, want)
	}
}
