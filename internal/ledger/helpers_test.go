package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// entry is one record to be; stamp in microseconds.
type entry struct {
	kind  Kind
	id    uint64
	stamp int64
}

// file renders a ledger with its header.
func file(entries ...entry) []byte {
	var buf [RecordBytes]byte
	header(&buf, epoch)
	data := slices.Clone(buf[:])
	for _, e := range entries {
		encode(&buf, e.id, e.kind, e.stamp)
		data = append(data, buf[:]...)
	}
	return data
}

// sample has every kind of record: ids 1 to 3 sent by the first writer, which closed, and 10001 to 20000 by the second.
func sample() []byte {
	return file(
		entry{KindLease, 1, 0},
		entry{KindAcknowledged, 1, 100}, entry{KindRejected, 2, 200}, entry{KindIndeterminate, 3, 300},
		entry{KindClosed, 4, 0},
		entry{KindRestart, 0, 400}, entry{KindLease, 10001, 0},
		entry{KindAcknowledged, 10002, 500}, entry{KindAcknowledged, 10001, 499},
	)
}

func load(t testing.TB, data []byte) Sets {
	t.Helper()
	sets, err := Load(bytes.NewReader(data))
	must(t, err)
	return sets
}

func loadFile(t testing.TB, path string) Sets {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	sets, err := Load(f)
	must(t, err)
	return sets
}

func create(t testing.TB, path string) *Writer {
	t.Helper()
	w, err := Open(path, epoch)
	must(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func next(t testing.TB, w *Writer) uint64 {
	t.Helper()
	id, err := w.Next()
	must(t, err)
	return id
}

func ledgerPath(t testing.TB) string { return filepath.Join(t.TempDir(), "ledger") }

func setOf(ids ...uint64) Bitmap {
	var b Bitmap
	for _, id := range ids {
		b.Add(id)
	}
	return b
}

func wantIDs(t testing.TB, name string, got Bitmap, want ...uint64) {
	t.Helper()
	slices.Sort(want)
	if ids := got.First(len(want) + 10); !slices.Equal(ids, want) || got.Count() != int64(len(want)) {
		t.Errorf("%s has %d ids beginning with %v, want %v", name, got.Count(), ids, want)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
