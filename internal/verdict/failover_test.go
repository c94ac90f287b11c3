package verdict

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// gapOf lies between two acknowledgements, in milliseconds after the start.
func gapOf(from, to string, begin, end, errors, pausedMilliseconds int64) wire.Gap {
	return wire.Gap{
		LastNode: from, LastAcknowledgedAt: at(begin), NextNode: to, NextAcknowledgedAt: atPtr(end),
		DurationMicroseconds: ptr.To((end - begin) * 1000), Errors: errors, PausedMicroseconds: pausedMilliseconds * 1000,
	}
}

// The fault of sound is at 30,005 ms.
func TestWhichGapIsTheOutage(t *testing.T) {
	for name, c := range map[string]struct {
		gaps   []wire.Gap
		outage int64 // -1: no failover is stated, -2: it is, without a length
		says   string
	}{
		"no gap, no outage": {nil, -1, ""},
		"another node that acknowledges is an outage, though nothing failed": {
			[]wire.Gap{gapOf("db-0", "db-1", 30_000, 30_700, 0, 0)}, 700, "",
		},
		"a silence in which nothing failed is no failover, and is told of": {
			[]wire.Gap{gapOf("db-0", "db-0", 31_000, 31_150, 0, 0), gapOf("db-0", "db-0", 40_000, 40_900, 0, 0)},
			-1, "From 12:00:40.000 on no write was acknowledged for 900 ms",
		},
		"a silence does not take the place of a shorter failover": {
			[]wire.Gap{gapOf("db-0", "db-1", 30_000, 30_700, 0, 0), gapOf("db-1", "db-1", 40_000, 40_900, 0, 0)},
			700, "for 900 ms",
		},
		"a gap in which writes failed on one node is an outage too": {
			[]wire.Gap{gapOf("db-0", "db-0", 30_000, 36_000, 9, 0)}, 6000, "",
		},
		"a longer interruption without another node is not the failover, and is told of": {
			[]wire.Gap{gapOf("db-0", "db-1", 30_000, 30_700, 3, 0), gapOf("db-1", "db-1", 40_000, 42_400, 2, 0)},
			700, "Writes also failed for 2400 ms without an acknowledgement, longer than the failover's 700 ms",
		},
		"a little time that the witness did not run is borne": {
			[]wire.Gap{gapOf("db-0", "db-1", 30_000, 31_000, 4, 50)}, 1000, "",
		},
		"an outage of which the witness missed more may have been shorter": {
			[]wire.Gap{gapOf("db-0", "db-1", 30_000, 31_000, 4, 51)}, 1000, "The outage may have been up to 51 of its 1000 ms shorter",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := sound(), v1alpha1.ReplicationExperimentStatus{}
			e.Witness.Availability.Gaps = c.gaps
			Judge(e, &s)
			got := int64(-1)
			if s.Failover != nil {
				got = ptr.Deref(s.Failover.OutageMilliseconds, -2)
			}
			if got != c.outage {
				t.Errorf("outage %d, want %d", got, c.outage)
			}
			if text := strings.Join(s.Reasons, " "); !strings.Contains(text, c.says) {
				t.Errorf("the reasons are %q; want %q", s.Reasons, c.says)
			}
		})
	}
}

func TestGoalOnTheOutageIsMeasuredByTheLongestInterruption(t *testing.T) {
	for name, c := range map[string]struct {
		gaps []wire.Gap
		want string // measured, met
	}{
		"the failover":          {[]wire.Gap{gapOf("db-0", "db-1", 30_000, 30_700, 3, 0)}, "700 True"},
		"a later one is longer": {[]wire.Gap{gapOf("db-0", "db-1", 30_000, 30_700, 3, 0), gapOf("db-1", "db-1", 40_000, 42_400, 2, 0)}, "2400 False"},
		"a later one is shorter": {
			[]wire.Gap{gapOf("db-0", "db-1", 30_000, 30_700, 3, 0), gapOf("db-1", "db-1", 40_000, 40_400, 2, 0)}, "700 True",
		},
		"one before the fault is not of it": {
			[]wire.Gap{gapOf("db-0", "db-0", 10_000, 12_000, 3, 0), gapOf("db-0", "db-1", 30_000, 30_700, 3, 0)}, "700 True",
		},
		"a later one of which the witness missed what makes the difference": {
			[]wire.Gap{gapOf("db-0", "db-1", 30_000, 30_700, 3, 0), gapOf("db-1", "db-1", 40_000, 42_400, 2, 1400)}, "2400 Unknown",
		},
		"a later one of which the witness missed less": {
			[]wire.Gap{gapOf("db-0", "db-1", 30_000, 30_700, 3, 0), gapOf("db-1", "db-1", 40_000, 42_400, 2, 1399)}, "2400 False",
		},
		"one that is short enough however long the witness did not run": {[]wire.Gap{gapOf("db-0", "db-1", 30_000, 31_000, 3, 900)}, "1000 True"},
		"one that never ended": {[]wire.Gap{{LastNode: "db-0", LastAcknowledgedAt: at(30_000), Errors: 9}}, "absent Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := sound(), v1alpha1.ReplicationExperimentStatus{}
			e.Witness.Availability.Gaps = c.gaps
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "outageMilliseconds", Max: ptr.To[int64](1000)}}
			Judge(e, &s)
			if got := fmt.Sprint(text(s.Goals[0].Measured), " ", s.Goals[0].Met); got != c.want {
				t.Errorf("measured and met: %s, want %s", got, c.want)
			}
		})
	}
}
