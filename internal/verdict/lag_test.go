package verdict

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// unwatched has three rows of the probe that no replica was to show, and a goal of 100 µs for the longest lag.
func unwatched(e *evidence.Run, atMost *int64) {
	e.Spec.Goals = []v1alpha1.Goal{{Metric: "lagMaxMicroseconds", Max: ptr.To[int64](100)}}
	e.Recorder.Lag = evidencetest.LagOf("db-1", 0, 0)
	l := e.Recorder.Lag
	l.Acknowledged, l.Unwatched, l.LowerBounds, l.AtMostMicroseconds = 300, 3, []v1alpha1.Percentile{v1alpha1.Max}, atMost
}

// TestRowsThatWaitOnAnotherPrimaryBoundTheLag: a fault keeps them on a node that lives.
func TestRowsThatWaitOnAnotherPrimaryBoundTheLag(t *testing.T) {
	for _, independent := range []bool{true, false} {
		e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
		e.Independent = independent
		e.Recorder.Lag = evidencetest.LagOf("db-1", 3, 3)
		e.Recorder.Lag.Acknowledged = 300
		Judge(e, &s)
		said := strings.Join(allSaid(s), " ")
		if strings.Contains(said, "3 probe rows were only on the other primary") != independent || strings.Contains(said, "were lost with their primary") == independent {
			t.Errorf("independent %t: %s", independent, said)
		}
		for _, path := range []string{"replication.lag.maxMicroseconds", "nodes[db-1].lag.maxMicroseconds"} {
			if f := figure.Read(&s, path); f.Value == nil || (f.AtMost == nil) != independent {
				t.Errorf("independent %t: %s is %+v", independent, path, f)
			}
		}
	}
}

// TestSizesHaveTheBoundsOfTheirLag: a pause of the recorder, and a replica that was not watched.
func TestSizesHaveTheBoundsOfTheirLag(t *testing.T) {
	e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
	e.Recorder.Lag = evidencetest.LagOf("db-1", 0, 0)
	one := func(bytes int64, lower ...v1alpha1.Percentile) wire.SizeLag {
		return wire.SizeLag{
			PayloadBytes: bytes, LagDistribution: wire.LagDistribution{Samples: 10, LowerBounds: lower}, InsertP50Microseconds: 1, InsertP99Microseconds: 2,
			TotalP50Microseconds: ptr.To[int64](3), TotalP99Microseconds: ptr.To[int64](4), BareP50Microseconds: ptr.To[int64](1), BareP99Microseconds: ptr.To[int64](2),
		}
	}
	e.Recorder.Lag.Sizes = []wire.SizeLag{one(100), one(200, v1alpha1.P99, v1alpha1.Max), one(300)}
	paused := &e.Recorder.Lag.Sizes[2]
	paused.P50Microseconds, paused.UnpausedP50Microseconds = ptr.To[int64](3), ptr.To[int64](2)
	Judge(e, &s)
	for path, exact := range map[string]bool{
		"replication.lagSizes[100].totalP99Microseconds": true, "replication.lagSizes[200].totalP50Microseconds": true, "replication.lagSizes[200].insertP99Microseconds": true,
		"replication.lagSizes[200].totalP99Microseconds": false, "replication.lagSizes[200].bareP99Microseconds": false,
		"replication.lagSizes[300].totalP50Microseconds": false, "replication.lagSizes[300].totalP99Microseconds": true,
	} {
		if f := figure.Read(&s, path); f.Value == nil || f.IsExact() != exact {
			t.Errorf("%s is %+v, exact: %t", path, f, exact)
		}
	}
}

func TestAProbeThatHardlyWroteIsNamed(t *testing.T) {
	for missed, want := range map[int64]bool{90: false, 91: true} {
		s := judged(func(e *evidence.Run) {
			e.Recorder.Lag = evidencetest.LagOf("db-1", 0, 0)
			e.Recorder.Lag.Acknowledged, e.Recorder.Lag.Missed = 10, missed
		})
		if said := strings.Contains(strings.Join(s.Notes, " "), "The lag probe wrote 10 of "); said != want {
			t.Errorf("%d missed: %q", missed, s.Notes)
		}
	}
}

