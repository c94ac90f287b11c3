package lag

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

var (
	primary = engine.LagWriter{Identity: "uuid-a", Hostname: "a"}
	second  = engine.LagWriter{Identity: "uuid-b", Hostname: "b"}
)

// stateOf has the nodes a, the primary, b and c.
func stateOf(limit int, sizes ...int64) *state {
	b := newState([]wire.Node{{Name: "a"}, {Name: "b"}, {Name: "c"}}, sizes, limit)
	for _, n := range b.tracks[1:] {
		n.identify(engine.LagWatched{Identity: "uuid-" + n.name, CommitOrder: true})
	}
	return b
}

func (b *state) wrote(seq uint64, taker engine.LagWriter, size int, begun, acked time.Duration) {
	b.begin(seq, taker, size, true, begun)
	b.acknowledge(acked)
}

func TestTheWritersServerHasNoSamplesAndTheOthersHaveEachWrite(t *testing.T) {
	b := stateOf(10, 100)
	b.wrote(1, primary, 0, 10*ms, 12*ms)
	for _, n := range b.tracks { // a did not tell its identity yet: its name does
		n.observe(saw(1, 1, 12*ms, 15*ms))
	}
	r := b.result(20 * ms)
	if got := []int64{r.Nodes[0].Samples, r.Nodes[1].Samples, r.Nodes[2].Samples, r.Samples}; !cmp.Equal(got, []int64{0, 1, 1, 2}) {
		t.Fatalf("samples of a, b, c and all: %v, want 0, 1, 1, 2", got)
	}
	if r.Nodes[0].P50Microseconds != nil {
		t.Fatal("a node without a sample has a median")
	}
	if *r.P50Microseconds != 3000 || r.Sizes != nil {
		t.Fatalf("median %d, sizes %v, want 3000 and none for a single size", *r.P50Microseconds, r.Sizes)
	}
}

// TestWhereSeveralNodesTakeWritesEachFollowsTheOthers, and none is set apart for having taken some.
func TestWhereSeveralNodesTakeWritesEachFollowsTheOthers(t *testing.T) {
	for several, want := range map[bool]int64{false: 3, true: 4} {
		b := stateOf(10, 100)
		b.several = several
		b.tracks[0].identify(engine.LagWatched{Identity: "uuid-a", CommitOrder: true})
		b.wrote(1, primary, 0, 10*ms, 12*ms)
		for _, n := range b.tracks {
			n.observe(saw(1, 1, 12*ms, 15*ms))
		}
		b.wrote(2, second, 0, 20*ms, 22*ms)
		for _, n := range b.tracks {
			n.observe(saw(2, 2, 22*ms, 25*ms))
		}
		if r := b.result(30 * ms); r.Samples != want || (r.Nodes[0].Away > 0) == several {
			t.Errorf("several writers: %v; %d samples, want %d: %+v", several, r.Samples, want, r.Nodes[0])
		}
	}
}

func TestDiscardedWritesAreCountedAndNotAwaited(t *testing.T) {
	b := stateOf(10, 100)
	b.begin(1, primary, 0, true, 10*ms)
	b.discard()
	r := b.result(20 * ms)
	if r.Discarded != 1 || r.Acknowledged != 0 || r.Unseen != 0 || r.OldestUnseenMicroseconds != nil {
		t.Fatalf("got %+v, want one discarded write and nothing unseen", r)
	}
	if !b.complete() {
		t.Fatal("a discarded write is outstanding")
	}
}

func TestAWriteWithoutAnAnswerIsNotUnseen(t *testing.T) {
	b := stateOf(10, 100)
	b.begin(1, primary, 0, true, 10*ms)
	if r := b.result(20 * ms); r.Unseen != 0 || r.OldestUnseenMicroseconds != nil {
		t.Fatalf("got %+v, want nothing unseen before the acknowledgement", r)
	}
	if b.complete() {
		t.Fatal("complete while a write is out")
	}
}

