package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/recorder/outage"
	"replab.dev/internal/wire"
)

// hole is a time without an acknowledgement, in milliseconds after the start, after which a node acknowledges: never when to is 0.
type hole struct {
	from, to int64
	node     string
	errors   int
	paused   int64
}

// available is what a recorder tells of a load of a minute in which a write is acknowledged every 20 ms, but in the holes.
func available(holes ...hole) *wire.AvailabilityResult {
	now, node := at(0).Time, "db-0"
	l := outage.NewLog(func() time.Time { return now }, nil)
	l.Begin(now)
	stop := int64(60_400)
	for ms := int64(5); ms <= stop; ms += 20 {
		i := slices.IndexFunc(holes, func(h hole) bool { return h.from >= ms-20 && h.from < ms })
		if now = at(ms).Time; i < 0 {
			l.Acknowledged(node)
			continue
		}
		h := holes[i]
		now = at(h.from).Time
		l.Acknowledged(node)
		for range h.errors {
			now = at(h.from + 10).Time
			l.Failed()
		}
		if h.to == 0 {
			break
		}
		node, now, ms = h.node, at(h.to).Time, h.to
		l.Acknowledged(node)
	}
	now = at(stop).Time
	l.Stop()
	a := &wire.AvailabilityResult{Gaps: l.Gaps(), Silences: l.Silences()}
	for _, h := range holes {
		for i, s := range a.Silences.Longest {
			if h.paused > 0 && s.EndMicroseconds == h.to*1000 {
				a.Silences.Longest[i].PausedMicroseconds = h.paused * 1000
			}
		}
		if h.to == 0 {
			a.Silences.Last.PausedMicroseconds = h.paused * 1000
		}
	}
	return a
}

// hit is a fault at a time by its node's clock.
func hit(name, pod string, ms int64) v1alpha1.FaultStatus {
	return v1alpha1.FaultStatus{Name: name, Fault: name, Pod: pod, InjectedTime: atPtr(ms), PlannedTime: at(ms / 1000 * 1000), Confirmed: metav1.ConditionTrue}
}

func clock(name string, leastAhead, mostAhead int64) wire.Clock {
	return wire.Clock{Name: name, LeastAheadMicroseconds: leastAhead * 1000, MostAheadMicroseconds: mostAhead * 1000}
}

