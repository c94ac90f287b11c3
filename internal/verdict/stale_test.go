package verdict

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

func TestReadsOfLostUsersAreNotStale(t *testing.T) {
	users := []wire.StaleUser{{WriteID: 3, Reads: 1}, {WriteID: 7, Reads: 3}}
	for name, c := range map[string]struct {
		all   int64
		users []wire.StaleUser
		lost  int64
		ids   []uint64
		want  int64 // -1: not stated
	}{
		"without a loss all are stale":                       {4, users, 0, nil, 4},
		"reads of the lost are left out":                     {4, users, 2, []uint64{7, 8}, 1},
		"losses that nobody read leave all":                  {4, users, 1, []uint64{5}, 4},
		"not all of the lost are known":                      {4, users, 3, []uint64{7, 8}, -1},
		"not all of those that were not found are known":     {5, users, 2, []uint64{7, 8}, -1},
		"a loss in which no read failed to find its user: 0": {0, nil, 2, []uint64{7, 8}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
			e.Recorder.StaleReads, e.Recorder.StaleUsers = c.all, c.users
			e.Audit.Writes.Lost, e.Audit.Writes.LostIDs = c.lost, c.ids
			Judge(e, &s)
			if got := ptr.Deref(s.Load.StaleReads, -1); got != c.want {
				t.Errorf("%d stale reads, want %d", got, c.want)
			}
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "staleReads", Max: ptr.To(c.want)}}
			if Judge(e, &s); (s.Goals[0].Met == "True") != (c.want == c.all) {
				t.Errorf("goal %+v: with reads of lost users among them %d is a lower bound", s.Goals[0], c.want)
			}
			if says := strings.Contains(strings.Join(allSaid(s), " "), "Stale reads are not reported"); says != (c.want < 0) {
				t.Errorf("the reasons are %q", s.Reasons)
			}
		})
	}
}

// TestStaleReadsOfDiscardedStages: an older recorder counted these too, and only failed reads can be stale.
func TestStaleReadsOfDiscardedStages(t *testing.T) {
	for failed, want := range map[int64]int64{0: 0, 3: -1, 4: 4, 9: 4} {
		e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
		e.Recorder.StaleReads = 4
		for i := range e.Recorder.Stages {
			e.Recorder.Stages[i].Operations = []wire.OperationResult{{Name: wire.OperationProfile}}
		}
		e.Recorder.Stages[len(e.Recorder.Stages)-1].Operations[0].Failures = failed
		Judge(e, &s)
		if got := ptr.Deref(s.Load.StaleReads, -1); got != want {
			t.Errorf("of %d failed reads %d are stale, want %d", failed, got, want)
		}
		if says := strings.Contains(strings.Join(allSaid(s), " "), "older recorder"); says != (want < 0) {
			t.Errorf("of %d failed reads the notes are %q", failed, s.Notes)
		}
	}
}

// A goal that nothing could have broken is not met.
func TestAGoalOnACountNeedsSomethingToCount(t *testing.T) {
	for metric, change := range map[v1alpha1.Metric]func(*evidence.Run){
		"staleReads": func(e *evidence.Run) { e.Recorder.CheckedReads = 0 },
		"failedRequests": func(e *evidence.Run) {
			e.Recorder.Load.Requests, e.Recorder.Load.Failures = 0, 0
		},
		"rejectedWrites": func(e *evidence.Run) {
			e.Recorder.Writes, e.K6.Registered, e.Audit.Writes = wire.LedgerCounts{}, 0, &wire.WriteSets{Balanced: true}
		},
		"indeterminateWrites": func(e *evidence.Run) {
			e.Recorder.Writes, e.K6.Registered, e.Audit.Writes = wire.LedgerCounts{}, 0, &wire.WriteSets{Balanced: true}
		},
	} {
		goal := func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: metric, Max: ptr.To[int64](1_000)}}
		}
		if s := judged(goal); s.Goals[0].Met != "True" {
			t.Errorf("%s with something to count: %+v", metric, s.Goals[0])
		}
		s := judged(func(e *evidence.Run) {
			goal(e)
			change(e)
		})
		if s.Goals[0].Met != "Unknown" || s.Goals[0].Measured != nil || s.Verdict != v1alpha1.VerdictInconclusive {
			t.Errorf("%s with nothing to count: %+v, verdict %s", metric, s.Goals[0], s.Verdict)
		}
	}
}
