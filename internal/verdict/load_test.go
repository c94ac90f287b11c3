package verdict

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// judged is what sound evidence gives after a change.
func judged(change func(*evidence.Run)) v1alpha1.ReplicationExperimentStatus {
	e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
	change(&e)
	Judge(e, &s)
	return s
}

func TestClosedLoopComparesTheRecorderWithK6(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*evidence.Run)
		want   *int64
		reason string // "" for none
	}{
		{"both agree with the users that there are", func(*evidence.Run) {}, ptr.To[int64](998), ""},
		{"a recorder that missed requests is found", func(e *evidence.Run) { e.Recorder.Stages[0].Answered = 2900 }, ptr.To[int64](966), "is 0.9657, outside"},
		{"a recorder that counted too many is found", func(e *evidence.Run) { e.Recorder.Stages[0].Answered = 3100 }, ptr.To[int64](1032), "is 1.0323, outside"},
		{"a recorder whose window is wrong is found", func(e *evidence.Run) { e.Recorder.Stages[0].DurationMicroseconds = 62_000_000 }, ptr.To[int64](966), "is 0.9661, outside"},
		{"users that were idle are found", func(e *evidence.Run) { e.K6.Stages[0].IterationMeanMicroseconds = 150_000 }, ptr.To[int64](750), "is 0.7495, outside"},
		{"failed requests kept users busy too", func(e *evidence.Run) { e.Recorder.Stages[0].Succeeded = 10 }, ptr.To[int64](998), ""},
		{"of each of 10 users, one request in 30 may be cut off by the end", func(e *evidence.Run) {
			e.Recorder.Stages[0].Answered, e.K6.Stages[0].IterationMeanMicroseconds = 290, 2_000_000
		}, ptr.To[int64](967), ""},
		{"what is missing beyond that is found", func(e *evidence.Run) {
			e.Recorder.Stages[0].Answered, e.K6.Stages[0].IterationMeanMicroseconds = 285, 2_000_000
		}, ptr.To[int64](950), "is 0.9500, outside"},
		{"users that come at a rate are fewer on average", func(e *evidence.Run) { // 10 users, one a second, in 60 s: 9.25
			e.Spec.Load.Stages[0].SpawnPerSecond = 1
			e.Recorder.Stages[0].Answered = e.Recorder.Stages[0].Answered * 925 / 1000
		}, ptr.To[int64](998), ""},
		{"an open loop has no such law", func(e *evidence.Run) { e.Spec.Load.Stages[0].Users, e.Spec.Load.Stages[0].RequestsPerSecond = nil, 50 }, nil, ""},
		{"a user's own script has stages of its own", func(e *evidence.Run) { e.Spec.Load.Script = &v1alpha1.ScriptSource{} }, nil, ""},
		{"without k6's figures there is nothing to compare", func(e *evidence.Run) { e.K6 = nil }, nil, ""},
		{"a k6 that counted nothing says nothing", func(e *evidence.Run) { e.K6.Stages[0].Iterations = 0 }, nil, ""},
		{"without a window there is no throughput", func(e *evidence.Run) { e.Recorder.Stages[0].DurationMicroseconds = 0 }, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := judged(c.change)
			if got := s.Load.Stages[0].ClosedLoopPermille; (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Errorf("permille is %v, want %v", text(got), text(c.want))
			}
			all := strings.Join(allSaid(s), " ")
			if found := strings.Contains(all, "throughput x"); found != (c.reason != "") || !strings.Contains(all, c.reason) {
				t.Errorf("reasons are %q, want one with %q", s.Reasons, c.reason)
			}
		})
	}
}

