package ledger

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// border is between two containers of the library, and between ids of 31 and of 32 bits.
const border = 1 << 31

// edges are ids about the borders of words and of containers, and the extremes.
var edges = []uint64{0, 1, 63, 64, 65, 127, 128, 1<<16 - 1, 1 << 16, border - 1, border, 1<<32 - 1, 1 << 32, MaxID, math.MaxInt64, math.MaxUint64}

func TestBitmapHoldsEveryID(t *testing.T) {
	var b Bitmap
	for i, id := range edges {
		if b.Has(id) {
			t.Errorf("%d is in the set before it was added", id)
		}
		if !b.Add(id) || b.Add(id) {
			t.Errorf("%d is new once, and then no more", id)
		}
		if !b.Has(id) || b.Count() != int64(i+1) {
			t.Errorf("after %d was added twice: has %v, count %d, want true, %d", id, b.Has(id), b.Count(), i+1)
		}
	}
	wantIDs(t, "the set", b, append([]uint64(nil), edges...)...)
	if first := b.First(3); len(first) != 3 || first[2] != 63 {
		t.Errorf("First(3) = %v, want 0, 1, 63", first)
	}
}

func TestBitmapRanges(t *testing.T) {
	for _, c := range []struct{ first, limit uint64 }{
		{1, 1}, {5, 4}, {0, 1}, {63, 65}, {64, 128}, {1, 10001}, {3, 200}, {border - 70, border + 70},
	} {
		var b Bitmap
		b.AddRange(c.first, c.limit)
		want := int64(0)
		if c.limit > c.first {
			want = int64(c.limit - c.first)
			if !b.Has(c.first) || !b.Has(c.limit-1) {
				t.Errorf("the range from %d to %d has not its borders", c.first, c.limit)
			}
		}
		if b.Count() != want || b.Has(c.limit) || c.first > 0 && b.Has(c.first-1) {
			t.Errorf("the range from %d to %d has %d ids, want %d and nothing outside", c.first, c.limit, b.Count(), want)
		}
	}
}

func TestBitmapAlgebraAgreesWithMaps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var sets [2]Bitmap
		var naive [2]map[uint64]bool
		universe := append([]uint64(nil), edges...)
		for range 50 {
			universe = append(universe, random.Uint64N(500), border+random.Uint64N(200))
		}
		for i := range sets {
			naive[i] = map[uint64]bool{}
			for _, id := range universe[:random.IntN(len(universe))] {
				if random.IntN(2) == 0 {
					sets[i].Add(id)
					naive[i][id] = true
				}
			}
		}
		a, b := sets[0], sets[1]
		for name, c := range map[string]struct {
			got  Bitmap
			want func(inA, inB bool) bool
		}{
			"And":    {And(a, b), func(x, y bool) bool { return x && y }},
			"AndNot": {AndNot(a, b), func(x, y bool) bool { return x && !y }},
			"Or":     {Or(a, b), func(x, y bool) bool { return x || y }},
		} {
			want := map[uint64]bool{}
			for _, id := range universe {
				if c.want(naive[0][id], naive[1][id]) {
					want[id] = true
				}
				if c.got.Has(id) != want[id] {
					t.Fatalf("%s: has %d = %v", name, id, c.got.Has(id))
				}
			}
			if c.got.Count() != int64(len(want)) {
				t.Fatalf("%s has %d ids, want %d", name, c.got.Count(), len(want))
			}
		}
	}
}

func TestAlgebraLeavesItsOperandsAlone(t *testing.T) {
	a, b := setOf(1, 2, border), setOf(2, 300, border+1)
	result := Or(a, b)
	result.Add(7)
	_, _ = And(a, b), AndNot(a, b)
	wantIDs(t, "a", a, 1, 2, border)
	wantIDs(t, "b", b, 2, 300, border+1)
}

// What a hostile table takes must be known, or it cannot be bounded.
func TestBytesAreNoUnderstatement(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, next := range map[string]func(i uint64) uint64{
		"dense ids":                 func(i uint64) uint64 { return i },
		"random ids of 64 bits":     func(uint64) uint64 { return random.Uint64() },
		"one id of each 65,536":     func(i uint64) uint64 { return i << 16 },
		"one id of each 4294967296": func(i uint64) uint64 { return i << 32 },
	} {
		before := heapBytes()
		var b Bitmap
		for i := range uint64(100_000) {
			b.Add(next(i))
		}
		if took := heapBytes() - before; took > b.Bytes()+1<<20 { // the tests' own noise
			t.Errorf("%s: take %d bytes, said to be %d", name, took, b.Bytes())
		}
		runtime.KeepAlive(b)
	}
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