func TestReplicaThatTheProbeOverlooked(t *testing.T) {
	clock := func(e *evidence.Run) string {
		e.Recorder.Clocks = append(e.Recorder.Clocks, wire.Clock{Name: "db-0"})
		return "db-0"
	}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   bool
	}{
		"it never left its place": {func(*evidence.Run) {}, true},
		"it is down":              {func(e *evidence.Run) { e.State.Nodes[0].Role = topology.Down }, false},
		"it followed":             {func(e *evidence.Run) { e.Recorder.Lag.Nodes[1].FormerPrimary = false }, false},
		"nobody can tell":         {func(e *evidence.Run) { e.State = topology.State{} }, false},
		"it was back during the load": {func(e *evidence.Run) {
			at := metav1.NewMicroTime(e.Recorder.LoadEndedAt.Add(-3 * time.Second))
			e.State.Absences = []topology.Absence{{Node: "db-0", Clock: clock(e), Absence: wire.Absence{BackAt: &at}}}
		}, true},
		"it was back after the load": {func(e *evidence.Run) {
			at := metav1.NewMicroTime(e.Recorder.LoadEndedAt.Add(-time.Second))
			e.State.Absences = []topology.Absence{{Node: "db-0", Clock: clock(e), Absence: wire.Absence{BackAt: &at}}}
		}, false},
		"it is still away": {func(e *evidence.Run) {
			e.State.Absences = []topology.Absence{{Node: "db-0", Clock: clock(e)}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "lagMaxMicroseconds", Max: ptr.To[int64](100)}}
			e.Recorder.Lag = evidencetest.LagOf("db-1", 0, 0)
			e.Recorder.Lag.Nodes = append(e.Recorder.Lag.Nodes, wire.NodeLag{Name: "db-0", Away: 35, FormerPrimary: true})
			e.State = topology.State{Known: true, Nodes: []topology.NodeState{{Name: "db-0", Role: topology.Reader}, {Name: "db-1", Role: topology.Writer}}}
			c.change(&e)
			Judge(e, &s)
			said := strings.Contains(strings.Join(allSaid(s), " "), "Node db-0 was a replica again, but the probe did not see it follow")
			if said != c.want || (s.Goals[0].Met == metav1.ConditionUnknown) != c.want {
				t.Errorf("%v, the goal is met: %s", s.Reasons, s.Goals[0].Met)
			}
		})
	}
}

// TestPausesBoundTheLag on both sides: they lengthen what was waited for, and hide when that began.
func TestPausesBoundTheLag(t *testing.T) {
	for name, c := range map[string]struct {
		unpaused *int64
		lower    []v1alpha1.Percentile
		want     string
	}{
		"none":                                   {nil, nil, "exact"},
		"within no lag":                          {nil, []v1alpha1.Percentile{v1alpha1.Max}, "at least 700000"},
		"within a lag":                           {ptr.To[int64](3000), []v1alpha1.Percentile{v1alpha1.Max}, "at least 3000"},
		"within a lag that was none":             {ptr.To[int64](-5), []v1alpha1.Percentile{v1alpha1.Max}, "unknown"},
		"within a lag, too short to hide others": {ptr.To[int64](600_000), nil, "600000 to 700000"},
		"of less than 1% of a lag":               {ptr.To[int64](693_000), nil, "exact"},
	} {
		s := judged(func(e *evidence.Run) {
			l := evidencetest.LagOf("db-0", 0, 0)
			for _, d := range []*wire.LagDistribution{&l.LagDistribution, &l.Nodes[0].LagDistribution} {
				d.MaxMicroseconds, d.UnpausedMaxMicroseconds, d.LowerBounds = ptr.To[int64](700_000), c.unpaused, c.lower
			}
			e.Recorder.Lag = l
		})
		for _, path := range []string{"replication.lag.maxMicroseconds", "nodes[db-0].lag.maxMicroseconds"} {
			if got := boundsOf(s, path); got != c.want {
				t.Errorf("pauses %s: %s is %s, want %s", name, path, got, c.want)
			}
		}
	}
}