func TestWhatOverflowsIsUnseen(t *testing.T) {
	b := stateOf(2, 100)
	for seq := uint64(1); seq <= 5; seq++ {
		b.wrote(seq, primary, 0, time.Duration(seq)*10*ms, time.Duration(seq)*10*ms+ms)
	}
	b.tracks[1].observe(saw(1, 2, 60*ms, 61*ms))
	r := b.result(100 * ms)
	if n := r.Nodes[1]; n.Samples != 2 || n.Unseen != 3 || n.OldestUnseenMicroseconds != nil {
		t.Fatalf("b: %+v, want 2 samples and 3 unseen", n)
	}
	if n := r.Nodes[2]; n.Samples != 0 || n.Unseen != 5 || *n.OldestUnseenMicroseconds != 89000 {
		t.Fatalf("c: %+v, want 5 unseen, the oldest 89 ms old", n)
	}
	if b := r.Nodes[1]; *b.P50Microseconds != 0 || *b.MaxMicroseconds <= 0 {
		t.Fatalf("b: p50 %d, max %d: of what nobody watches no lag is known", *b.P50Microseconds, *b.MaxMicroseconds)
	}
	if r.Unseen != 8 || *r.OldestUnseenMicroseconds != 89000 {
		t.Fatalf("all: %+v, want 8 unseen, the oldest 89 ms old", r)
	}
}

func TestLatestIsTheLargestLagOrTheGrowingAge(t *testing.T) {
	b := stateOf(10, 100)
	expect := func(now time.Duration, want ...int64) {
		t.Helper()
		if got := b.latest(now); !cmp.Equal(got, want) {
			t.Fatalf("latest at %v: %v, want %v", now, got, want)
		}
	}
	expect(5*ms, -1, -1, -1)
	b.begin(1, primary, 0, true, 8*ms)
	expect(9*ms, -1, -1, -1) // not acknowledged: nothing is late
	b.acknowledge(10 * ms)
	expect(30*ms, -1, 20000, 20000)
	b.tracks[1].observe(saw(1, 1, 31*ms, 35*ms))
	expect(40*ms, -1, 25000, 30000)
	expect(50*ms, -1, -1, 40000)
	b.wrote(2, primary, 0, 60*ms, 62*ms)
	b.tracks[1].observe(saw(2, 2, 59*ms, 61*ms)) // before its acknowledgement was noted
	expect(70*ms, -1, 0, 60000)
}

func TestAFailoverSetsApartWhatTheNewPrimaryLacks(t *testing.T) {
	b := stateOf(10, 100)
	b.wrote(1, primary, 0, 10*ms, 11*ms)
	b.wrote(2, primary, 0, 20*ms, 21*ms)
	b.tracks[1].observe(missed(1, 2, 30*ms, 31*ms, span(2, 2)))
	if first, last, some := b.outstanding(); first != 1 || last != 2 || !some {
		t.Fatalf("outstanding %d to %d (%v), want 1 to 2: c has shown neither", first, last, some)
	}
	b.leave(engine.Spans{{First: 2, Last: 2}})
	b.wrote(3, second, 0, 50*ms, 51*ms)
	b.tracks[2].observe(saw(3, 3, 52*ms, 53*ms))

	r := b.result(100 * ms)
	if n := r.Nodes[1]; n.Samples != 1 || n.Unseen != 1 || n.Lost != 1 || n.OldestUnseenMicroseconds != nil {
		t.Fatalf("the new primary: %+v, want 1 sample, 1 lost, and no write that it is behind for", n)
	}
	if n := r.Nodes[2]; n.Samples != 2 || n.Unseen != 1 || n.Lost != 1 {
		t.Fatalf("the replica: %+v, want samples of 1 and 3, and 2 lost", n)
	}
	if n := r.Nodes[0]; n.Samples != 0 || n.Unseen != 0 || n.Away != 1 || !n.FormerPrimary || n.MaxMicroseconds != nil {
		t.Fatalf("the old primary: %+v, want write 3 away, and no lag: it is no replica", n)
	}
	if r.Nodes[1].FormerPrimary || r.Samples != 3 || r.Unseen != 2 || r.Lost != 2 || *r.MaxMicroseconds != 42000 {
		t.Fatalf("all: %+v, want the samples of b and c without what the old primary has not shown", r)
	}
	if got := b.latest(100 * ms); !cmp.Equal(got, []int64{49000, 20000, 42000}) {
		t.Fatalf("latest %v: a lost write must not age", got)
	}
}

