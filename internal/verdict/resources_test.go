package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

func TestResourcesAreOfNodesAndOfStages(t *testing.T) {
	used := func(stage string, seconds, millicores, threads int64) wire.NodeResources {
		return wire.NodeResources{
			Node: "db-0", Stage: stage, DurationMicroseconds: seconds * 1_000_000, CPUMillicores: millicores, ResidentPeakBytes: millicores,
			ThreadsPeak: threads, ReadBytes: 1, WrittenBytes: 2, NetworkReceivedBytes: 3, NetworkSentBytes: 4,
		}
	}
	s := judged(func(e *evidence.Run) {
		for _, added := range []v1alpha1.Stage{{Name: "warmup", DurationSeconds: 10, Users: new(int64(9)), Discard: true}, {Name: "idle", DurationSeconds: 10, Users: new(int64)}} {
			e.Spec.Load.Stages = append(e.Spec.Load.Stages, added)
			e.Recorder.Stages = append(e.Recorder.Stages, wire.StageResult{Name: added.Name, Discarded: added.Discard})
		}
		e.Recorder.Stages[0].Answered, e.Recorder.Stages[0].DurationMicroseconds = 3000, 60_000_000
		e.Recorder.Resources = []wire.NodeResources{used("steady", 60, 400, 50), used("warmup", 10, 900, 90), used("idle", 10, 7, 40)}
	})
	want := v1alpha1.ResourceFigures{
		CPUMillicores: 400, MemoryPeakBytes: 400, ThreadsPeak: 50, BlockReadBytes: 1, BlockWrittenBytes: 2, NetworkReceivedBytes: 3, NetworkSentBytes: 4,
	}
	if got := s.Nodes[0].Resources; got == nil || *got != want {
		t.Errorf("the node used %+v, want that of the stage that counts: %+v", got, want)
	}
	if got := s.Load.Stages[0].Resources[0].CPUPerRequestMicroseconds; got == nil || *got != 8000 { // 24 s for 3000 requests
		t.Errorf("a request took %v", got)
	}
	if s.Nodes[1].Resources != nil {
		t.Errorf("a node without samples used %+v", s.Nodes[1].Resources)
	}
	for i, millicores := range map[int]int64{0: 400, 1: 900, 2: 7} {
		got := s.Load.Stages[i].Resources
		if len(got) != 1 || got[0].Name != "db-0" || got[0].CPUMillicores != millicores {
			t.Errorf("in stage %s: %+v", s.Load.Stages[i].Name, got)
		}
		if (got[0].CPUPerRequestMicroseconds != nil) != (i == 0) {
			t.Errorf("in stage %s a request took %v", s.Load.Stages[i].Name, got[0].CPUPerRequestMicroseconds)
		}
	}
}

// TestProcessorTimeOfARequestIsWhatWasSpent, at least: a server that was killed early in a stage spent none afterwards.
func TestProcessorTimeOfARequestIsWhatWasSpent(t *testing.T) {
	for sampled, want := range map[int64]int64{60_000_000: 8000, 58_000_000: 8000, 10_000_000: 1333} {
		s := judged(func(e *evidence.Run) {
			stage := &e.Recorder.Stages[0]
			stage.DurationMicroseconds, stage.Answered = 60_000_000, 3000
			e.Recorder.Resources = []wire.NodeResources{{Node: e.Nodes[0], Stage: stage.Name, DurationMicroseconds: sampled, CPUMillicores: 400}}
		})
		if got := s.Load.Stages[0].Resources[0].CPUPerRequestMicroseconds; got == nil || *got != want {
			t.Errorf("sampled for %d µs: %v, want %d", sampled, ptr.Deref(got, -1), want)
		}
		f := figure.Read(&s, "load.stages["+s.Load.Stages[0].Name+"].resources["+s.Load.Stages[0].Resources[0].Name+"].cpuPerRequestMicroseconds")
		if f.IsExact() != (sampled > 50_000_000) || f.AtLeast == nil {
			t.Errorf("sampled for %d µs: %+v", sampled, f)
		}
	}
}

// TestResourcesAreMinimumsWhereTheyWereNotSampled, in a stage and in the whole load.
func TestResourcesAreMinimumsWhereTheyWereNotSampled(t *testing.T) {
	for name, c := range map[string]struct {
		stage, load int64  // seconds with samples
		want        string // of the stage and of the load: processor and bytes
	}{
		"all of the time":   {60, 60, "exact exact exact exact"},
		"a half of a stage": {30, 60, "at least 200 at least 7 at least 300 at least 14"},
		"one stage of two":  {60, 0, "exact exact at least 200 at least 7"},
	} {
		s := judged(func(e *evidence.Run) {
			e.Recorder.Stages[0].DurationMicroseconds = 60_000_000
			e.Recorder.Stages = append(e.Recorder.Stages, wire.StageResult{Name: "more", DurationMicroseconds: 60_000_000})
			for stage, seconds := range map[string]int64{"steady": c.stage, "more": c.load} {
				if seconds > 0 {
					e.Recorder.Resources = append(e.Recorder.Resources, wire.NodeResources{
						Node: "db-0", Stage: stage, DurationMicroseconds: seconds * 1_000_000, CPUMillicores: 400, WrittenBytes: 7,
					})
				}
			}
		})
		var got []string
		for _, prefix := range []string{"load.stages[steady].resources[db-0].", "nodes[db-0].resources."} {
			got = append(got, boundsOf(s, prefix+"cpuMillicores"), boundsOf(s, prefix+"blockWrittenBytes"))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

// TestAProcessBusierThanTheServersIsNamed, under a closed loop alone.
func TestAProcessBusierThanTheServersIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		app   int64
		users *int64
		want  string
	}{
		"the app":              {701, new(int64(9)), "app used 0.70 CPU, and all servers together 0.70: a difference between topologies may be hidden."},
		"the servers together": {700, new(int64(9)), ""},
		"an open loop":         {900, nil, ""},
	} {
		s := judged(func(e *evidence.Run) {
			e.Spec.Load.Stages[0].Users = c.users
			used := func(name string, millicores int64) wire.NodeResources {
				return wire.NodeResources{Node: name, Stage: e.Recorder.Stages[0].Name, DurationMicroseconds: 1_000_000, CPUMillicores: millicores}
			}
			e.Recorder.Resources = []wire.NodeResources{used(e.Nodes[0], 400), used(e.Nodes[1], 300), used("app", c.app), used("recorder", 100)}
		})
		got := slices.DeleteFunc(slices.Clone(s.Notes), func(n string) bool { return !strings.Contains(n, "all servers together") })
		if strings.Join(got, "") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestManyPartlySampledResourcesAreLeftOut: their bounds would not fit into the status.
func TestManyPartlySampledResourcesAreLeftOut(t *testing.T) {
	for most, want := range map[int]int{128: 129, 129: 1} {
		s := judged(func(e *evidence.Run) {
			stage := e.Recorder.Stages[0]
			e.Recorder.Resources = []wire.NodeResources{{Node: "whole", Stage: stage.Name, DurationMicroseconds: stage.DurationMicroseconds}}
			for i := range most {
				e.Recorder.Resources = append(e.Recorder.Resources, wire.NodeResources{Node: fmt.Sprint("part-", i), Stage: stage.Name, DurationMicroseconds: 1_000_000})
			}
		})
		if got := len(s.Load.Stages[0].Resources); got != want {
			t.Errorf("of %d that were sampled in part and one that was not there are %d, want %d", most, got, want)
		}
	}
}