// Each case has a goal of 1000 ms at most. want is the outage of each fault with its uncertainty, then that of the run, then
// whether the goal is met.
func TestOutageOfEachFault(t *testing.T) {
	exact := []wire.Clock{clock("db-0", 0, 0), clock("db-1", 0, 0)}
	kill := hit("crash", "db-0", 30_005)
	for name, c := range map[string]struct {
		holes  []hole
		faults []v1alpha1.FaultStatus
		clocks []wire.Clock
		want   string
		says   string
	}{
		"a failover": {[]hole{{from: 30_000, to: 30_700, node: "db-1", errors: 3}}, []v1alpha1.FaultStatus{kill}, exact, "700; 700 True", ""},
		"a silence in which nothing failed counts": {
			[]hole{{from: 30_000, to: 31_990, node: "db-0"}}, []v1alpha1.FaultStatus{kill}, exact, "1990; 1990 False", "",
		},
		"a replica that is killed costs some milliseconds": {nil, []v1alpha1.FaultStatus{kill}, exact, "20; 20 True", ""},
		"a clock that is ahead does not hide what the fault did": {
			[]hole{{from: 30_000, to: 31_700, node: "db-1", errors: 3}, {from: 40_000, to: 40_023, node: "db-1", errors: 1}},
			[]v1alpha1.FaultStatus{hit("crash", "db-0", 30_905)},
			[]wire.Clock{clock("db-0", 899, 901)},
			"1700; 1700 False", "",
		},
		"a clock that is behind does not blame it for what came before": {
			[]hole{{from: 28_000, to: 29_700, node: "db-0"}, {from: 30_000, to: 30_700, node: "db-1"}},
			[]v1alpha1.FaultStatus{hit("crash", "db-0", 29_005)},
			[]wire.Clock{clock("db-0", -1001, -999)},
			"700; 700 True", "Before the first fault no write was acknowledged for 1700 ms",
		},
		"clocks that may make the difference leave the goal unknown": {
			[]hole{{from: 28_000, to: 29_700, node: "db-0"}, {from: 30_000, to: 30_700, node: "db-1"}},
			[]v1alpha1.FaultStatus{hit("crash", "db-0", 29_800)},
			[]wire.Clock{clock("db-0", -400, 400)},
			"1700 (1000); 1700 (1000) Unknown", "may have been up to 1000 of its 1700 ms shorter",
		},
		"clocks that make no difference to the goal": {
			[]hole{{from: 29_000, to: 29_700, node: "db-0"}, {from: 30_000, to: 30_500, node: "db-1"}},
			[]v1alpha1.FaultStatus{hit("crash", "db-0", 29_800)},
			[]wire.Clock{clock("db-0", -400, 400)},
			"700 (200); 700 (200) True", "",
		},
		"a clock that was never measured leaves any silence of the load": {
			[]hole{{from: 10_000, to: 11_500, node: "db-0"}, {from: 30_000, to: 30_700, node: "db-1"}},
			[]v1alpha1.FaultStatus{kill},
			nil, "1500 (1500); 1500 (1500) Unknown", "is not known, since its own was never measured",
		},
		"the longest of several, a later one": {
			[]hole{{from: 30_000, to: 30_700, node: "db-1"}, {from: 40_000, to: 42_400, node: "db-1"}},
			[]v1alpha1.FaultStatus{kill},
			exact, "2400; 2400 False", "",
		},
		"the longest of several, an earlier one": {
			[]hole{{from: 30_000, to: 32_400, node: "db-0"}, {from: 40_000, to: 40_700, node: "db-1"}},
			[]v1alpha1.FaultStatus{kill},
			exact, "2400; 2400 False", "",
		},
		"each fault has its own": {
			[]hole{{from: 30_000, to: 30_700, node: "db-1"}, {from: 40_000, to: 42_400, node: "db-0"}},
			[]v1alpha1.FaultStatus{hit("later", "db-1", 40_003), kill},
			exact, "2400 700; 2400 False", "",
		},
		"faults of one moment share it": {
			[]hole{{from: 30_080, to: 30_700, node: "db-1"}},
			[]v1alpha1.FaultStatus{kill, hit("crash.2", "db-1", 30_090), hit("other", "db-0", 50_000)},
			exact, "620 620 20; 620 True", "",
		},
		"a late fault begins where it came": {
			[]hole{{from: 20_000, to: 20_700, node: "db-0"}, {from: 30_000, to: 30_500, node: "db-1"}},
			[]v1alpha1.FaultStatus{{Name: "late", Fault: "late", Pod: "db-0", PlannedTime: at(10_000), InjectedTime: atPtr(29_000)}, hit("b", "db-1", 15_000)},
			exact, "500 700; 700 True", "",
		},
		"a fault within another's outage": {
			[]hole{{from: 30_000, to: 36_000, node: "db-1"}},
			[]v1alpha1.FaultStatus{kill, hit("within", "db-1", 34_000)},
			exact, "4000 6000; 6000 False",
			"The outage of fault crash was not over when the next fault came: its 4000 ms are until then",
		},
		"the fault that comes next does not lend its outage": {
			[]hole{{from: 39_995, to: 42_000, node: "db-1"}},
			[]v1alpha1.FaultStatus{kill, hit("next", "db-0", 40_000)},
			exact, "20 2005; 2005 False", "",
		},
		"an order of faults that clocks do not tell": {
			[]hole{{from: 31_000, to: 33_000, node: "db-1"}},
			[]v1alpha1.FaultStatus{kill, hit("next", "db-1", 32_000)},
			[]wire.Clock{clock("db-0", 0, 0), clock("db-1", -1500, 1500)},
			"2000 (1980) 2000 (1980); 2000 False", "",
		},
		"one that outlasts the load counts whole": {
			[]hole{{from: 59_500, to: 60_300, node: "db-1"}}, []v1alpha1.FaultStatus{hit("crash", "db-0", 59_510)}, exact, "800; 800 True", "",
		},
		"what begins after the load is none": {
			[]hole{{from: 60_100, to: 60_380, node: "db-0"}}, []v1alpha1.FaultStatus{kill}, exact, "20; 20 True", "",
		},
		"one that never ended is a lower bound": {
			[]hole{{from: 59_500}}, []v1alpha1.FaultStatus{hit("crash", "db-0", 59_510)}, exact, "≥900; ≥900 Unknown", "its outage of 900 ms is a lower bound",
		},
		"one that never ended, and of which the recorder slept a part": {
			[]hole{{from: 59_000, paused: 300}}, []v1alpha1.FaultStatus{hit("crash", "db-0", 59_010)}, exact, "≥1100; ≥1100 False", "its outage of 1100 ms is a lower bound",
		},
		"one that never ended and is too long already": {
			[]hole{{from: 49_500}}, []v1alpha1.FaultStatus{hit("crash", "db-0", 49_510)}, exact, "≥10900; ≥10900 False", "",
		},
		"one of which the recorder slept a part": {
			[]hole{{from: 30_000, to: 31_400, node: "db-1", paused: 600}},
			[]v1alpha1.FaultStatus{kill},
			exact, "1400 (600); 1400 (600) Unknown",
			"may have been up to 600 of its 1400 ms shorter",
		},
		"one that is too long though the recorder slept": {
			[]hole{{from: 30_000, to: 31_400, node: "db-1", paused: 399}}, []v1alpha1.FaultStatus{kill}, exact, "1400 (399); 1400 (399) False", "",
		},
		"a fault that was not injected is none": {
			[]hole{{from: 10_000, to: 12_000, node: "db-0"}}, []v1alpha1.FaultStatus{{Name: "crash", Fault: "crash", Pod: "db-0"}}, exact, "absent; 2000 False", "",
		},
		"without a fault the longest silence under load": {[]hole{{from: 10_000, to: 10_600, node: "db-0"}}, nil, nil, "; 600 True", ""},
		"without a fault the time to the first write":    {[]hole{{from: -10, to: 1_300, node: "db-0"}}, nil, nil, "; 1300 False", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := sound(), v1alpha1.ReplicationExperimentStatus{}
			e.Recorder.Availability, e.Recorder.Clocks, e.Faults = available(c.holes...), c.clocks, c.faults
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
			if reasons := strings.Join(s.Reasons, " "); !strings.Contains(reasons, c.says) {
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