func TestALatencyIsUnknownWhereAClosedLoopDoesNotCloseUp(t *testing.T) {
	missed := func(e *evidence.Run) { e.Recorder.Stages[0].Answered, e.Recorder.Stages[0].Trailing = 2900, 100 }
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		metric v1alpha1.Metric
		max    int64
		want   metav1.ConditionStatus
	}{
		"one that holds":                        {func(*evidence.Run) {}, "p99Microseconds", 500_000, "True"},
		"a latency that looks met":              {missed, "p99Microseconds", 500_000, "Unknown"},
		"a latency that looks missed":           {missed, "p99Microseconds", 12_000, "Unknown"},
		"the longest":                           {missed, "maxMicroseconds", 12_000, "Unknown"},
		"a throughput is what the recorder saw": {missed, "failedRequests", 500, "True"},
		"a stage that does not count": {func(e *evidence.Run) {
			missed(e)
			e.Spec.Load.Stages[0].Discard = true
			e.Spec.Load.Stages = append(e.Spec.Load.Stages, v1alpha1.Stage{Name: "open", RequestsPerSecond: 50})
			e.K6.Stages = append(e.K6.Stages, wire.K6StageSummary{Name: "open"})
		}, "p99Microseconds", 500_000, "True"},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) {
				c.change(e)
				e.Spec.Goals = []v1alpha1.Goal{{Metric: c.metric, Max: &c.max}}
			})
			if s.Goals[0].Met != c.want {
				t.Errorf("goal is %+v, want %s", s.Goals[0], c.want)
			}
			if why := "in stage steady the clients' requests do not add up"; (c.want == "Unknown") != strings.Contains(s.Reasons[0], why) {
				t.Errorf("reason %q, want %q in it: %v", s.Reasons[0], why, c.want == "Unknown")
			}
		})
	}
}

func TestAClosedLoopThatDoesNotCloseUpLeavesTheRunAlone(t *testing.T) {
	s := judged(func(e *evidence.Run) { e.Recorder.Stages[0].Answered = 2900 })
	if s.Verdict != v1alpha1.VerdictPassed || s.Load.Stages[0].ClosedLoopHolds != metav1.ConditionFalse {
		t.Errorf("verdict %s, stage %+v: %q", s.Verdict, s.Load.Stages[0], s.Reasons)
	}
	if s = judged(func(*evidence.Run) {}); s.Load.Stages[0].ClosedLoopHolds != metav1.ConditionTrue {
		t.Errorf("stage %+v", s.Load.Stages[0])
	}
}

func text(n *int64) any {
	if n == nil {
		return "absent"
	}
	return *n
}

func TestThroughputIsOfWhatSucceededWithinTheWindow(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		e.Recorder.Load = wire.StageResult{Requests: 5000, Failures: 1000, DurationMicroseconds: 40_000_400, Answered: 4500, Succeeded: 3600}
	})
	if l := s.Load; l.Requests != 5000 || l.Failures != 1000 || *l.RequestsPerSecond != 90 || *l.DurationMilliseconds != 40_000 {
		t.Errorf("load is %+v, %s per second over %v ms", l, text(l.RequestsPerSecond), text(l.DurationMilliseconds))
	}
}

