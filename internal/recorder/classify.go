package recorder

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"replab.dev/internal/ledger"
	"replab.dev/internal/recorder/figures"
	"replab.dev/internal/recorder/upstream"
	"replab.dev/internal/wire"
)

// classify returns the operation of a request, and whether it counts as load. Requests for the app's health do not.
func classify(method, path string) (op figures.Operation, counts bool) {
	switch {
	case method == http.MethodPost && path == wire.SocialPathRegister:
		return figures.Register, true
	case method == http.MethodPost && path == wire.SocialPathLogin:
		return figures.Login, true
	case method == http.MethodGet && strings.HasPrefix(path, wire.SocialPathGet):
		return figures.Profile, true
	case method == http.MethodPut && strings.HasPrefix(path, wire.SocialPathUpdate):
		return figures.Update, true
	case method == http.MethodGet && path == wire.SocialPathSearch:
		return figures.Search, true
	case path == wire.SocialPathHealth, path == wire.SocialPathReady, path == wire.SocialPathMetrics:
		return figures.Other, false
	}
	return figures.Other, true
}

// lateness reads HeaderLate: absent is 0, and more than the histograms hold is their maximum.
func lateness(header string) (time.Duration, error) {
	if header == "" {
		return 0, nil
	}
	us, err := strconv.ParseInt(header, 10, 64)
	if err != nil || us < 0 {
		return 0, fmt.Errorf("header %s is %q: it must be a whole number of microseconds, from 0", wire.HeaderLate, header)
	}
	return time.Duration(min(us, figures.MaxLatency.Microseconds())) * time.Microsecond, nil
}

// outcomeOf a write. When in doubt it is indeterminate.
func outcomeOf(response *upstream.Response, err error) ledger.Outcome {
	switch {
	case err != nil && notSent(err):
		return ledger.Rejected
	case err != nil:
		return ledger.Indeterminate
	case successful(response.Status):
		return ledger.Acknowledged
	case response.Header.Get(wire.HeaderRejected) != "":
		return ledger.Rejected
	}
	return ledger.Indeterminate
}

// wasInvalid reports that the app refused a write for its content, which is no sign of an outage.
func wasInvalid(response *upstream.Response) bool {
	return response != nil && response.Header.Get(wire.HeaderRejected) == wire.RejectedValidation
}

func successful(status int) bool { return status >= 200 && status < 300 }

func outcomeName(o ledger.Outcome) string {
	switch o {
	case ledger.Acknowledged:
		return "acknowledged"
	case ledger.Rejected:
		return "rejected"
	}
	return "indeterminate"
}

// rejections count the rejected writes of the load by their reasons. The zero value is ready.
type rejections struct {
	mu sync.Mutex
	by map[string]int64
}

func (r *rejections) add(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[string]int64{}
	}
	r.by[reason]++
}

// counts so far, never nil: 0 is a count too.
func (r *rejections) counts() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := maps.Clone(r.by)
	if counts == nil {
		counts = map[string]int64{}
	}
	return counts
}

// known reasons: a user's own app may give any other.
var known = []string{
	wire.RejectedValidation, wire.RejectedNotSent, wire.RejectedReadOnly, wire.RejectedDeadlock, wire.RejectedOverload, wire.RejectedRefused,
}

// reasonOf a rejected write. Without an answer it was not sent.
func reasonOf(response *upstream.Response) string {
	if response == nil {
		return wire.RejectedNotSent
	}
	if reason := response.Header.Get(wire.HeaderRejected); slices.Contains(known, reason) {
		return reason
	}
	return "other"
}

// k6Agent matches k6's header User-Agent: k6/1.8.1, with words around it.
var k6Agent = regexp.MustCompile(`(?:^|\s)k6/v?([0-9][0-9A-Za-z.+-]{0,63})`)

// generator is the version of k6, by the first request that names one.
type generator struct{ version atomic.Pointer[string] }

func (g *generator) saw(userAgent string) {
	if g.version.Load() != nil {
		return
	}
	if found := k6Agent.FindStringSubmatch(userAgent); found != nil {
		g.version.CompareAndSwap(nil, &found[1])
	}
}

// name is "" if no request named a version.
func (g *generator) name() string {
	if v := g.version.Load(); v != nil {
		return *v
	}
	return ""
}

// users are the ids of users with an acknowledged registration, each with its write, and the reads that did not find one. A database that lost a
// user may give its id to another, so results name the write.
type users struct {
	found atomic.Int64 // reads that found theirs

	mu    sync.RWMutex
	pages map[uint64]*usersPage // by the upper bits of a user's id
	stale map[uint64]int64      // by the write, at most wire.MaxStaleUsers
	reads int64                 // all stale ones
}

// usersPage are the writes of users with consecutive ids; 0 is none.
type usersPage [4096]uint32

// parseUser reads an id. Users of an app without numeric ids have no stale reads.
func parseUser(text string) (page, place uint64, ok bool) {
	id, err := strconv.ParseUint(text, 10, 64)
	size := uint64(len(usersPage{}))
	return id / size, id % size, err == nil
}

// add a user with its write. Ids of writes are dense and within 32 bits.
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
