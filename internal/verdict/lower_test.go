package verdict

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

func TestEachStagesPercentilesCarryTheirOwnMarks(t *testing.T) {
	all := []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max}
	for name, c := range map[string]struct {
		change      func(*evidence.Run)
		dropped     *int64 // in the stage steady
		lower, load []v1alpha1.Percentile
	}{
		"none without a reason": {func(*evidence.Run) {}, ptr.To[int64](0), nil, nil},
		"what the recorder marks": {func(e *evidence.Run) {
			e.Recorder.Stages[0].Latency.LowerBounds = []v1alpha1.Percentile{v1alpha1.P99, v1alpha1.Max}
		}, ptr.To[int64](0), []v1alpha1.Percentile{v1alpha1.P99, v1alpha1.Max}, nil},
		"all where requests were not sent": {func(e *evidence.Run) {
			e.K6.Stages[0].DroppedIterations = 3
		}, ptr.To[int64](3), all, all},
		"none for what another stage did not send, but of both together": {func(e *evidence.Run) {
			e.Spec.Load.Stages = append(e.Spec.Load.Stages, v1alpha1.Stage{Name: "open", RequestsPerSecond: 50, DurationSeconds: 60})
			e.K6.Stages = append(e.K6.Stages, wire.K6StageSummary{Name: "open", DroppedIterations: 3})
		}, ptr.To[int64](0), nil, all},
		"all where nobody knows what was sent": {func(e *evidence.Run) { e.K6 = nil }, nil, all, all},
		"none where a script of one's own dropped nothing": {func(e *evidence.Run) {
			e.Spec.Load.Script, e.K6.Stages = &v1alpha1.ScriptSource{}, nil
		}, ptr.To[int64](0), nil, nil},
		"all where a script of one's own dropped something somewhere": {func(e *evidence.Run) {
			e.Spec.Load.Script, e.K6.Stages, e.K6.DroppedIterations = &v1alpha1.ScriptSource{}, nil, 2
		}, nil, all, all},
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
