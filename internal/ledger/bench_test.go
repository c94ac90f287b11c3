package ledger

import (
	"bytes"
	"testing"
	"time"

	"replab.dev/test/benchmark"
)

// TestBench prints the benchmarks of this file as figures.
func TestBench(t *testing.T) {
	benchmark.Skip(t)
	for _, c := range []struct {
		what, unit string
		measure    func(*testing.B)
		scale      float64
	}{
		{"ledger: one id and its outcome", "µs", BenchmarkRecord, 1e3},
		{"ledger: the same, from many goroutines", "µs", BenchmarkRecordInParallel, 1e3},
		{"ledger: read 10,000,000 writes", "ms", BenchmarkLoadTenMillion, 1e6},
		{"ledger: compare 10,000,000 writes", "ms", BenchmarkCompareTenMillion, 1e6},
	} {
		r := testing.Benchmark(c.measure)
		benchmark.Figure{What: c.what, Value: float64(r.NsPerOp()) / c.scale, Unit: c.unit}.Print()
	}
}

func BenchmarkRecord(b *testing.B) {
	w := create(b, ledgerPath(b))
	now := time.Now()
	for b.Loop() {
		id, err := w.Next()
		if err == nil {
			err = w.Record(id, Acknowledged, now)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecordInParallel(b *testing.B) {
	w := create(b, ledgerPath(b))
	now := time.Now()
	b.SetParallelism(16)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			id, err := w.Next()
			if err == nil {
				err = w.Record(id, Acknowledged, now)
			}
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkLoadTenMillion(b *testing.B) {
	const writes = 10_000_000
	data := make([]byte, 0, (writes+writes/BlockIDs+1)*RecordBytes)
	data = append(data, file()...)
	var buf [RecordBytes]byte
	for id := uint64(1); id <= writes; id++ {
		if id%BlockIDs == 1 {
			encode(&buf, id, KindLease, 0)
			data = append(data, buf[:]...)
		}
		encode(&buf, id, KindAcknowledged, int64(id))
		data = append(data, buf[:]...)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		s, err := Load(bytes.NewReader(data))
		if err != nil || s.Acknowledged.Count() != writes {
			b.Fatal(err, s.Acknowledged.Count())
		}
	}
}

func BenchmarkCompareTenMillion(b *testing.B) {
	const writes = 10_000_000
	var s Sets
	s.Sent.AddRange(1, writes+1)
	s.Acknowledged.AddRange(1, writes+1)
	present := Or(s.Acknowledged, Bitmap{})
	for b.Loop() {
		if c := Compare(s, present, 0); !c.Balanced {
			b.Fatal(c)
		}
	}
}
