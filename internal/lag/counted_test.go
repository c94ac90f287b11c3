package lag

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

func TestWritesThatDoNotCountAreWatchedAndInNoFigure(t *testing.T) {
	b := stateOf(10, 100, 200)
	begin := func(seq uint64, counted bool, at time.Duration) { b.begin(seq, primary, int(seq%2), counted, at) }
	begin(1, false, 10*ms) // warm-up: seen by b, never by c
	b.acknowledge(11 * ms)
	begin(2, true, 20*ms) // of the load, and seen by b after it
	b.acknowledge(21 * ms)
	begin(3, false, 30*ms)
	b.discard()
	begin(4, false, 40*ms)
	b.acknowledge(41 * ms)
	b.tracks[1].observe(saw(1, 4, 90*ms, 91*ms))

	r := b.result(141 * ms)
	if r.Acknowledged != 1 || r.Uncounted != 2 || r.Discarded != 0 {
		t.Errorf("%d acknowledged, %d uncounted, %d discarded, want 1, 2 and 0", r.Acknowledged, r.Uncounted, r.Discarded)
	}
	if n := r.Nodes[1]; n.Samples != 1 || *n.MaxMicroseconds != 70000 || n.Unseen != 0 {
		t.Errorf("b: %+v, want write 2 alone, with its lag of 70 ms", n)
	}
	if n := r.Nodes[2]; n.Samples != 0 || n.Unseen != 1 || *n.OldestUnseenMicroseconds != 120000 {
		t.Errorf("c: %+v, want write 2 alone, unseen for 120 ms", n)
	}
	if len(r.Sizes) != 1 || r.Sizes[0].PayloadBytes != 100 || r.Sizes[0].Samples != 1 {
		t.Errorf("sizes %+v, want that of write 2 alone", r.Sizes)
	}
	if got := b.latest(141 * ms); !cmp.Equal(got, []int64{-1, 80000, 130000}) {
		t.Errorf("latest %v: what does not count is watched all the same", got)
	}
}

func TestWhatANodeNeverShowedIsInItsPercentiles(t *testing.T) {
	b := stateOf(100, 100)
	for seq := uint64(1); seq <= 10; seq++ {
		b.wrote(seq, primary, 0, time.Duration(seq)*10*ms, time.Duration(seq)*10*ms)
		b.tracks[1].observe(saw(seq, seq, 0, time.Duration(seq)*10*ms+ms))
		if seq <= 4 {
			b.tracks[2].observe(saw(seq, seq, 0, time.Duration(seq)*10*ms+ms))
		}
	}
	r := b.result(1100 * ms)
	if n := r.Nodes[1]; *n.P50Microseconds != 1000 || *n.MaxMicroseconds != 1000 {
		t.Errorf("b has shown all within 1 ms: %+v", n)
	}
	if n := r.Nodes[2]; n.Samples != 4 || n.Unseen != 6 || !near(*n.P50Microseconds, 1000_000) || *n.MaxMicroseconds != 1050_000 {
		t.Errorf("c stopped after write 4, which is 1050 ms ago: %+v, p50 %d, max %d", n, *n.P50Microseconds, *n.MaxMicroseconds)
	}
	if r.Samples != 14 || r.Unseen != 6 || !near(*r.P99Microseconds, 1050_000) {
		t.Errorf("all: %+v, p99 %d", r.LagDistribution, *r.P99Microseconds)
	}
}

// twoNodes has a, which took write 1, and b, which took write 2 after it.
func twoNodes() *state {
	b := newState([]wire.Node{{Name: "a"}, {Name: "b"}}, []int64{100}, 10)
	b.tracks[0].identify(engine.LagWatched{Identity: "uuid-a", CommitOrder: true})
	b.tracks[1].identify(engine.LagWatched{Identity: "uuid-b", CommitOrder: true})
	b.wrote(1, primary, 0, 10*ms, 11*ms)
	b.tracks[1].observe(saw(1, 1, 11*ms, 12*ms))
	b.wrote(2, second, 0, 20*ms, 21*ms)
	return b
}

func TestOldPrimaryCountsOnceItFollowsAgain(t *testing.T) {
	b := twoNodes()
	b.tracks[0].observe(saw(2, 2, 9000*ms, 9021*ms)) // what it missed while it was away is no lag of a replica
	r := b.result(9021 * ms)
	if a := r.Nodes[0]; a.FormerPrimary || a.Samples != 0 || a.Away != 1 {
		t.Errorf("the old primary at its return: %+v, want 1 write away and no sample", a)
	}
	if r.Samples != 1 || *r.MaxMicroseconds != 1000 {
		t.Errorf("all: %+v, want write 1 on b alone", r.LagDistribution)
	}
	b.wrote(3, second, 0, 9030*ms, 9031*ms)
	b.tracks[0].observe(saw(3, 3, 9080*ms, 9081*ms))
	r = b.result(9090 * ms)
	if a := r.Nodes[0]; a.FormerPrimary || a.Samples != 1 || *a.MaxMicroseconds != 50_000 {
		t.Errorf("the old primary as a replica: %+v, want write 3 after 50 ms", a)
	}
	if r.Samples != 2 || *r.MaxMicroseconds != 50_000 {
		t.Errorf("all: %+v, want write 3 among them", r.LagDistribution)
	}
	b.wrote(4, second, 0, 9100*ms, 9101*ms)
	if r = b.result(19_101 * ms); r.Unseen != 1 || *r.MaxMicroseconds != 10_000_000 || len(r.LowerBounds) == 0 {
		t.Errorf("all: %+v, want write 4 unseen for 10 s: it follows no more", r.LagDistribution)
	}
}

