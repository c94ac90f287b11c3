package ledger

import (
	"fmt"
	"io"
	"time"
)

// Sets are the ids of a ledger by what became of them. Acknowledged, Rejected and Indeterminate share no id, and
// together they are Sent.
type Sets struct {
	Sent          Bitmap
	Acknowledged  Bitmap
	Rejected      Bitmap
	Indeterminate Bitmap
	Restarts      int64
	Epoch         time.Time
}

// Load reads a ledger's sets. An id that was leased, not closed away, and has no outcome is indeterminate. Two outcomes
// of one id are an error, as is everything that Read reports.
func Load(r io.Reader) (Sets, error) {
	var s Sets
	var known Bitmap // ids that have an outcome
	outcome := func(set *Bitmap, id uint64) error {
		if !known.Add(id) {
			return fmt.Errorf("a second outcome of write %d", id)
		}
		set.Add(id)
		return nil
	}
	var c checker
	var leased uint64 // first id whose lease is not in Sent yet
	leased = 1
	err := read(r, &c, func(record Record) error {
		switch record.Kind {
		case KindAcknowledged:
			return outcome(&s.Acknowledged, record.ID)
		case KindRejected:
			return outcome(&s.Rejected, record.ID)
		case KindIndeterminate:
			return outcome(&s.Indeterminate, record.ID)
		case KindClosed:
			s.Sent.AddRange(leased, record.ID)
			leased = c.limit
		case KindRestart:
			s.Sent.AddRange(leased, c.limit)
			leased = c.limit
		}
		return nil
	})
	if err != nil {
		return Sets{}, err
	}
	s.Sent.AddRange(leased, c.limit)
	if unsent := AndNot(known, s.Sent); unsent.Count() > 0 {
		return Sets{}, fmt.Errorf("ledger: outcomes of %d writes that it says were not sent, the first is %d", unsent.Count(), unsent.First(1)[0])
	}
	s.Indeterminate = Or(s.Indeterminate, AndNot(s.Sent, known))
	s.Restarts, s.Epoch = c.restarts, c.epoch
	return s, nil
}
