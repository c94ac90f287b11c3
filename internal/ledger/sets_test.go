package ledger

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestLoadSortsWritesByOutcome(t *testing.T) {
	s := load(t, sample())
	wantIDs(t, "Acknowledged", s.Acknowledged, 1, 10001, 10002)
	wantIDs(t, "Rejected", s.Rejected, 2)
	if got, want := s.Sent.Count(), int64(3+BlockIDs); got != want {
		t.Errorf("sent %d, want %d: three of the closed block and all of the open one", got, want)
	}
	if got, want := s.Indeterminate.Count(), int64(1+BlockIDs-2); got != want {
		t.Errorf("indeterminate %d, want %d: the recorded one, and each leased one without an outcome", got, want)
	}
	for id, want := range map[uint64]bool{0: false, 1: true, 3: true, 4: false, 10000: false, 10001: true, 20000: true, 20001: false} {
		if s.Sent.Has(id) != want {
			t.Errorf("sent has %d = %v, want %v", id, s.Sent.Has(id), want)
		}
	}
	if s.Restarts != 1 || !s.Epoch.Equal(epoch) {
		t.Errorf("restarts %d, epoch %s, want 1, %s", s.Restarts, s.Epoch, epoch)
	}
}

func TestReadTellsTimesAndOffsets(t *testing.T) {
	var records []Record
	must(t, Read(bytes.NewReader(sample()), func(r Record) error { records = append(records, r); return nil }))
	if got := records[3]; got.ID != 2 || got.Kind != KindRejected || !got.At.Equal(epoch.Add(200*time.Microsecond)) || got.Offset != 48 {
		t.Errorf("fourth record is %+v", got)
	}
	if got := records[0]; got.Kind != KindHeader || !got.At.Equal(epoch) {
		t.Errorf("first record is %+v, want the header", got)
	}
	if got := records[1]; !got.At.IsZero() {
		t.Errorf("a lease has the time %s, want none", got.At)
	}
	before := file(entry{KindLease, 1, 0}, entry{KindAcknowledged, 1, -5})
	must(t, Read(bytes.NewReader(before), func(r Record) error {
		if r.Kind == KindAcknowledged && !r.At.Equal(epoch.Add(-5*time.Microsecond)) {
			t.Errorf("a time before the epoch is read as %s", r.At)
		}
		return nil
	}))
}

func TestWhatDoesNotAddUpIsRefused(t *testing.T) {
	lease := entry{KindLease, 1, 0}
	damaged := sample()
	damaged[50]++
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"an empty file":                           {nil, "no header"},
		"half a header":                           {file()[:15], "no header"},
		"a file without a header":                 {file(lease)[16:], "offset 0: no header"},
		"another version":                         {replaced(file(), "RPLG\x02"), "offset 0: no header of a ledger of version 1"},
		"two headers":                             {append(file(lease), file()...), "offset 32: a second header"},
		"a damaged record":                        {damaged, "offset 48: checksum"},
		"zeros, as a file system leaves after":    {append(sample(), make([]byte, 32)...), "offset 160: checksum"},
		"an unknown kind":                         {file(entry{9, 1, 0}), "offset 16: unknown kind 9"},
		"an outcome before any lease":             {file(entry{KindAcknowledged, 1, 0}), "offset 16: an outcome of write 1, which was never leased"},
		"an outcome beyond the lease":             {file(lease, entry{KindRejected, BlockIDs + 1, 0}), "offset 32: an outcome"},
		"an outcome of write 0":                   {file(lease, entry{KindAcknowledged, 0, 0}), "offset 32: an outcome of write 0"},
		"a lease that leaves a gap":               {file(lease, entry{KindLease, 2*BlockIDs + 1, 0}), "offset 32: a lease from id 20001, want one from 10001"},
		"the same lease twice":                    {file(lease, lease), "offset 32: a lease from id 1"},
		"closed beyond the lease":                 {file(lease, entry{KindClosed, BlockIDs + 2, 0}), "offset 32: closed at id 10002"},
		"closed before the last lease":            {file(lease, entry{KindLease, BlockIDs + 1, 0}, entry{KindClosed, 5, 0}), "offset 48: closed at id 5"},
		"an outcome after closed":                 {file(lease, entry{KindClosed, 5, 0}, entry{KindAcknowledged, 1, 0}), "offset 48: kind 3 after the ledger was closed"},
		"two outcomes of one write":               {file(lease, entry{KindAcknowledged, 7, 0}, entry{KindIndeterminate, 7, 0}), "offset 48: a second outcome of write 7"},
		"the same outcome twice":                  {file(lease, entry{KindRejected, 7, 0}, entry{KindRejected, 7, 0}), "a second outcome of write 7"},
		"an outcome of a write that was not sent": {file(lease, entry{KindAcknowledged, 7, 0}, entry{KindClosed, 7, 0}), "were not sent, the first is 7"},
	} {
		_, err := Load(bytes.NewReader(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

func replaced(data []byte, id string) []byte {
	_, _, stamp, _ := decode(data)
	var buf [RecordBytes]byte
	var n uint64
	for i := range idBytes {
		n = n<<8 | uint64(id[i])
	}
	encode(&buf, n, KindHeader, stamp)
	return append(buf[:], data[RecordBytes:]...)
}

func TestABrokenConnectionIsNoEndOfFile(t *testing.T) {
	for name, broken := range map[string]error{"reset": errors.New("connection reset"), "cut short": io.ErrUnexpectedEOF} {
		for _, at := range []int{0, 7, 16, 40, 48} { // on and off the borders of records
			r := io.MultiReader(bytes.NewReader(sample()[:at]), iotest.ErrReader(broken))
			if _, err := Load(r); !errors.Is(err, broken) {
				t.Errorf("%s after %d bytes: error %v", name, at, err)
			}
		}
	}
}

func TestReadersMayReturnAnyNumberOfBytes(t *testing.T) {
	want := load(t, sample())
	for name, r := range map[string]io.Reader{
		"one at a time":     iotest.OneByteReader(bytes.NewReader(sample())),
		"half":              iotest.HalfReader(bytes.NewReader(sample())),
		"end with the data": iotest.DataErrReader(bytes.NewReader(sample())),
	} {
		got, err := Load(r)
		must(t, err)
		if got.Sent.Count() != want.Sent.Count() || got.Acknowledged.Count() != want.Acknowledged.Count() {
			t.Errorf("%s: sent %d, acknowledged %d", name, got.Sent.Count(), got.Acknowledged.Count())
		}
	}
}

func TestAnErrorOfTheVisitorEndsReading(t *testing.T) {
	stop := errors.New("stop")
	visits := 0
	err := Read(bytes.NewReader(sample()), func(Record) error { visits++; return stop })
	if !errors.Is(err, stop) || visits != 1 {
		t.Errorf("error %v after %d visits", err, visits)
	}
}
