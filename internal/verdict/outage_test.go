package verdict

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// Each case has a goal of 1000 ms at most. want is the outage of each fault with its uncertainty, then that of the run, then
// whether the goal is met.
func TestOutageOfEachFault(t *testing.T) {
	exact := []wire.Clock{evidencetest.Clock("db-0", 0, 0), evidencetest.Clock("db-1", 0, 0)}
	kill := evidencetest.Hit("crash", "db-0", 30_005)
	for name, c := range map[string]struct {
		holes  []evidencetest.Hole
		faults []v1alpha1.FaultStatus
		clocks []wire.Clock
		want   string
		says   string
	}{
		"a failover": {[]evidencetest.Hole{{From: 30_000, To: 30_700, Node: "db-1", Errors: 3}}, []v1alpha1.FaultStatus{kill}, exact, "700; 700 True", ""},
		"a silence in which nothing failed counts": {
			[]evidencetest.Hole{{From: 30_000, To: 31_990, Node: "db-0"}}, []v1alpha1.FaultStatus{kill}, exact, "1990; 1990 False", "",
		},
		"a replica that is killed costs some milliseconds": {nil, []v1alpha1.FaultStatus{kill}, exact, "20; 20 True", ""},
		"a clock that is ahead does not hide what the fault did": {
			[]evidencetest.Hole{{From: 30_000, To: 31_700, Node: "db-1", Errors: 3}, {From: 40_000, To: 40_023, Node: "db-1", Errors: 1}},
			[]v1alpha1.FaultStatus{evidencetest.Hit("crash", "db-0", 30_905)},
			[]wire.Clock{evidencetest.Clock("db-0", 899, 901)},
			"1700; 1700 False", "",
		},
		"a clock that is behind does not blame it for what came before": {
			[]evidencetest.Hole{{From: 28_000, To: 29_700, Node: "db-0"}, {From: 30_000, To: 30_700, Node: "db-1"}},
			[]v1alpha1.FaultStatus{evidencetest.Hit("crash", "db-0", 29_005)},
			[]wire.Clock{evidencetest.Clock("db-0", -1001, -999)},
			"700; 700 True", "No write was acknowledged for 1700 ms before the first fault",
		},
		"clocks that may make the difference leave the goal unknown": {
			[]evidencetest.Hole{{From: 28_000, To: 29_700, Node: "db-0"}, {From: 30_000, To: 30_700, Node: "db-1"}},
			[]v1alpha1.FaultStatus{evidencetest.Hit("crash", "db-0", 29_800)},
			[]wire.Clock{evidencetest.Clock("db-0", -400, 400)},
			"1700 (1000); 1700 (1000) Unknown", "is between 700 and 1700 ms",
		},
		"clocks that make no difference to the goal": {
			[]evidencetest.Hole{{From: 29_000, To: 29_700, Node: "db-0"}, {From: 30_000, To: 30_500, Node: "db-1"}},
			[]v1alpha1.FaultStatus{evidencetest.Hit("crash", "db-0", 29_800)},
			[]wire.Clock{evidencetest.Clock("db-0", -400, 400)},
			"700 (200); 700 (200) True", "",
		},
		"a clock that was never measured leaves any silence of the load": {
			[]evidencetest.Hole{{From: 10_000, To: 11_500, Node: "db-0"}, {From: 30_000, To: 30_700, Node: "db-1"}},
			[]v1alpha1.FaultStatus{kill},
			nil, "1500 (1500); 1500 (1500) Unknown", "is unknown, because its clock was not measured",
		},
		"the longest of several, a later one": {
			[]evidencetest.Hole{{From: 30_000, To: 30_700, Node: "db-1"}, {From: 40_000, To: 42_400, Node: "db-1"}},
			[]v1alpha1.FaultStatus{kill},
			exact, "2400; 2400 False", "",
		},
		"the longest of several, an earlier one": {
			[]evidencetest.Hole{{From: 30_000, To: 32_400, Node: "db-0"}, {From: 40_000, To: 40_700, Node: "db-1"}},
			[]v1alpha1.FaultStatus{kill},
			exact, "2400; 2400 False", "",
		},
		"each fault has its own": {
			[]evidencetest.Hole{{From: 30_000, To: 30_700, Node: "db-1"}, {From: 40_000, To: 42_400, Node: "db-0"}},
			[]v1alpha1.FaultStatus{evidencetest.Hit("later", "db-1", 40_003), kill},
			exact, "2400 700; 2400 False", "",
		},
		"faults of one moment share it": {
			[]evidencetest.Hole{{From: 30_080, To: 30_700, Node: "db-1"}},
			[]v1alpha1.FaultStatus{kill, evidencetest.Hit("crash.2", "db-1", 30_090), evidencetest.Hit("other", "db-0", 50_000)},
			exact, "620 620 20; 620 True", "",
		},
		"a late fault begins where it came": {
			[]evidencetest.Hole{{From: 20_000, To: 20_700, Node: "db-0"}, {From: 30_000, To: 30_500, Node: "db-1"}},
			[]v1alpha1.FaultStatus{{Name: "late", Fault: "late", Pod: "db-0", PlannedTime: evidencetest.At(10_000), InjectedTime: evidencetest.AtPtr(29_000)}, evidencetest.Hit("b", "db-1", 15_000)},
			exact, "500 700; 700 True", "",
		},
		"a fault within another's outage": {
			[]evidencetest.Hole{{From: 30_000, To: 36_000, Node: "db-1"}},
			[]v1alpha1.FaultStatus{kill, evidencetest.Hit("within", "db-1", 34_000)},
			exact, "4000 6000; 6000 False",
			"The outage of fault crash lasted until the next fault: its 4000 ms end there",
		},
		"the fault that comes next does not lend its outage": {
			[]evidencetest.Hole{{From: 39_995, To: 42_000, Node: "db-1"}},
			[]v1alpha1.FaultStatus{kill, evidencetest.Hit("next", "db-0", 40_000)},
			exact, "20 2005; 2005 False", "",
		},
		"an order of faults that clocks do not tell": {
			[]evidencetest.Hole{{From: 31_000, To: 33_000, Node: "db-1"}},
			[]v1alpha1.FaultStatus{kill, evidencetest.Hit("next", "db-1", 32_000)},
			[]wire.Clock{evidencetest.Clock("db-0", 0, 0), evidencetest.Clock("db-1", -1500, 1500)},
			"2000 (1980) 2000 (1980); 2000 False", "",
		},
		"one that outlasts the load counts whole": {
			[]evidencetest.Hole{{From: 59_500, To: 60_300, Node: "db-1"}}, []v1alpha1.FaultStatus{evidencetest.Hit("crash", "db-0", 59_510)}, exact, "800; 800 True", "",
		},
		"what begins after the load is none": {
			[]evidencetest.Hole{{From: 60_100, To: 60_380, Node: "db-0"}}, []v1alpha1.FaultStatus{kill}, exact, "20; 20 True", "",
		},
		"one that never ended is a lower bound": {
			[]evidencetest.Hole{{From: 59_500}}, []v1alpha1.FaultStatus{evidencetest.Hit("crash", "db-0", 59_510)}, exact, "≥900; ≥900 Unknown", "its outage of 900 ms is a lower bound",
		},
		"one that never ended, and of which the recorder slept a part": {
			[]evidencetest.Hole{{From: 59_000, Paused: 300}}, []v1alpha1.FaultStatus{evidencetest.Hit("crash", "db-0", 59_010)}, exact, "≥1100; ≥1100 False", "its outage of 1100 ms is a lower bound",
		},
		"one that never ended and is too long already": {
			[]evidencetest.Hole{{From: 49_500}}, []v1alpha1.FaultStatus{evidencetest.Hit("crash", "db-0", 49_510)}, exact, "≥10900; ≥10900 False", "",
		},
		"one of which the recorder slept a part": {
			[]evidencetest.Hole{{From: 30_000, To: 31_400, Node: "db-1", Paused: 600}},
			[]v1alpha1.FaultStatus{kill},
			exact, "1400 (600); 1400 (600) Unknown",
			"is between 800 and 1400 ms",
		},
		"one that is too long though the recorder slept": {
			[]evidencetest.Hole{{From: 30_000, To: 31_400, Node: "db-1", Paused: 399}}, []v1alpha1.FaultStatus{kill}, exact, "1400 (399); 1400 (399) False", "",
		},
		"a fault that was not injected is none": {
			[]evidencetest.Hole{{From: 10_000, To: 12_000, Node: "db-0"}}, []v1alpha1.FaultStatus{{Name: "crash", Fault: "crash", Pod: "db-0"}}, exact, "absent; 2000 False", "",
		},
		"without a fault the longest silence under load": {[]evidencetest.Hole{{From: 10_000, To: 10_600, Node: "db-0"}}, nil, nil, "; 600 True", ""},
		"without a fault the time to the first write":    {[]evidencetest.Hole{{From: -10, To: 1_300, Node: "db-0"}}, nil, nil, "; 1300 False", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
			e.Recorder.Availability, e.Recorder.Clocks, e.Faults = evidencetest.Available(c.holes...), c.clocks, c.faults
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "outageMilliseconds", Max: ptr.To[int64](1000)}}
			Judge(e, &s)
			var each []string
			for _, f := range s.Faults {
				each = append(each, outageText(s, "faults["+f.Name+"].outageMilliseconds"))
			}
			got := strings.Join(each, " ") + "; " + outageText(s, "outageMilliseconds") + " " + string(s.Goals[0].Met)
			if got != c.want {
				t.Errorf("outages %q, want %q", got, c.want)
			}
			if text(s.Goals[0].Measured) != text(s.OutageMilliseconds) {
				t.Errorf("the goal is on %v, the status says %v", text(s.Goals[0].Measured), text(s.OutageMilliseconds))
			}
			if reasons := strings.Join(allSaid(s), " "); !strings.Contains(reasons, c.says) {
				t.Errorf("the reasons are %q; want %q", s.Reasons, c.says)
			}
		})
	}
}

