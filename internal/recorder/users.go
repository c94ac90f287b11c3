package recorder

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"replab.dev/internal/wire"
)

// users are the ids of users whose registration was acknowledged to a client, each with the write that made it, and the
// reads that did not find one of them. The zero value is empty.
//
// A write stands for its user since a database that lost one may give the same id to another.
type users struct {
	found atomic.Int64 // reads that found theirs

	mu    sync.RWMutex
	pages map[uint64]*usersPage // by the upper bits of a user's id
	stale map[uint64]int64      // by the write, at most wire.MaxStaleUsers
	reads int64                 // all stale ones
}

// usersPage are the writes of users whose ids follow one another; 0 is none.
type usersPage [4096]uint32

// parseUser reads an id as the app writes it; an app that gives none, or not a number, has no stale reads to count.
func parseUser(text string) (page, place uint64, ok bool) {
	id, err := strconv.ParseUint(text, 10, 64)
	size := uint64(len(usersPage{}))
	return id / size, id % size, err == nil
}

// add takes the user that a write made. Ids of writes are dense: beyond 32 bits there are none.
func (u *users) add(text string, write uint64) {
	page, place, ok := parseUser(text)
	if !ok || write > math.MaxUint32 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.pages == nil {
		u.pages = map[uint64]*usersPage{}
	}
	if u.pages[page] == nil {
		u.pages[page] = &usersPage{}
	}
	u.pages[page][place] = uint32(write)
}

// write returns the write that made a user, or 0 for a user that no client was told of.
func (u *users) write(text string) uint64 {
	page, place, ok := parseUser(text)
	u.mu.RLock()
	defer u.mu.RUnlock()
	if p := u.pages[page]; ok && p != nil {
		return uint64(p[place])
	}
	return 0
}

// notFound counts a read that did not find the user whom a write had made.
func (u *users) notFound(write uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stale == nil {
		u.stale = map[uint64]int64{}
	}
	u.reads++
	if _, known := u.stale[write]; known || len(u.stale) < wire.MaxStaleUsers {
		u.stale[write]++
	}
}

// wasFound counts a read that found the user whom a write had made.
func (u *users) wasFound() { u.found.Add(1) }

// checkedReads are those that found their user, and those that did not.
func (u *users) checkedReads() int64 { return u.found.Load() + u.staleReads() }

func (u *users) staleReads() int64 {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return u.reads
}

// staleUsers returns the stale reads by the user's write, in their order.
func (u *users) staleUsers() []wire.StaleUser {
	u.mu.RLock()
	defer u.mu.RUnlock()
	var all []wire.StaleUser
	for write, reads := range u.stale {
		all = append(all, wire.StaleUser{WriteID: write, Reads: reads})
	}
	slices.SortFunc(all, func(a, b wire.StaleUser) int { return cmp.Compare(a.WriteID, b.WriteID) })
	return all
}
