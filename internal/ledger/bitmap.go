package ledger

import (
	"maps"
	"math/bits"
	"slices"
)

// denseWords bounds the dense part of a Bitmap: 134,217,728 ids in 16 MiB. Ids are dealt out from 1 without gaps, so
// only ids that no ledger ever leased are beyond it, unless a run has more writes than that.
const denseWords = 1 << 21

// Bitmap is an exact set of ids. The zero value is the empty set. One bit an id up to about 134 million; a table may
// hold any id at all, so those beyond are kept by the word in a map. A copy shares its content with the original.
type Bitmap struct {
	dense []uint64
	far   map[uint64]uint64 // by index of the word, no word is 0
}

// Add puts id into the set.
func (b *Bitmap) Add(id uint64) { b.AddWord(id>>6, 1<<(id&63)) }

// AddWord puts the ids index*64+i for all bits i of word into the set.
func (b *Bitmap) AddWord(index, word uint64) {
	switch {
	case word == 0:
	case index < uint64(len(b.dense)):
		b.dense[index] |= word
	case index < denseWords:
		b.dense = append(b.dense, make([]uint64, index+1-uint64(len(b.dense)))...)
		b.dense[index] |= word
	default:
		if b.far == nil {
			b.far = map[uint64]uint64{}
		}
		b.far[index] |= word
	}
}

// AddRange puts the ids from first up to, and without, limit into the set.
func (b *Bitmap) AddRange(first, limit uint64) {
	for first < limit {
		index, low := first>>6, first&63
		count := min(64-low, limit-first)
		b.AddWord(index, ^uint64(0)>>(64-count)<<low)
		first += count
	}
}

// Has tells whether id is in the set.
func (b Bitmap) Has(id uint64) bool { return b.word(id>>6)&(1<<(id&63)) != 0 }

func (b Bitmap) word(index uint64) uint64 {
	if index < uint64(len(b.dense)) {
		return b.dense[index]
	}
	return b.far[index]
}

// Count returns how many ids are in the set.
func (b Bitmap) Count() int64 {
	n := 0
	for _, w := range b.dense {
		n += bits.OnesCount64(w)
	}
	for _, w := range b.far {
		n += bits.OnesCount64(w)
	}
	return int64(n)
}

// Outliers returns how many 64-id words are held one by one because they are far beyond any ledger's ids. Each takes
// about 50 bytes: whoever fills a Bitmap from a source that may be wrong bounds them.
func (b Bitmap) Outliers() int { return len(b.far) }

// First returns the n smallest ids, or all when there are fewer, in rising order.
func (b Bitmap) First(n int) []uint64 {
	var ids []uint64
	take := func(index, word uint64) {
		for ; word != 0 && len(ids) < n; word &= word - 1 {
			ids = append(ids, index<<6|uint64(bits.TrailingZeros64(word)))
		}
	}
	for i, w := range b.dense {
		take(uint64(i), w)
	}
	for _, index := range slices.Sorted(maps.Keys(b.far)) {
		take(index, b.far[index])
	}
	return ids
}

// And returns the ids that are in both sets.
func And(a, b Bitmap) Bitmap {
	return a.each(func(index, word uint64) uint64 { return word & b.word(index) })
}

// AndNot returns the ids of a that are not in b.
func AndNot(a, b Bitmap) Bitmap {
	return a.each(func(index, word uint64) uint64 { return word &^ b.word(index) })
}

// Or returns the ids that are in either set.
func Or(a, b Bitmap) Bitmap {
	if len(a.dense) < len(b.dense) {
		a, b = b, a
	}
	result := a.each(func(index, word uint64) uint64 { return word | b.word(index) })
	for index, word := range b.far {
		result.AddWord(index, word)
	}
	return result
}

func (b Bitmap) each(f func(index, word uint64) uint64) Bitmap {
	result := Bitmap{dense: make([]uint64, len(b.dense))}
	for i, w := range b.dense {
		result.dense[i] = f(uint64(i), w)
	}
	for index, w := range b.far {
		result.AddWord(index, f(index, w))
	}
	return result
}
