package k6

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/wire"
)

func TestParseSummary(t *testing.T) {
	const good = `{"v":1,"requests":10,"failed":2,"registered":3,"registeredKnown":true,"dropped":1,"stages":[{"name":"a","requests":9,"failed":2,"iterations":9,"iterationMeanMicroseconds":1500,"dropped":1}]}`
	long := `{"v":1,"requests":10,"stages":[` + strings.Repeat(`{"name":"stage-with-a-name","iterations":9},`, 200)
	for _, c := range []struct {
		name, message string
		want          string // part of the error, "" for none
	}{
		{"a summary is read", good, ""},
		{"a newline at its end does no harm", good + "\n", ""},
		{"an empty message says that there is no summary", " \n", "left no summary"},
		{"a summary that the kubelet cut off", long[:4096], "was cut at 4096 bytes"},
		{"a short summary that was cut off", good[:40], "was cut"},
		{"a log line instead of a summary", "panic: something", "begins with \"panic"},
		{"a field that is not known", `{"v":1,"request":10}`, "request"},
		{"another version", `{"v":2,"requests":0,"failed":0,"registered":0,"registeredKnown":false,"dropped":0}`, "version is 2"},
		{"no version", `{}`, "version is 0"},
		{"more than one document", good + good, "more after"},
		{"a missing count is not 0", `{"v":1,"requests":3,"failed":0,"registered":0,"registeredKnown":false}`, "missing"},
		{"a missing figure of a stage is not 0", `{"v":1,"requests":0,"failed":0,"registered":0,"registeredKnown":false,"dropped":0,"stages":[{"name":"a","requests":9,"failed":2,"iterations":1,"dropped":0}]}`, "missing"},
		{"a misspelt count", `{"v":1,"requests":0,"Failed":0,"registered":0,"registeredKnown":false,"dropped":0}`, "misspelt"},
		{"a null", `{"v":1,"requests":0,"failed":null,"registered":0,"registeredKnown":false,"dropped":0}`, "missing"},
		{"a negative count", `{"v":1,"requests":-1,"failed":0,"registered":0,"registeredKnown":false,"dropped":0}`, "-1"},
		{"a count beyond what JavaScript counts", `{"v":1,"requests":9007199254740992,"failed":0,"registered":0,"registeredKnown":false,"dropped":0}`, "9007199254740992"},
		{"a fraction", `{"v":1,"requests":1.5}`, "1.5"},
		{"more failures than requests", `{"v":1,"requests":1,"failed":2,"registered":0,"registeredKnown":false,"dropped":0}`, "2 of 1"},
		{"more registered than succeeded", `{"v":1,"requests":3,"failed":2,"registered":2,"registeredKnown":true,"dropped":0}`, "registered"},
		{"registered and not known", `{"v":1,"requests":3,"failed":0,"registered":2,"registeredKnown":false,"dropped":0}`, "does not"},
		{"a stage twice", `{"v":1,"requests":0,"failed":0,"registered":0,"registeredKnown":false,"dropped":0,"stages":[{"name":"a","requests":9,"failed":2,"iterations":0,"iterationMeanMicroseconds":0,"dropped":0},{"name":"a","requests":9,"failed":2,"iterations":0,"iterationMeanMicroseconds":0,"dropped":0}]}`, "twice"},
		{"a stage without a name", `{"v":1,"requests":0,"failed":0,"registered":0,"registeredKnown":false,"dropped":0,"stages":[{"name":"","requests":9,"failed":2,"iterations":0,"iterationMeanMicroseconds":0,"dropped":0}]}`, "no name"},
		{"a stage with more failures than requests", `{"v":1,"requests":0,"failed":0,"registered":0,"registeredKnown":false,"dropped":0,"stages":[{"name":"a","requests":1,"failed":2,"iterations":1,"iterationMeanMicroseconds":5,"dropped":0}]}`, "2 of 1 requests of stage a"},
		{"a stage with a negative mean", `{"v":1,"requests":0,"failed":0,"registered":0,"registeredKnown":false,"dropped":0,"stages":[{"name":"a","requests":9,"failed":2,"iterations":1,"iterationMeanMicroseconds":-5,"dropped":0}]}`, "-5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := ParseSummary([]byte(c.message))
			if c.want == "" {
				if err != nil || s.Requests != 10 || s.Stages[0].IterationMeanMicroseconds != 1500 {
					t.Fatalf("got %+v, %v", s, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error is %v, want one with %q", err, c.want)
			}
			if !cmp.Equal(wire.K6Summary{}, s) {
				t.Fatalf("an unreadable summary has figures: %+v", s)
			}
		})
	}
}

func FuzzParseSummary(f *testing.F) {
	f.Add([]byte(`{"v":1,"requests":10,"failed":2,"registered":3,"registeredKnown":true,"dropped":1,"stages":[{"name":"a","requests":9,"failed":2,"iterations":9}]}`))
	f.Add([]byte(`{"v":1,"stages":[{"name":"a","requests":9,"failed":2,"iterations":9007199254740991,"iterationMeanMicroseconds":9007199254740991}]}`))
	f.Add([]byte(`{"v":1,"requests":`))
	f.Add([]byte("\x00\xff"))
	f.Fuzz(func(t *testing.T, message []byte) {
		s, err := ParseSummary(message)
		if err != nil {
			return
		}
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if read, err := ParseSummary(again); err != nil || !cmp.Equal(s, read) {
			t.Fatalf("%+v was read again as %+v, %v", s, read, err)
		}
		merged := Merge([]wire.K6Summary{s, s})
		if merged.Requests != 2*s.Requests || len(merged.Stages) != len(s.Stages) {
			t.Fatalf("%+v and itself were merged into %+v", s, merged)
		}
		for i, stage := range merged.Stages {
			if difference := float64(stage.IterationMeanMicroseconds - s.Stages[i].IterationMeanMicroseconds); s.Stages[i].Iterations > 0 && math.Abs(difference) > 1 {
				t.Fatalf("the mean of %+v twice is %+v", s.Stages[i], stage)
			}
		}
	})
}

// Whatever is cut off a real summary, the rest must not be read as one.
func TestEveryCutOfASummaryIsAnError(t *testing.T) {
	message := `{"v":1,"requests":10,"failed":0,"registered":0,"registeredKnown":true,"dropped":0,"stages":[{"name":"a","requests":9,"failed":2,"iterations":10,"iterationMeanMicroseconds":1,"dropped":0}]}`
	for length := range len(message) {
		if s, err := ParseSummary([]byte(message[:length])); err == nil {
			t.Fatalf("%s was read as %+v", message[:length], s)
		}
	}
}

func TestMerge(t *testing.T) {
	stage := func(name string, iterations, mean, dropped int64) wire.K6StageSummary {
		return wire.K6StageSummary{Name: name, Requests: iterations + 2, FailedRequests: 1, Iterations: iterations, IterationMeanMicroseconds: mean, DroppedIterations: dropped}
	}
	sum := func(s wire.K6StageSummary) wire.K6StageSummary { // of two pods
		s.Requests, s.FailedRequests = s.Requests+2, s.FailedRequests+1
		return s
	}
	pod := func(registered int64, known bool, stages ...wire.K6StageSummary) wire.K6Summary {
		return wire.K6Summary{Version: 1, Requests: 100, FailedRequests: 10, Registered: registered, RegisteredKnown: known, DroppedIterations: 5, Stages: stages}
	}
	for _, c := range []struct {
		name string
		pods []wire.K6Summary
		want wire.K6Summary
	}{
		{"one pod is itself", []wire.K6Summary{pod(7, true, stage("a", 3, 1000, 1))}, pod(7, true, stage("a", 3, 1000, 1))},
		{
			"counts add up and means are weighted, not averaged",
			[]wire.K6Summary{pod(7, true, stage("a", 1, 1000, 1), stage("b", 5, 10, 0)), pod(1, true, stage("a", 3, 2000, 2), stage("b", 0, 0, 4))},
			wire.K6Summary{
				Version: 1, Requests: 200, FailedRequests: 20, Registered: 8, RegisteredKnown: true, DroppedIterations: 10,
				Stages: []wire.K6StageSummary{sum(stage("a", 4, 1750, 3)), sum(stage("b", 5, 10, 4))},
			},
		},
		{
			"one pod that did not count makes the sum unknown",
			[]wire.K6Summary{pod(7, true), pod(0, false)},
			wire.K6Summary{Version: 1, Requests: 200, FailedRequests: 20, DroppedIterations: 10},
		},
		{
			"means of large counts do not overflow",
			[]wire.K6Summary{pod(0, true, stage("a", 1e15, 1e15, 0)), pod(0, true, stage("a", 1e15, 1e15, 0))},
			wire.K6Summary{
				Version: 1, Requests: 200, FailedRequests: 20, RegisteredKnown: true, DroppedIterations: 10,
				Stages: []wire.K6StageSummary{sum(stage("a", 2e15, 1e15, 0))},
			},
		},
		{"no pod knows nothing", nil, wire.K6Summary{Version: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Merge(c.pods)); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrapperNamesTheScriptSafely(t *testing.T) {
	text := Wrapper(`a"b.js`)
	want := fmt.Sprintf("from %s;", `"/scripts/user/a\"b.js"`)
	if strings.Count(text, want) != 2 || strings.Contains(text, "USER_SCRIPT") {
		t.Fatalf("wrapper is\n%s", text)
	}
}
