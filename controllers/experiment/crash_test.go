package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/test/experiment"
)

const semisync = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationExperiment
metadata: {name: semisync}
spec:
  topology: {type: SemiSync, nodes: 3}
  load: {stages: [{name: steady, durationSeconds: 40, users: 10}]}
  faults: [{name: crash, atSeconds: 15, target: Primary, action: Kill, holdSeconds: 10}]
  goals: [{metric: lostWrites, max: 0}]
  keep: Never
`

// stopAfterEach plays the experiment once for each write of the operator, which is stopped after it, at the same time in worlds of their
// own, changed unless change is nil. It returns when all have ended and were checked.
func stopAfterEach(t *testing.T, writes int, text string, change func(*world), check func(*testing.T, outcome)) {
	t.Helper()
	if change == nil {
		change = func(*world) {}
	}
	whole := calm(t, experiment.Parse(t, []byte(text)), change)
	if whole.writes != writes {
		t.Errorf("%d writes, and %d in the run before", whole.writes, writes)
	}
	t.Run("stopped", func(t *testing.T) {
		for n := 1; n <= writes; n++ {
			t.Run(fmt.Sprintf("after write %d", n), func(t *testing.T) {
				t.Parallel()
				f, end := whole.from(t, func(m moment) bool { return m.world.writes >= n }, func(f *flaky) { f.crashAt = n })
				check(t, outcomeOf(end, f.world))
			})
		}
	})
}

// TestAStoppedOperatorNeitherRepeatsNorForgets stops the operator after each of its writes in turn, also those of the
// status, and starts another: faults, load and verdict must be those of an operator that was never stopped.
func TestAStoppedOperatorNeitherRepeatsNorForgets(t *testing.T) {
	want, writes := carryOut(t, semisync)
	if want.Verdict != v1alpha1.VerdictPassed || want.Kills != 1 || want.Loads != 1 || len(want.Faults) != 1 || want.Ghosts != 1 {
		t.Fatalf("without a stop the run came to %+v", want)
	}
	if writes < 40 {
		t.Fatalf("the run made %d writes only: does the world still count them?", writes)
	}
	stopAfterEach(t, writes, semisync, nil, func(t *testing.T, got outcome) {
		if !cmp.Equal(want, got) {
			t.Error(cmp.Diff(want, got))
		}
	})
}

var far = strings.Replace(semisync, "nodes: 3}", "nodes: 3, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2]}], links: [{from: eu, to: us, roundTripMilliseconds: 87}]}", 1)

// TestAStoppedOperatorKeepsTheDistance: the links are set, measured and ended once each, whenever it is stopped.
func TestAStoppedOperatorKeepsTheDistance(t *testing.T) {
	want, writes := carryOut(t, far)
	if want.Verdict != v1alpha1.VerdictPassed {
		t.Fatalf("without a stop the run came to %+v", want)
	}
	stopAfterEach(t, writes, far, nil, func(t *testing.T, got outcome) {
		if !cmp.Equal(want, got) {
			t.Error(cmp.Diff(want, got))
		}
	})
}

// TestAStoppedOperatorSetsTheLinksAfterStagesWithoutDistance: what is set in time is set once, whenever the operator is stopped.
func TestAStoppedOperatorSetsTheLinksAfterStagesWithoutDistance(t *testing.T) {
	withoutFirst := strings.Replace(far, "stages: [", "stages: [{name: base, durationSeconds: 5, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}, ", 1)
	want, writes := carryOut(t, withoutFirst)
	if want.Verdict != v1alpha1.VerdictPassed {
		t.Fatalf("without a stop the run came to %+v", want)
	}
	stopAfterEach(t, writes, withoutFirst, nil, func(t *testing.T, got outcome) {
		if !cmp.Equal(want, got) {
			t.Error(cmp.Diff(want, got))
		}
	})
}

// TestADistanceThatIsNotReachedEndsTheRunBeforeItsLoad, which would be wasted.
func TestADistanceThatIsNotReachedEndsTheRunBeforeItsLoad(t *testing.T) {
	got, _ := carryOut(t, far, func(w *world) { w.tripOff = 4_100 })
	if got.Verdict != v1alpha1.VerdictInconclusive || got.Loads != 0 || !strings.Contains(got.Reasons, "is to be 87000 µs, and is 91400 µs") {
		t.Errorf("%+v", got)
	}
	if got, _ := carryOut(t, far, func(w *world) { w.tripOff = 4_000 }); got.Verdict != v1alpha1.VerdictPassed {
		t.Errorf("a distance that is 4.3 ms longer than 87 ms: %s: %s", got.Verdict, got.Reasons)
	}
}

// TestADistanceThatWasNotKeptIsInconclusive by what the agents tell in the end.
func TestADistanceThatWasNotKeptIsInconclusive(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world)
		says   string
	}{
		"packets that were dropped":      {func(w *world) { w.droppedPackets = 3 }, "3 packets that were to be delayed at semisync-db-0 were dropped"},
		"an agent that was started anew": {func(w *world) { w.restartsAt = 20 * time.Second }, "The links of semisync-db-0 failed: its agent restarted, and delayed nothing meanwhile"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := carryOut(t, far, c.change)
			if got.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(got.Reasons, c.says) {
				t.Errorf("%s: %s", got.Verdict, got.Reasons)
			}
		})
	}
}

// TestAnAlteredPodEndsTheRun: clients of the recorder would reach a node, or a node's agent would be another's program.
func TestAnAlteredPodEndsTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		alter func(*corev1.Pod)
		says  string
	}{
		"a label": {func(p *corev1.Pod) { p.Labels[kube.LabelComponent] = kube.ComponentRecorder }, `Label app.kubernetes.io/component of pod semisync-db-1 is "recorder"`},
		"an image": {func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "copy", Image: "evil:1"}, {Name: "agent", Image: "replab:1"}}
		}, "in container copy of pod semisync-db-1"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := carryOut(t, semisync, func(w *world) { w.alter = c.alter })
			if got.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(got.Reasons, c.says) {
				t.Errorf("%s: %s", got.Verdict, got.Reasons)
			}
		})
	}
}

// TestAPodThatTakesAnotherExperimentsLabelEndsTheRun: it leaves the run's sight, and may join the other's Services.
func TestAPodThatTakesAnotherExperimentsLabelEndsTheRun(t *testing.T) {
	got, _ := carryOut(t, semisync, func(w *world) { w.relabelled = true })
	if says := `Label replab.dev/experiment of pod semisync-db-1 is "", not "semisync"`; got.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(got.Reasons, says) {
		t.Errorf("%s: %s", got.Verdict, got.Reasons)
	}
}

// TestAPodThatWasAtNoDistanceInTheLoadIsInconclusive where that took too long.
func TestAPodThatWasAtNoDistanceInTheLoadIsInconclusive(t *testing.T) {
	text := strings.Replace(far, "action: Kill, holdSeconds: 10", "action: DeletePod", 1)
	const says = "A node's replacement pod ran for up to"
	if got, _ := carryOut(t, text); strings.Contains(got.Reasons, says) {
		t.Errorf("one whose links were set at once: %s: %s", got.Verdict, got.Reasons)
	}
	got, _ := carryOut(t, text, func(w *world) { w.undelayed = 10 * time.Second })
	if got.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(got.Reasons, says) {
		t.Errorf("one whose links were set late: %s: %s", got.Verdict, got.Reasons)
	}
}

// together has three nodes hit at the same moment, and two k6 pods.
const together = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationExperiment
metadata: {name: together}
spec:
  topology: {type: SemiSync, nodes: 3}
  load: {parallelism: 2, stages: [{name: steady, durationSeconds: 40, users: 10}]}
  faults:
  - {name: stop, atSeconds: 15, target: AllReplicas, action: Pause, holdSeconds: 5}
  - {name: crash, atSeconds: 15, target: Primary, action: Kill, holdSeconds: 10}
  keep: Never
`