// outageText has in brackets by how much it may have been shorter.
func outageText(s v1alpha1.ReplicationExperimentStatus, path string) string {
	f := figure.Read(&s, path)
	switch {
	case f.Value == nil, f.IsExact():
		return fmt.Sprint(text(f.Value))
	case f.AtMost == nil:
		return fmt.Sprintf("≥%d", *f.AtLeast)
	}
	return fmt.Sprintf("%d (%d)", *f.AtMost, *f.AtMost-*f.AtLeast)
}

// TestAnOutageHasItsStart where it is known which time without an acknowledged write was the longest.
func TestAnOutageHasItsStart(t *testing.T) {
	exact := []wire.Clock{evidencetest.Clock("db-0", 0, 0), evidencetest.Clock("db-1", 0, 0)}
	vague := []wire.Clock{evidencetest.Clock("db-0", -400, 400)}
	kill, late := evidencetest.Hit("crash", "db-0", 30_005), evidencetest.Hit("crash", "db-0", 29_800)
	same := []evidencetest.Hole{{From: 20_000, To: 20_700, Node: "db-0"}, {From: 30_000, To: 30_700, Node: "db-1"}}
	for name, c := range map[string]struct {
		holes  []evidencetest.Hole
		faults []v1alpha1.FaultStatus
		clocks []wire.Clock
		want   []*metav1.MicroTime
	}{
		"a failover":                        {same, []v1alpha1.FaultStatus{kill}, exact, []*metav1.MicroTime{evidencetest.AtPtr(30_000)}},
		"the later of two of one length":    {same, []v1alpha1.FaultStatus{evidencetest.Hit("early", "db-1", 20_010), kill}, exact, []*metav1.MicroTime{evidencetest.AtPtr(20_000), evidencetest.AtPtr(30_000)}},
		"one before the fault or after it":  {[]evidencetest.Hole{{From: 28_000, To: 29_700, Node: "db-0"}, {From: 30_000, To: 30_700, Node: "db-1"}}, []v1alpha1.FaultStatus{late}, vague, []*metav1.MicroTime{nil}},
		"the same whatever the clock shows": {[]evidencetest.Hole{{From: 30_000, To: 30_700, Node: "db-1"}}, []v1alpha1.FaultStatus{late}, vague, []*metav1.MicroTime{evidencetest.AtPtr(30_000)}},
		"a clock that was never measured":   {same, []v1alpha1.FaultStatus{kill}, nil, []*metav1.MicroTime{nil}},
		"one that never ended":              {[]evidencetest.Hole{{From: 59_500}}, []v1alpha1.FaultStatus{evidencetest.Hit("crash", "db-0", 59_510)}, exact, []*metav1.MicroTime{evidencetest.AtPtr(59_500)}},
		"two as long after one fault": {
			[]evidencetest.Hole{{From: 30_000, To: 30_700, Node: "db-1"}, {From: 31_500, To: 32_200, Node: "db-1"}},
			[]v1alpha1.FaultStatus{kill},
			exact,
			[]*metav1.MicroTime{nil},
		},
		"a fault within another's outage": {
			[]evidencetest.Hole{{From: 30_000, To: 36_000, Node: "db-1"}},
			[]v1alpha1.FaultStatus{kill, evidencetest.Hit("within", "db-1", 34_000)},
			exact,
			[]*metav1.MicroTime{evidencetest.AtPtr(30_000), evidencetest.AtPtr(30_000)},
		},
	} {
		e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
		e.Recorder.Availability, e.Recorder.Clocks, e.Faults = evidencetest.Available(c.holes...), c.clocks, c.faults
		Judge(e, &s)
		for i, f := range s.Faults {
			if !f.OutageStartTime.Equal(c.want[i]) {
				t.Errorf("%s: the outage of %s began at %v, want %v", name, f.Name, f.OutageStartTime, c.want[i])
			}
		}
	}
}
