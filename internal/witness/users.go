package witness

import (
	"strconv"
	"sync"
	"sync/atomic"

	"replab.dev/internal/ledger"
)

// users are the ids of users whose registration was acknowledged to a client, one bit each. The zero value is empty.
type users struct {
	mu    sync.RWMutex
	ids   ledger.Bitmap
	stale atomic.Int64 // reads that did not find one of them
}

// add takes an id as the app writes it; an app that gives none, or not a number, has no stale reads to count.
func (u *users) add(text string) {
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ids.Add(id)
}

func (u *users) has(text string) bool {
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return false
	}
	u.mu.RLock()
	defer u.mu.RUnlock()
	return u.ids.Has(id)
}
