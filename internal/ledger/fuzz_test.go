package ledger

import (
	"bytes"
	"slices"
	"testing"
)

func FuzzArbitraryBytesNeverPanic(f *testing.F) {
	whole := sample()
	for _, cut := range []int{0, 1, 15, 16, 17, 40, len(whole)} {
		f.Add(whole[:cut])
	}
	f.Add(append(sample(), make([]byte, 48)...))
	f.Add(file(entry{KindLease, 1, 0}, entry{KindLease, 1 + BlockIDs, 0}, entry{KindClosed, BlockIDs + 5, 0}))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Load(bytes.NewReader(data))
		if err != nil {
			return
		}
		if s.Sent.Count() != s.Acknowledged.Count()+s.Rejected.Count()+s.Indeterminate.Count() {
			t.Fatal("a ledger was accepted whose sets do not add up")
		}
	})
}

// script turns arbitrary bytes into a valid ledger, so that the fuzzer gets past the checksums.
func script(ops []byte) []byte {
	var entries []entry
	limit := uint64(1)
	recorded := map[uint64]bool{}
	closed := false
	for i, op := range ops[:min(len(ops), 2000)] {
		id := limit - BlockIDs + uint64(op)
		switch {
		case closed:
			entries, closed = append(entries, entry{KindRestart, 0, int64(i)}), false
		case op == 255 || limit == 1:
			entries, limit = append(entries, entry{KindLease, limit, 0}), limit+BlockIDs
		case op == 254:
			entries, closed = append(entries, entry{KindClosed, limit - BlockIDs + 256, 0}), true
		case !recorded[id]:
			recorded[id] = true
			entries = append(entries, entry{KindAcknowledged + Kind(i%3), id, int64(op) - 128})
		}
	}
	return file(entries...)
}

func records(data []byte) ([]Record, error) {
	var all []Record
	err := Read(bytes.NewReader(data), func(r Record) error { all = append(all, r); return nil })
	return all, err
}

func FuzzTruncationKeepsExactlyTheWholeRecords(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 254, 0, 255, 7, 8, 255, 9}, uint(60))
	f.Add([]byte{255}, uint(16))
	f.Fuzz(func(t *testing.T, ops []byte, cut uint) {
		data := script(ops)
		all, err := records(data)
		must(t, err)
		loaded, err := Load(bytes.NewReader(data))
		must(t, err)
		at := RecordBytes + int(cut%uint(len(data)-RecordBytes+1))
		kept, err := records(data[:at])
		must(t, err)
		if !slices.Equal(kept, all[:at/RecordBytes]) {
			t.Fatalf("%d records of %d bytes, want the first %d", len(kept), at, at/RecordBytes)
		}
		if _, err := Load(bytes.NewReader(data[:at])); err != nil {
			t.Fatalf("%d of %d bytes: %v", at, len(data), err)
		}
		if int(loaded.Restarts) != countKind(all, KindRestart) {
			t.Fatalf("restarts %d", loaded.Restarts)
		}
	})
}

func countKind(all []Record, kind Kind) (n int) {
	for _, r := range all {
		if r.Kind == kind {
			n++
		}
	}
	return n
}

func FuzzAFlippedBitIsDetected(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 254, 0, 255, 7, 8, 255, 9}, uint(333))
	f.Fuzz(func(t *testing.T, ops []byte, bit uint) {
		data := script(ops)
		bit %= uint(len(data) * 8)
		data[bit/8] ^= 1 << (bit % 8)
		if _, err := records(data); err == nil {
			t.Fatalf("bit %d of %d bytes was flipped and nobody saw it", bit, len(data))
		}
	})
}

func TestEveryTruncationAndEveryFlippedBit(t *testing.T) {
	whole := sample()
	all, err := records(whole)
	must(t, err)
	for cut := RecordBytes; cut <= len(whole); cut++ {
		kept, err := records(whole[:cut])
		must(t, err)
		if !slices.Equal(kept, all[:cut/RecordBytes]) {
			t.Errorf("%d bytes: %d records", cut, len(kept))
		}
	}
	for bit := range len(whole) * 8 {
		damaged := slices.Clone(whole)
		damaged[bit/8] ^= 1 << (bit % 8)
		if kept, err := records(damaged); err == nil || len(kept) != bit/8/RecordBytes {
			t.Errorf("bit %d flipped: error %v after %d records", bit, err, len(kept))
		}
	}
}
