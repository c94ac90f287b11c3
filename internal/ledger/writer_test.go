package ledger

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestIDsBeginAtOneAndAreDense(t *testing.T) {
	path := ledgerPath(t)
	w := create(t, path)
	for want := uint64(1); want <= 2*BlockIDs+1; want++ {
		if id := next(t, w); id != want {
			t.Fatalf("id %d, want %d", id, want)
		}
	}
	must(t, w.Close())
	s := loadFile(t, path)
	if s.Sent.Count() != 2*BlockIDs+1 || s.Indeterminate.Count() != 2*BlockIDs+1 {
		t.Errorf("sent %d, indeterminate %d, want %d of both", s.Sent.Count(), s.Indeterminate.Count(), 2*BlockIDs+1)
	}
}

func TestTheLeaseIsInTheFileBeforeItsFirstID(t *testing.T) {
	path := ledgerPath(t)
	w := create(t, path)
	next(t, w)
	if s := loadFile(t, path); s.Sent.Count() != BlockIDs {
		t.Errorf("sent %d after the first id was handed out, want the whole block", s.Sent.Count())
	}
}

func TestOutcomesAreInTheFileWhenRecordReturns(t *testing.T) {
	path := ledgerPath(t)
	w := create(t, path)
	a, r, u := next(t, w), next(t, w), next(t, w)
	must(t, w.Record(r, Rejected, epoch.Add(2*time.Second)))
	must(t, w.Record(a, Acknowledged, epoch.Add(3*time.Second)))
	must(t, w.Record(u, Indeterminate, epoch.Add(time.Second)))
	s := loadFile(t, path)
	wantIDs(t, "Acknowledged", s.Acknowledged, a)
	wantIDs(t, "Rejected", s.Rejected, r)
	must(t, w.Close())
	s = loadFile(t, path)
	wantIDs(t, "Indeterminate", s.Indeterminate, u)
	wantIDs(t, "Sent", s.Sent, a, r, u)
}

func TestAWriterThatComesBackBeginsANewBlock(t *testing.T) {
	path := ledgerPath(t)
	first := create(t, path)
	a, lost := next(t, first), next(t, first)
	must(t, first.Record(a, Acknowledged, epoch))
	must(t, first.file.close()) // as death does

	second, err := Open(path, epoch.Add(time.Hour))
	must(t, err)
	if second.Restarts() != 1 || !second.Epoch().Equal(epoch) {
		t.Errorf("restarts %d, epoch %s", second.Restarts(), second.Epoch())
	}
	if id := next(t, second); id != BlockIDs+1 {
		t.Errorf("first id after a restart is %d, want that of a new block", id)
	}
	if err := second.Record(lost, Acknowledged, epoch); err == nil {
		t.Error("the second writer took an outcome of an id that the first handed out")
	}
	must(t, second.Close())

	third, err := Open(path, epoch.Add(2*time.Hour))
	must(t, err)
	must(t, third.Close()) // without an id
	s := loadFile(t, path)
	if s.Restarts != 2 || s.Sent.Count() != BlockIDs+1 || s.Indeterminate.Count() != BlockIDs {
		t.Errorf("restarts %d, sent %d, indeterminate %d", s.Restarts, s.Sent.Count(), s.Indeterminate.Count())
	}
}

func TestOpenCutsOffATornRecordAtEveryLength(t *testing.T) {
	whole := sample()
	for size := range len(whole) + 1 {
		path := ledgerPath(t)
		must(t, os.WriteFile(path, whole[:size], 0o600))
		w, err := Open(path, epoch)
		must(t, err)
		wantRestarts := load(t, append(file(), whole[min(size, 16):size]...)).Restarts + 1
		if size < RecordBytes {
			wantRestarts = 0 // nobody was told of this ledger yet
		}
		if w.Restarts() != wantRestarts {
			t.Errorf("%d bytes: restarts %d, want %d", size, w.Restarts(), wantRestarts)
		}
		must(t, w.Record(next(t, w), Acknowledged, epoch))
		must(t, w.Close())
		loadFile(t, path)
	}
}

