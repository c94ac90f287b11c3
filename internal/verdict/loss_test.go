package verdict

import (
	"fmt"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

func TestLossWindowBelongsToOneFault(t *testing.T) {
	lost := func(bounds ...int64) (spans []wire.LostSpan) {
		for i := 0; i < len(bounds); i += 2 {
			spans = append(spans, wire.LostSpan{From: evidencetest.At(bounds[i]), To: evidencetest.At(bounds[i+1]), Writes: 1})
		}
		return spans
	}
	cut, crash, again := evidencetest.Hit("cut", "db-1", 20_000), evidencetest.Hit("crash", "db-0", 30_000), evidencetest.Hit("again", "db-0", 50_000)
	crash.Role, again.Role = v1alpha1.NodePrimary, v1alpha1.NodePrimary
	exact := []wire.Clock{evidencetest.Clock("db-0", 0, 0), evidencetest.Clock("db-1", 0, 0)}
	partitioned := evidencetest.Hit("parted", "db-0", 20_000)
	partitioned.Role = v1alpha1.NodePrimary
	server := evidencetest.Hit("server", "db-0", 30_000)
	server.Role = v1alpha1.NodePrimary
	for name, c := range map[string]struct {
		lost   []wire.LostSpan
		faults []v1alpha1.FaultStatus
		clocks []wire.Clock
		holes  []evidencetest.Hole
		want   string
		says   string
	}{
		"nothing lost, no window":            {nil, []v1alpha1.FaultStatus{crash}, exact, nil, "absent", ""},
		"from the first lost one":            {lost(29_992, 30_000), []v1alpha1.FaultStatus{crash}, exact, nil, "8", ""},
		"an answer that was under way":       {lost(29_992, 30_007), []v1alpha1.FaultStatus{crash}, exact, nil, "8", ""},
		"it does not reach to another fault": {lost(29_992, 30_000, 49_700, 50_000), []v1alpha1.FaultStatus{crash, again}, exact, nil, "8 300", ""},
		"the fault before did not cost them": {lost(20_040, 30_000), []v1alpha1.FaultStatus{cut, crash}, exact, nil, "absent 9960", ""},
		"nor does it begin before that one":  {lost(18_000, 30_000), []v1alpha1.FaultStatus{cut, crash}, exact, nil, "2000 10000", ""},
		"writes that another node's takeover cost are not the next fault's": {
			lost(30_010, 33_000), []v1alpha1.FaultStatus{crash, again}, exact, []evidencetest.Hole{{From: 33_000, To: 35_000, Node: "db-1"}}, "absent absent", "",
		},
		"answers under way when the fault before came are not the next one's": {
			lost(30_000, 30_007), []v1alpha1.FaultStatus{crash, again}, exact, nil, "0 absent", "",
		},
		"nor those of a server that was killed alone": {
			lost(30_000, 30_007), []v1alpha1.FaultStatus{server, again}, exact, nil, "0 absent", "",
		},
		"nor can anybody tell when there are others": {
			lost(30_001, 30_007, 49_700, 50_000), []v1alpha1.FaultStatus{crash, again}, exact, nil, "absent absent", "The loss window of fault again is unknown",
		},
		"a primary that is cut off goes on to answer": {
			lost(20_010, 20_010, 20_900, 20_900, 25_000, 30_000), []v1alpha1.FaultStatus{partitioned, crash}, exact, nil, "absent 9990", "",
		},
		"after the last fault there is none": {lost(50_100, 50_200), []v1alpha1.FaultStatus{again}, exact, nil, "absent", ""},
		"a clock that is ahead":              {lost(29_092, 29_100), []v1alpha1.FaultStatus{crash}, []wire.Clock{evidencetest.Clock("db-0", 899, 900)}, nil, "9", ""},
		"a clock that leaves it open":        {lost(29_900, 30_000), []v1alpha1.FaultStatus{crash}, []wire.Clock{evidencetest.Clock("db-0", -50, 50)}, nil, "absent", "The loss window of fault crash is unknown"},
		"a clock that nobody knows":          {lost(29_900, 30_000), []v1alpha1.FaultStatus{crash}, nil, nil, "absent", "The loss window of fault crash is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionKill}, {Name: "again", Action: v1alpha1.ActionKill}, {Name: "parted", Action: v1alpha1.ActionPartition}, {Name: "server", Action: v1alpha1.ActionKillServer}}
			e.Audit.Writes.Lost, e.Audit.Writes.LostSpans, e.Audit.Writes.LostSpanMicroseconds = 2, c.lost, 1000
			e.Faults, e.Recorder.Clocks, e.Recorder.Availability = c.faults, c.clocks, evidencetest.Available(c.holes...)
			Judge(e, &s)
			var got []string
			for _, f := range s.Faults {
				got = append(got, fmt.Sprint(text(f.LossWindowMilliseconds)))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("loss windows %q, want %q", got, c.want)
			}
			if reasons := strings.Join(allSaid(s), " "); !strings.Contains(reasons, c.says) || c.says == "" && strings.Contains(reasons, "loss window") {
				t.Errorf("the reasons are %q, want %q", s.Reasons, c.says)
			}
		})
	}
}

func TestALossWindowByTwoClocksHasBounds(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		e.Recorder.Clocks, e.Faults[0].InjectedTime = []wire.Clock{evidencetest.Clock("db-0", -4, 4)}, evidencetest.AtPtr(31_000)
		e.Audit.Writes.Lost, e.Audit.Writes.LostSpanMicroseconds = 1, 1000
		e.Audit.Writes.LostSpans = []wire.LostSpan{{From: evidencetest.At(30_900), To: evidencetest.At(30_900), Writes: 1}}
	})
	if got := boundsOf(s, "faults[crash].lossWindowMilliseconds"); got != "96 to 104" || *s.Faults[0].LossWindowMilliseconds != 104 {
		t.Errorf("%s: %v", got, text(s.Faults[0].LossWindowMilliseconds))
	}
}