func TestSizesHaveTheirOwnFigures(t *testing.T) {
	b := stateOf(10, 100, 2000, 30000)
	b.wrote(1, primary, 0, 10*ms, 12*ms)
	b.wrote(2, primary, 1, 20*ms, 25*ms)
	b.tracks[1].observe(saw(1, 1, 12*ms, 13*ms))
	b.tracks[1].observe(saw(2, 2, 25*ms, 29*ms))
	b.tracks[2].observe(saw(1, 1, 12*ms, 13*ms))
	got := b.result(125 * ms).Sizes
	if len(got) != 2 {
		t.Fatalf("%d sizes, want 2: none was written of the third", len(got))
	}
	small, large := got[0], got[1]
	if small.PayloadBytes != 100 || small.InsertP50Microseconds != 2000 || small.Samples != 2 || *small.P50Microseconds != 1000 || small.Unseen != 0 {
		t.Errorf("small: %+v", small)
	}
	if small.InsertP99Microseconds != 2000 || *small.TotalP50Microseconds != 3000 || *small.TotalP99Microseconds != 3000 ||
		!near(*small.ResolutionP99Microseconds, 3000) || *small.BareP50Microseconds != -2000 || *small.BareP99Microseconds != -2000 {
		t.Errorf("small: total %d, resolution %d, bare %d", *small.TotalP50Microseconds, *small.ResolutionP99Microseconds, *small.BareP50Microseconds)
	}
	if large.TotalP50Microseconds != nil || large.BareP99Microseconds != nil {
		t.Errorf("large: total %v, bare %v, though a node has not shown one", large.TotalP50Microseconds, large.BareP99Microseconds)
	}
	if large.PayloadBytes != 2000 || large.InsertP50Microseconds != 5000 || large.Samples != 1 || !near(*large.P50Microseconds, 4000) ||
		large.Unseen != 1 || *large.OldestUnseenMicroseconds != 100000 || *large.MaxMicroseconds != 100000 {
		t.Errorf("large: %+v", large)
	}
}

func TestTheEnginesViewCountsATransactionOnce(t *testing.T) {
	b := stateOf(10, 100)
	one, nine := ms, 9*ms
	b.tracks[1].view(engine.ReplicaView{Queued: "1", Transport: &one, Executed: "1", Apply: &nine}, true)
	b.tracks[1].view(engine.ReplicaView{Queued: "1", Transport: &one, Executed: "1", Apply: &nine}, true)
	b.tracks[1].view(engine.ReplicaView{}, true)
	b.tracks[1].view(engine.ReplicaView{Queued: "2", Transport: &nine, Executed: "2", Apply: &one}, false)
	b.tracks[1].view(engine.ReplicaView{Queued: "2", Transport: &nine, Executed: "2", Apply: &one}, true) // the one of before
	if n := b.tracks[1]; n.transport.count() != 1 || n.apply.count() != 1 {
		t.Fatalf("%d and %d figures, want one each", n.transport.count(), n.apply.count())
	}
	r := b.result(ms)
	if *r.Nodes[1].EngineTransportP50Microseconds != 1000 || *r.Nodes[1].EngineApplyP50Microseconds != 9000 || r.Nodes[2].EngineApplyP50Microseconds != nil {
		t.Fatalf("got %+v", r.Nodes)
	}
}
