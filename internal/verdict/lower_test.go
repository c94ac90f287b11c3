package verdict

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

func TestEachStagesPercentilesCarryTheirOwnMarks(t *testing.T) {
	all := []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max}
	last := all[2:]
	for name, c := range map[string]struct {
		change      func(*evidence.Run)
		dropped     *int64 // in the stage steady
		lower, load []v1alpha1.Percentile
	}{
		"none without a reason": {func(*evidence.Run) {}, ptr.To[int64](0), nil, nil},
		"what the recorder marks": {func(e *evidence.Run) {
			e.Recorder.Stages[0].Latency.LowerBounds = []v1alpha1.Percentile{v1alpha1.P99, v1alpha1.Max}
		}, ptr.To[int64](0), []v1alpha1.Percentile{v1alpha1.P99, v1alpha1.Max}, nil},
		"those among which unsent requests fall": {func(e *evidence.Run) {
			e.K6.Stages[0].DroppedIterations = 3
		}, ptr.To[int64](3), last, last},
		"more where more were not sent": {func(e *evidence.Run) {
			e.K6.Stages[0].DroppedIterations = 200
		}, ptr.To[int64](200), all[1:], all[1:]},
		"all where most were not sent": {func(e *evidence.Run) {
			e.K6.Stages[0].DroppedIterations = 3000
		}, ptr.To[int64](3000), all, all},
		"none for what another stage did not send, but of both together": {func(e *evidence.Run) {
			e.Spec.Load.Stages = append(e.Spec.Load.Stages, v1alpha1.Stage{Name: "open", RequestsPerSecond: 50, DurationSeconds: 60})
			e.K6.Stages = append(e.K6.Stages, wire.K6StageSummary{Name: "open", DroppedIterations: 3})
		}, ptr.To[int64](0), nil, last},
		"all where nobody knows what was sent": {func(e *evidence.Run) { e.K6 = nil }, nil, all, all},
		"none where a script of one's own dropped nothing": {func(e *evidence.Run) {
			e.Spec.Load.Script, e.K6.Stages = &v1alpha1.ScriptSource{}, nil
		}, ptr.To[int64](0), nil, nil},
		"all where a script of one's own dropped something somewhere": {func(e *evidence.Run) {
			e.Spec.Load.Script, e.K6.Stages, e.K6.DroppedIterations = &v1alpha1.ScriptSource{}, nil, 2
		}, nil, all, last},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) {
				e.Recorder.Stages[0].Latency = &wire.Latency{P99Microseconds: 12_001}
				c.change(e)
			})
			l := s.Load
			if diff := cmp.Diff(c.lower, lowerOf(s, "load.stages[steady].latency.")); diff != "" {
				t.Errorf("lower bounds of the stage (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.load, lowerOf(s, "load.latency.")); diff != "" {
				t.Errorf("lower bounds of all (-want +got):\n%s", diff)
			}
			if text(l.Stages[0].DroppedIterations) != text(c.dropped) {
				t.Errorf("%v requests were not sent in the stage, want %v", text(l.Stages[0].DroppedIterations), text(c.dropped))
			}
		})
	}
}

// An unsent request is slower than all: the median lies at a later rank, between the values that are known.
func TestUnsentRequestsMoveThePercentilesBelowThem(t *testing.T) {
	for dropped, want := range map[int64]string{0: "exact exact exact exact", 1: "100 to 200 200 to 300 at least 300 at least 400", 2999: "100 to 400 at least 200 at least 300 at least 400"} {
		s := judged(func(e *evidence.Run) {
			e.Recorder.Load.Failures, e.K6.Stages[0].DroppedIterations = 0, dropped
			e.Recorder.Load.Latency = &wire.Latency{P50Microseconds: 100, P95Microseconds: 200, P99Microseconds: 300, MaxMicroseconds: 400}
		})
		var got []string
		for _, p := range []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max} {
			got = append(got, boundsOf(s, "load.latency."+string(p)))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%d unsent: %s, want %s", dropped, text, want)
		}
	}
}

func TestAMeanLeavesOutWhatFailed(t *testing.T) {
	for name, c := range map[string]struct {
		failures, dropped int64
		want              string
	}{
		"nothing":           {0, 0, "exact"},
		"failed requests":   {10, 0, "at least 5000"},
		"requests not sent": {0, 1, "at least 5000"},
	} {
		s := judged(func(e *evidence.Run) {
			e.Recorder.Load.Failures, e.K6.Stages[0].DroppedIterations, e.Recorder.Load.Latency.MeanMicroseconds = c.failures, c.dropped, 5000
		})
		if got := boundsOf(s, "load.latency.meanMicroseconds"); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
