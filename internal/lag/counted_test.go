package lag

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/engine"
)

func TestWritesThatDoNotCountAreWatchedAndInNoFigure(t *testing.T) {
	b := bookOf(10, 100, 200)
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
	b := bookOf(100, 100)
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

func TestAFormerPrimaryThatComesBackIsNoSampleOfTheReplicas(t *testing.T) {
	b := bookOf(10, 100)
	b.tracks[0].identify(engine.LagWatched{Identity: "uuid-a", CommitOrder: true})
	b.wrote(1, primary, 0, 10*ms, 11*ms)
	b.wrote(2, second, 0, 20*ms, 21*ms)
	b.tracks[0].observe(saw(2, 2, 9000*ms, 9021*ms)) // rebuilt
	r := b.result(9021 * ms)
	if a := r.Nodes[0]; a.Samples != 1 || *a.MaxMicroseconds != 9000_000 {
		t.Errorf("the old primary: %+v, want its absence as its own lag", a)
	}
	if r.Samples != 0 {
		t.Errorf("all: %+v, want none of it", r.LagDistribution)
	}
	b.wrote(3, primary, 0, 9030*ms, 9031*ms)
	if r := b.result(9040 * ms); r.Nodes[0].FormerPrimary || !r.Nodes[1].FormerPrimary {
		t.Errorf("a took the writes back from b, but they are %+v", r.Nodes)
	}
}