func TestOpenRefusesADamagedLedgerAndLeavesItAlone(t *testing.T) {
	path := ledgerPath(t)
	data := append(sample(), 1, 2, 3)
	data[70] ^= 1
	must(t, os.WriteFile(path, data, 0o600))
	_, err := Open(path, epoch)
	if err == nil || !strings.Contains(err.Error(), "offset 64") || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one with the path and offset 64", err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(data) {
		t.Error("the damaged ledger was changed")
	}
}

func TestOneWriterAtATime(t *testing.T) {
	path := ledgerPath(t)
	w := create(t, path)
	if _, err := Open(path, epoch); err == nil || !strings.Contains(err.Error(), "another recorder") {
		t.Errorf("a second writer: error %v", err)
	}
	must(t, w.Close())
	again, err := Open(path, epoch)
	must(t, err)
	must(t, again.Close())
}

func TestNothingIsWrittenAfterClose(t *testing.T) {
	path := ledgerPath(t)
	w := create(t, path)
	id := next(t, w)
	must(t, w.Close())
	if _, err := w.Next(); !errors.Is(err, ErrClosed) {
		t.Errorf("Next: %v", err)
	}
	if err := w.Record(id, Acknowledged, epoch); !errors.Is(err, ErrClosed) {
		t.Errorf("Record: %v", err)
	}
	must(t, w.Close())
	if s := loadFile(t, path); s.Indeterminate.Count() != 1 || s.Sent.Count() != 1 {
		t.Errorf("sent %d, indeterminate %d, want 1 and 1", s.Sent.Count(), s.Indeterminate.Count())
	}
}

func TestRecordRefusesWhatCannotBeTrue(t *testing.T) {
	w := create(t, ledgerPath(t))
	id := next(t, w)
	for name, err := range map[string]error{
		"an id not handed out yet":   w.Record(id+1, Acknowledged, epoch),
		"id 0":                       w.Record(0, Acknowledged, epoch),
		"no outcome":                 w.Record(id, 0, epoch),
		"a kind that is no outcome":  w.Record(id, Outcome(KindRestart), epoch),
		"a time years off the epoch": w.Record(id, Acknowledged, epoch.AddDate(5, 0, 0)),
	} {
		if err == nil || errors.Is(err, ErrFailed) {
			t.Errorf("%s: error %v, want one that leaves the writer usable", name, err)
		}
	}
	must(t, w.Record(id, Acknowledged, epoch))
}

func TestTimesAreKeptToTheMicrosecond(t *testing.T) {
	path := ledgerPath(t)
	now := time.Now()
	w, err := Open(path, now)
	must(t, err)
	must(t, w.Record(next(t, w), Acknowledged, now.Add(1500*time.Microsecond)))
	must(t, w.Close())
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	must(t, Read(f, func(r Record) error {
		if r.Kind == KindAcknowledged && !r.At.Equal(now.Round(0).Add(1500*time.Microsecond).Truncate(time.Microsecond)) {
			t.Errorf("recorded at %s, 1.5 ms after %s", r.At, now)
		}
		return nil
	}))
}

func TestConcurrentWritersShareNoID(t *testing.T) {
	path := ledgerPath(t)
	w := create(t, path)
	const workers, each = 8, 5000
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range each {
				id, err := w.Next()
				if err == nil {
					err = w.Record(id, Acknowledged+Outcome(i%3), epoch)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	must(t, w.Close())
	s := loadFile(t, path) // a shared id would have two outcomes
	if s.Sent.Count() != workers*each || s.Acknowledged.Count()+s.Rejected.Count()+s.Indeterminate.Count() != workers*each {
		t.Errorf("sent %d, want %d, all with an outcome", s.Sent.Count(), workers*each)
	}
}