// TestWhatIsDueTogetherIsStartedTogether stops the operator also between the faults of one moment, and between its k6 pods: what was
// started is not started again, and what was not still is.
func TestWhatIsDueTogetherIsStartedTogether(t *testing.T) {
	whole := &world{}
	want, writes := carryOut(t, together, func(w *world) { whole = w })
	if want.Verdict != v1alpha1.VerdictPassed || want.Kills != 3 || want.Loads != 2 || len(want.Faults) != 3 {
		t.Fatalf("without a stop the run came to %+v", want)
	}
	for name, f := range whole.faults {
		if !f.InjectedAt.Equal(whole.faults["crash"].InjectedAt) {
			t.Errorf("%s was started at %s, the others at %s", name, f.InjectedAt, whole.faults["crash"].InjectedAt)
		}
	}
	if len(slices.Compact(slices.Collect(maps.Values(whole.begun)))) != 1 {
		t.Errorf("the k6 pods began at %v", whole.begun)
	}
	stopAfterEach(t, writes, together, nil, func(t *testing.T, got outcome) {
		if !cmp.Equal(want, got) {
			t.Error(cmp.Diff(want, got))
		}
	})
}

// TestALoadThatHasBegunWithoutAnotherPodEnds stops the operator for long: k6 pods that would begin minutes after the others do not.
func TestALoadThatHasBegunWithoutAnotherPodEnds(t *testing.T) {
	_, writes := carryOut(t, together)
	var torn atomic.Int32
	stopAfterEach(t, writes, together, longAway, func(t *testing.T, got outcome) {
		if got.Loads == 1 && got.Verdict == v1alpha1.VerdictInconclusive && strings.Contains(got.Reason, "1 of 2 k6 pods still waited") {
			torn.Add(1)
		} else if got.Loads != 2 {
			t.Errorf("%d k6 pods began: %s: %s", got.Loads, got.Verdict, got.Reason)
		}
	})
	if n := torn.Load(); n != 1 {
		t.Errorf("%d stops left one pod behind, want 1: the one between the two", n)
	}
}