func TestOldPrimaryStaysFormerUntilItShowsAnothersWrite(t *testing.T) {
	b := twoNodes()
	b.tracks[0].observe(saw(1, 1, 22*ms, 23*ms)) // its own
	b.tracks[0].observe(missed(2, 2, 24*ms, 25*ms, span(2, 2)))
	b.wrote(3, second, 0, 30*ms, 31*ms)
	r := b.result(90 * ms)
	if a := r.Nodes[0]; !a.FormerPrimary || a.Away != 2 || a.Unseen != 0 {
		t.Errorf("%+v, want two writes away", a)
	}
	b.wrote(4, primary, 0, 100*ms, 101*ms)
	if r := b.result(110 * ms); r.Nodes[0].FormerPrimary || !r.Nodes[1].FormerPrimary {
		t.Errorf("a took the writes back from b, but they are %+v", r.Nodes)
	}
}

func TestWritesWithoutAReplicaMakeLowerBounds(t *testing.T) {
	percentiles := []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P99, v1alpha1.Max}
	b := twoNodes()
	r := b.result(90 * ms)
	if r.Unwatched != 1 || !cmp.Equal(r.LowerBounds, percentiles[1:]) || r.AtMostMicroseconds != nil {
		t.Errorf("nobody was to show one of two writes, and a has not: %+v", r.LagDistribution)
	}
	b.wrote(3, second, 0, 30*ms, 31*ms)
	if r := b.result(90 * ms); r.Unwatched != 2 || !cmp.Equal(r.LowerBounds, percentiles) {
		t.Errorf("nobody was to show two of three writes: %+v", r.LagDistribution)
	}
	b.tracks[0].observe(saw(2, 3, 9000*ms, 9021*ms))
	if r := b.result(9021 * ms); !cmp.Equal(r.LowerBounds, percentiles) || *r.AtMostMicroseconds != 9_000_000 {
		t.Errorf("the old primary has shown both, the first after 9 s: %+v", r.LagDistribution)
	}
}

func TestWritesShownAtOnceByAnOldPrimaryAreNoDoubt(t *testing.T) {
	b := twoNodes()
	b.tracks[0].observe(saw(2, 2, 21*ms, 22*ms)) // as a member of a group does
	if r := b.result(90 * ms); r.Unwatched != 1 || len(r.LowerBounds) > 0 || r.Samples != 1 {
		t.Errorf("%+v, want no lower bound: had it counted, the figures were the same", r.LagDistribution)
	}
}

func TestAnotherReplicaWatchesWhileThePrimaryIsAway(t *testing.T) {
	b := stateOf(10, 100)
	b.wrote(1, primary, 0, 10*ms, 11*ms)
	b.wrote(2, second, 0, 20*ms, 21*ms)
	for _, n := range b.tracks[1:] {
		n.observe(saw(1, 2, 22*ms, 23*ms))
	}
	if r := b.result(90 * ms); r.Unwatched != 0 || len(r.LowerBounds) > 0 || r.Nodes[0].Away != 1 {
		t.Errorf("c is a replica all the time: %+v", r)
	}
}

func TestOnlyCountedWritesAreUnwatched(t *testing.T) {
	b := twoNodes()
	b.begin(3, second, 0, false, 30*ms)
	b.acknowledge(31 * ms)
	b.begin(4, second, 0, true, 40*ms)
	b.discard()
	if r := b.result(90 * ms); r.Unwatched != 1 || r.Nodes[0].Away != 1 {
		t.Errorf("%+v, want write 2 alone", r)
	}
}

func TestAServerAloneHasNoUnwatchedWrites(t *testing.T) {
	b := newState([]wire.Node{{Name: "a"}}, []int64{100}, 10)
	b.wrote(1, primary, 0, 10*ms, 11*ms)
	if r := b.result(90 * ms); r.Unwatched != 0 {
		t.Errorf("%+v", r)
	}
}

// TestLagsLessPauses: this process did not run from 30 to 130 ms, within the lag of the second write.
func TestLagsLessPauses(t *testing.T) {
	b := newState([]wire.Node{{Name: "a"}, {Name: "b"}}, []int64{100}, 10)
	b.paused = func(from, to time.Duration) time.Duration { return max(0, min(to, 130*ms)-max(from, 30*ms)) }
	b.tracks[0].identify(engine.LagWatched{Identity: "uuid-a", CommitOrder: true})
	b.wrote(1, primary, 0, 10*ms, 11*ms)
	b.tracks[1].observe(saw(1, 1, 11*ms, 21*ms))
	if r := b.result(25 * ms); r.UnpausedMaxMicroseconds != nil {
		t.Errorf("before any pause: %+v", r.LagDistribution)
	}
	b.wrote(2, primary, 0, 24*ms, 25*ms)
	b.tracks[1].observe(saw(2, 2, 26*ms, 131*ms))
	for _, d := range []wire.LagDistribution{b.result(200 * ms).LagDistribution, b.result(200 * ms).Nodes[1].LagDistribution} {
		if *d.MaxMicroseconds != 106_000 || *d.UnpausedMaxMicroseconds != 10_000 || *d.UnpausedP50Microseconds != 6_003 {
			t.Errorf("of 10 and 106 ms, of which 100 were a pause: %d, %d, %d µs", *d.MaxMicroseconds, *d.UnpausedMaxMicroseconds, *d.UnpausedP50Microseconds)
		}
	}
}