func TestReasonsSayWhatTheFiguresOfALoadLeaveOut(t *testing.T) {
	steady := func(e *evidence.Run) *wire.StageResult { return &e.Recorder.Stages[0] }
	for _, c := range []struct {
		name    string
		change  func(*evidence.Run)
		reasons []string // of those that are about the load, in part
	}{
		{"nothing when there is nothing to say", func(*evidence.Run) {}, nil},
		{"failures beyond one in a hundred", func(e *evidence.Run) { e.Recorder.Load.Failures = 31 }, []string{"31 of 3000 requests failed: requestsPerSecond counts the others"}},
		{"no failures up to one in a hundred", func(e *evidence.Run) { e.Recorder.Load.Failures = 30 }, nil},
		{"a recorder that was paused for more than one in a hundred", func(e *evidence.Run) {
			steady(e).PausedMicroseconds, e.Recorder.Load.PausedMicroseconds, e.Recorder.Load.PausedRequests = 600_001, 600_001, 31
		}, []string{"was paused for 601 of 60000 ms, when about 31 of 3000 requests came: high percentiles", "Stage steady: the recorder was paused for 601 of 60000 ms"}},
		{"a recorder that was paused for little time and many requests", func(e *evidence.Run) {
			e.Recorder.Load.PausedMicroseconds, e.Recorder.Load.PausedRequests = 300_000, 300
		}, []string{"was paused for 300 of 60000 ms, when about 300 of 3000 requests came"}},
		{"not one that hardly did", func(e *evidence.Run) {
			steady(e).PausedMicroseconds, e.Recorder.Load.PausedMicroseconds = 600_000, 600_000
		}, nil},
		{"a stage that was cut short", func(e *evidence.Run) { steady(e).DurationMicroseconds, steady(e).Answered = 30_000_000, 1500 }, []string{
			"Stage steady received requests for 30000 ms instead of 60000 ms",
			"Stage steady: 1500 of 3000 requests were answered after its end",
		}},
		{"a stage that was discarded may have any length", func(e *evidence.Run) {
			e.Spec.Load.Stages[0].Discard, steady(e).Discarded = true, true
			steady(e).DurationMicroseconds, steady(e).Answered = 30_000_000, 1500
		}, nil},
		{"many answers after the end of a stage", func(e *evidence.Run) { steady(e).Answered = 2849 }, []string{"Stage steady: 151 of 3000 requests were answered after its end"}},
		{"not a few of them", func(e *evidence.Run) { steady(e).Answered = 2850 }, nil},
		{"a stage without a request", func(e *evidence.Run) {
			e.Recorder.Stages = append(e.Recorder.Stages, wire.StageResult{Name: "later"})
		}, []string{"Stage later had no request"}},
		{"requests that name no stage, in a discarded one too", func(e *evidence.Run) {
			steady(e).Unnamed = 2000
			e.Recorder.Stages = append(e.Recorder.Stages, wire.StageResult{Name: "warmup", Discarded: true, Requests: 9, Unnamed: 9})
			e.K6.Stages = append(e.K6.Stages, wire.K6StageSummary{Name: "warmup", Requests: 9})
		}, []string{"2009 requests named no stage"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) {
				e.Spec.Load.Stages[0].Users, e.Spec.Load.Stages[0].RequestsPerSecond = nil, 50 // the closed loop's check has a test of its own
				c.change(e)
			})
			about := slices.DeleteFunc(allSaid(s), func(r string) bool {
				return !strings.Contains(r, "request") && !strings.HasPrefix(r, "Stage ") && !strings.Contains(r, "was paused for")
			})
			if len(about) != len(c.reasons) {
				t.Fatalf("reasons about the load are %q, want %q", about, c.reasons)
			}
			for i, want := range c.reasons {
				if !strings.Contains(about[i], want) {
					t.Errorf("reason %q, want %q in it", about[i], want)
				}
			}
		})
	}
}

func TestAStageWithoutARequestHasNoFigures(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		e.Recorder.Stages = append(e.Recorder.Stages, wire.StageResult{Name: "later"})
	})
	if l := s.Load.Stages[1]; l.DurationMilliseconds != nil || l.RequestsPerSecond != nil || l.Latency != nil || l.ClosedLoopPermille != nil {
		t.Errorf("stage later is %+v", l)
	}
}

func TestAStageAtRestIsNoEmptyStage(t *testing.T) {
	for users, notes := range map[int64]bool{0: false, 1: true} {
		s := judged(func(e *evidence.Run) {
			e.Spec.Load.Stages = append(e.Spec.Load.Stages, v1alpha1.Stage{Name: "idle", DurationSeconds: 10, Users: &users})
			e.Recorder.Stages = append(e.Recorder.Stages, wire.StageResult{Name: "idle"})
			e.K6.Stages = append(e.K6.Stages, wire.K6StageSummary{Name: "idle", Iterations: 1, IterationMeanMicroseconds: 10_000_000})
		})
		idle := s.Load.Stages[1]
		if idle.RequestsPerSecond != nil || idle.Latency != nil || idle.ClosedLoopPermille != nil || (idle.DroppedIterations == nil) == notes {
			t.Errorf("%d users: %+v", users, idle)
		}
		if said := strings.Contains(strings.Join(allSaid(s), " "), "Stage idle had no request"); said != notes {
			t.Errorf("%d users: it says that the stage is empty: %v", users, said)
		}
		if users == 0 && s.Verdict != v1alpha1.VerdictPassed {
			t.Errorf("the verdict is %s: %v", s.Verdict, allSaid(s))
		}
	}
}
