package counters

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/wire"
)

// askedAt is a question to an agent at a second of the load. It took a moment.
func askedAt(seconds float64, node, stage string, counts wire.LinkCounts) LinkSample {
	return LinkSample{Node: node, Stage: stage, At: after(seconds), Took: time.Millisecond, Counts: counts}
}

// inVain is one that was not answered.
func inVain(seconds float64, node, stage string) LinkSample {
	return LinkSample{Node: node, Stage: stage, At: after(seconds), Took: 900 * time.Millisecond, Missed: true}
}

// slow is one whose answer took long.
func slow(s LinkSample) LinkSample {
	s.Took = 800 * time.Millisecond
	return s
}

func queueOf(session string, packets, late, heldUp int64) wire.LinkCounts {
	return wire.LinkCounts{Session: session, Packets: packets, Late: late, HeldUp: heldUp}
}

// summed are counts with sums by delay.
func summed(delays ...wire.DelayCounts) wire.LinkCounts {
	counts := queueOf("1", 0, 0, 0)
	counts.Delays = delays
	for _, d := range delays {
		counts.Packets += d.Packets
	}
	return counts
}

func TestLinks(t *testing.T) {
	for name, c := range map[string]struct {
		samples []LinkSample
		want    []wire.NodeLinks
	}{
		"one sample is a baseline and no result": {[]LinkSample{askedAt(0, "a", "few", queueOf("1", 900, 90, 9))}, nil},
		"what was before the load counts for nothing": {
			[]LinkSample{askedAt(0, "a", "", queueOf("1", 0, 0, 0)), askedAt(1, "a", "", queueOf("1", 900, 90, 9))}, nil,
		},
		"packets count for the stage of both samples, and what is late for those of either": {
			[]LinkSample{
				askedAt(0, "a", "", queueOf("1", 900, 90, 9)),
				askedAt(1, "a", "few", queueOf("1", 1000, 91, 9)),
				askedAt(2, "a", "few", queueOf("1", 1100, 93, 9)),
				askedAt(3, "a", "few", queueOf("1", 1200, 93, 9)),
				askedAt(4, "a", "many", queueOf("1", 1500, 103, 11)),
				askedAt(5, "a", "many", queueOf("1", 1900, 103, 11)),
				askedAt(6, "a", "", queueOf("1", 2000, 104, 11)),
				askedAt(17, "a", "", queueOf("1", 2100, 104, 11)),
				askedAt(18, "a", "", queueOf("1", 3000, 204, 12)),
			},
			[]wire.NodeLinks{
				{Node: "a", Stage: "few", DelayedPackets: 200, LatePackets: 1 + 2 + 10, HeldUpPackets: 2},
				{Node: "a", Stage: "many", DelayedPackets: 400, LatePackets: 10 + 1, HeldUpPackets: 2},
			},
		},
		"a stage that is shorter than a sample's interval has what may have been late in it": {
			[]LinkSample{
				askedAt(0, "a", "few", queueOf("1", 100, 0, 0)),
				askedAt(1, "a", "many", queueOf("1", 200, 1, 0)),
				askedAt(2, "a", "", queueOf("1", 300, 1, 0)),
			},
			[]wire.NodeLinks{{Node: "a", Stage: "few", LatePackets: 1}, {Node: "a", Stage: "many", LatePackets: 1}},
		},
		"sums of each delay, of the same packets": {
			[]LinkSample{
				askedAt(0, "a", "few", summed(wire.DelayCounts{DelayMicroseconds: 40, Packets: 100, LateMicroseconds: 50})),
				askedAt(1, "a", "few", summed(wire.DelayCounts{DelayMicroseconds: 40, Packets: 200, LateMicroseconds: 75})),
				askedAt(2, "a", "many", summed(wire.DelayCounts{DelayMicroseconds: 40, Packets: 300, LateMicroseconds: 80})),
				askedAt(3, "a", "many", summed(
					wire.DelayCounts{DelayMicroseconds: 9, Packets: 7, LateMicroseconds: 5}, wire.DelayCounts{DelayMicroseconds: 40, Packets: 400, LateMicroseconds: 80},
				)),
				askedAt(4, "a", "many", summed(
					wire.DelayCounts{DelayMicroseconds: 9, Packets: 10, LateMicroseconds: 6}, wire.DelayCounts{DelayMicroseconds: 40, Packets: 401, LateMicroseconds: 82},
				)),
			},
			[]wire.NodeLinks{
				{Node: "a", Stage: "few", DelayedPackets: 100, Delays: []wire.DelayCounts{{DelayMicroseconds: 40, Packets: 100, LateMicroseconds: 25}}},
				{Node: "a", Stage: "many", DelayedPackets: 111, Delays: []wire.DelayCounts{
					{DelayMicroseconds: 9, Packets: 10, LateMicroseconds: 6}, {DelayMicroseconds: 40, Packets: 101, LateMicroseconds: 2},
				}},
			},
		},
		"a packet that was held up may have been due in a stage before": {
			[]LinkSample{
				askedAt(0, "a", "few", queueOf("1", 100, 0, 0)),
				askedAt(1, "a", "few", queueOf("1", 200, 0, 0)),
				askedAt(2, "a", "many", queueOf("1", 200, 0, 0)),
				askedAt(3, "a", "many", queueOf("1", 200, 0, 0)),
				askedAt(4, "a", "many", queueOf("1", 600, 300, 290)),
			},
			[]wire.NodeLinks{
				{Node: "a", Stage: "few", DelayedPackets: 100, LatePackets: 300, HeldUpPackets: 290},
				{Node: "a", Stage: "many", DelayedPackets: 400, LatePackets: 300, HeldUpPackets: 290},
			},
		},
		"not in one that was over 10 s before": {
			[]LinkSample{
				askedAt(0, "a", "few", queueOf("1", 100, 0, 0)),
				askedAt(1, "a", "few", queueOf("1", 200, 0, 0)),
				askedAt(2, "a", "many", queueOf("1", 200, 0, 0)),
				askedAt(13, "a", "many", queueOf("1", 200, 0, 0)),
				askedAt(14, "a", "many", queueOf("1", 600, 300, 290)),
			},
			[]wire.NodeLinks{
				{Node: "a", Stage: "few", DelayedPackets: 100},
				{Node: "a", Stage: "many", DelayedPackets: 400, LatePackets: 300, HeldUpPackets: 290},
			},
		},
		"one that was late by less may have been due up to 100 ms before": {
			[]LinkSample{
				askedAt(0, "a", "few", queueOf("1", 100, 0, 0)),
				askedAt(1, "a", "few", queueOf("1", 200, 0, 0)),
				askedAt(2, "a", "many", queueOf("1", 300, 0, 0)),
				askedAt(3, "a", "many", queueOf("1", 400, 5, 0)),
				askedAt(4, "a", "many", queueOf("1", 500, 45, 0)),
			},
			[]wire.NodeLinks{
				{Node: "a", Stage: "few", DelayedPackets: 100, LatePackets: 5},
				{Node: "a", Stage: "many", DelayedPackets: 200, LatePackets: 45},
			},
		},
		"an answer that took long may tell of the stage after that in which it was asked for": {
			[]LinkSample{
				askedAt(0, "a", "few", queueOf("1", 100, 0, 0)),
				slow(askedAt(1, "a", "few", queueOf("1", 200, 5, 1))),
				askedAt(2, "a", "many", queueOf("1", 300, 5, 1)),
				slow(askedAt(3, "a", "many", queueOf("1", 400, 7, 1))),
				askedAt(4, "a", "many", queueOf("1", 500, 7, 1)),
			},
			[]wire.NodeLinks{
				{Node: "a", Stage: "few", DelayedPackets: 100, LatePackets: 5 + 2, HeldUpPackets: 1},
				{Node: "a", Stage: "many", DelayedPackets: 200, LatePackets: 5 + 2, HeldUpPackets: 1},
			},
		},
		"an agent that was silent for a while has counted on, for all stages that were under way meanwhile": {
			[]LinkSample{
				askedAt(0, "a", "few", queueOf("1", 100, 0, 0)),
				inVain(1, "a", "few"),
				askedAt(9, "a", "few", queueOf("1", 200, 1, 0)),
				inVain(10, "a", "many"),
				inVain(12, "a", "more"),
				askedAt(14, "a", "more", queueOf("1", 300, 3, 0)),
			},
			[]wire.NodeLinks{
				{Node: "a", Stage: "few", DelayedPackets: 100, LatePackets: 1 + 2},
				{Node: "a", Stage: "many", LatePackets: 2},
				{Node: "a", Stage: "more", LatePackets: 2},
			},
		},
		"what it counted after its last sample is not known": {
			[]LinkSample{
				askedAt(0, "a", "few", queueOf("1", 100, 0, 0)),
				askedAt(1, "a", "few", queueOf("1", 200, 0, 0)),
				inVain(2, "a", "few"),
				inVain(31, "a", "few"),
				inVain(32, "a", ""),
				inVain(40, "a", ""),
			},
			[]wire.NodeLinks{{Node: "a", Stage: "few", DelayedPackets: 100, UncoveredMicroseconds: 31_000_000}},
		},
		"nor after the last one of another": {
			[]LinkSample{
				askedAt(0, "a", "few", queueOf("1", 100, 5, 1)),
				askedAt(1, "a", "few", queueOf("1", 200, 5, 1)),
				inVain(2, "a", "few"),
				inVain(20, "a", "few"),
				askedAt(21, "a", "few", queueOf("2", 30, 0, 0)),
				askedAt(22, "a", "few", queueOf("2", 40, 0, 0)),
			},
			[]wire.NodeLinks{{Node: "a", Stage: "few", DelayedPackets: 100 + 30 + 10, UncoveredMicroseconds: 20_000_000}},
		},
		"of a stage within that nothing is known": {
			[]LinkSample{
				askedAt(0, "a", "few", queueOf("1", 100, 5, 1)),
				inVain(1, "a", "many"),
				askedAt(2, "a", "more", queueOf("2", 30, 0, 0)),
			},
			[]wire.NodeLinks{{Node: "a", Stage: "few", UncoveredMicroseconds: 1_000_000}, {Node: "a", Stage: "more", UncoveredMicroseconds: 1_000_000}},
		},
		"nor before the first": {
			[]LinkSample{
				inVain(-1, "a", ""),
				inVain(0, "a", "few"),
				askedAt(3, "a", "few", queueOf("1", 100, 0, 0)),
				askedAt(4, "a", "few", queueOf("1", 200, 1, 0)),
			},
			[]wire.NodeLinks{{Node: "a", Stage: "few", DelayedPackets: 100, LatePackets: 1, UncoveredMicroseconds: 4_000_000}},
		},
		"of one that never answered nothing is": {[]LinkSample{inVain(0, "a", "few"), inVain(1, "a", "few")}, nil},
		"an agent that was started anew counts from 0, also where it has overtaken the one before": {
			[]LinkSample{
				askedAt(0, "a", "few", queueOf("1", 100, 5, 1)),
				askedAt(1, "a", "few", queueOf("2", 150, 8, 1)),
				askedAt(2, "a", "few", queueOf("3", 7, 1, 0)),
			},
			[]wire.NodeLinks{{Node: "a", Stage: "few", DelayedPackets: 157, LatePackets: 9, HeldUpPackets: 1, UncoveredMicroseconds: 2_000_000}},
		},
		"links that were ended have counted nothing since": {
			[]LinkSample{askedAt(0, "a", "few", queueOf("1", 100, 5, 1)), askedAt(1, "a", "few", wire.LinkCounts{Session: "1"})},
			[]wire.NodeLinks{{Node: "a", Stage: "few"}},
		},
		"nodes do not mix, and come in their order": {
			[]LinkSample{
				askedAt(0, "b", "few", queueOf("1", 0, 0, 0)),
				askedAt(0, "a", "few", queueOf("1", 0, 0, 0)),
				askedAt(1, "b", "few", queueOf("1", 10, 1, 0)),
				askedAt(1, "a", "few", queueOf("1", 20, 2, 0)),
			},
			[]wire.NodeLinks{{Node: "a", Stage: "few", DelayedPackets: 20, LatePackets: 2}, {Node: "b", Stage: "few", DelayedPackets: 10, LatePackets: 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := NewLinks([]string{"a", "b"}, []string{"few", "many", "more"})
			for _, s := range c.samples {
				l.Add(s)
			}
			if diff := cmp.Diff(c.want, l.Result()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAResultStaysAsItWas: live figures are read while samples come.
func TestAResultStaysAsItWas(t *testing.T) {
	l := NewLinks([]string{"a"}, []string{"few"})
	at := func(second float64, packets int64) {
		l.Add(askedAt(second, "a", "few", summed(wire.DelayCounts{DelayMicroseconds: 40, Packets: packets})))
	}
	at(0, 100)
	at(1, 200)
	before := l.Result()
	at(2, 300)
	if got := before[0].Delays[0].Packets; got != 100 {
		t.Errorf("%d packets, want 100", got)
	}
}