// TestAStatusWrittenOnOldNewsIsRefused lets another writer come first before each status write: the step's decision was taken on an
// old status, and must be taken anew.
func TestAStatusWrittenOnOldNewsIsRefused(t *testing.T) {
	want, _ := carryOut(t, semisync)
	if got, _ := carryOut(t, semisync, func(w *world) { w.disturbed = true }); !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}
}

var deletion = strings.Replace(semisync, "action: Kill, holdSeconds: 10", "action: DeletePod", 1)

// TestTheOperatorMeasuresItsClockWhenItDeletesAPod: the moment of the deletion is by that clock.
func TestTheOperatorMeasuresItsClockWhenItDeletesAPod(t *testing.T) {
	got, _ := carryOut(t, deletion, func(w *world) { w.ahead = 900 * time.Millisecond })
	if want := "clock ahead by 899999 to 900001 µs"; len(got.Faults) != 1 || !strings.HasSuffix(got.Faults[0], want) {
		t.Errorf("faults %q, want one with its %s", got.Faults, want)
	}
}

// TestADeletedPodIsDeletedOnce stops the operator after each write of a run that deletes a pod. The moment of a deletion that nobody
// wrote down is lost: then the verdict is Inconclusive and says so, and no second pod is deleted.
func TestADeletedPodIsDeletedOnce(t *testing.T) {
	want, writes := carryOut(t, deletion)
	if want.Verdict != v1alpha1.VerdictPassed || want.Kills != 1 {
		t.Fatalf("without a stop the run came to %+v", want)
	}
	var unknown atomic.Int32
	stopAfterEach(t, writes, deletion, nil, func(t *testing.T, got outcome) {
		if got.Kills != 1 || got.Loads != 1 {
			t.Errorf("%d deletions, %d loads", got.Kills, got.Loads)
		}
		if got.Verdict == v1alpha1.VerdictInconclusive && strings.Contains(got.Reason, "operator was stopped while deleting it") {
			unknown.Add(1)
		} else if !cmp.Equal(want, got) {
			t.Error(cmp.Diff(want, got))
		}
	})
	if n := unknown.Load(); n != 1 {
		t.Errorf("%d stops left the moment of the deletion unknown, want 1: the one right after it", n)
	}
}

// TestAReplicaThatNeverCatchesUpDoesNotHoldTheRun ends with the figures of the primary, Inconclusive, and says what was found, once.
func TestAReplicaThatNeverCatchesUpDoesNotHoldTheRun(t *testing.T) {
	got, _ := carryOut(t, semisync, func(w *world) { w.stuck = true })
	if n := strings.Count(got.Reasons, "had not come to rest before the audit: semisync-db-2"); n != 1 || got.Kills != 1 || got.Verdict != v1alpha1.VerdictInconclusive {
		t.Errorf("%s; said %d times, want once: %s", got.Verdict, n, got.Reasons)
	}
}

// longAway has nobody start another operator for long.
func longAway(w *world) { w.away = 2 * time.Minute }

// TestNoFaultIsInjectedAfterTheLoad stops the operator for longer than the load: a fault that was not injected by then never is, and one
// that was is not denied.
func TestNoFaultIsInjectedAfterTheLoad(t *testing.T) {
	for name, text := range map[string]string{"kill": semisync, "delete": deletion} {
		t.Run(name, func(t *testing.T) {
			_, writes := carryOut(t, text)
			var missed atomic.Int32
			stopAfterEach(t, writes, text, longAway, func(t *testing.T, got outcome) {
				switch {
				case got.Kills == 0 && got.Verdict == v1alpha1.VerdictInconclusive && strings.Contains(got.Reason, "it was not injected: the load had ended"):
					missed.Add(1)
				case got.Kills != 1 || strings.Contains(got.Reasons, "it was not injected"):
					t.Errorf("%d kills, %s: %s", got.Kills, got.Verdict, got.Reasons)
				}
			})
			if missed.Load() == 0 {
				t.Error("no stop made the operator miss its fault: is it still away long enough?")
			}
		})
	}
}
