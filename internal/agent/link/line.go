package link

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"replab.dev/internal/wire"
)

// lateMost is the tolerated lateness of a packet: 5% of its delay, at least 1 ms.
func lateMost(delay time.Duration) time.Duration { return max(delay/20, time.Millisecond) }

// packet waits until it is due.
type packet struct {
	id  uint32
	due time.Time
}

// line holds waiting packets in order of arrival. All wait equally long, so the first to arrive is the first to be released.
type line struct {
	delay time.Duration

	mu      sync.Mutex
	packets []packet
	first   int // of packets
	lastID  uint32
	came    int64
	missing int64 // numbers that never came
	lost    int64 // packets that the kernel dropped while they waited
	late    int64
	heldUp  int64 // see wire.LinkCounts
	latest  time.Duration
	over    time.Duration // by which packets were late, in sum
}

func newLine(delay time.Duration) *line { return &line{delay: delay} }

// join has a packet wait, counted from its arrival. The kernel numbers packets one after the other from 1: a number that is left out
// is of one that found no room on its way here.
func (l *line) join(id uint32, arrived time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missing += int64(id - l.lastID - 1) // also where the numbers begin again at 0
	l.lastID = id
	l.came++
	empty := l.first == len(l.packets)
	if empty {
		l.packets, l.first = l.packets[:0], 0
	}
	due := arrived.Add(l.delay)
	if n := len(l.packets); !empty && due.Before(l.packets[n-1].due) { // a clock's whim must not make it overtake
		due = l.packets[n-1].due
	}
	l.packets = append(l.packets, packet{id, due})
}

// next is when the first packet is due; ok is false when none waits.
func (l *line) next() (due time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == len(l.packets) {
		return time.Time{}, false
	}
	return l.packets[l.first].due, true
}

// due returns the first packets that are due, at most mostAtOnce. They stand until leave.
func (l *line) due(now time.Time) []packet {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := l.packets[l.first:]
	n := 0
	for n < min(len(waiting), mostAtOnce) && !waiting[n].due.After(now) {
		n++
	}
	return waiting[:n]
}

// leave takes the first n packets out, which were handed on by now: that they are late is known only then.
func (l *line) leave(n int, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ; n > 0; n-- {
		by := now.Sub(l.packets[l.first].due)
		l.first++
		l.latest = max(l.latest, by)
		l.over += by
		if by > lateMost(l.delay) {
			l.late++
		}
		if by >= wire.HeldUpLeast {
			l.heldUp++
		}
	}
	if l.first > len(l.packets)/2 {
		l.packets, l.first = append(l.packets[:0], l.packets[l.first:]...), 0
	}
}

// letGo hands on what is due. It tells whether that was any.
func (l *line) letGo(now func() time.Time, hand func([]packet) error) (some bool, err error) {
	due := l.due(now())
	if len(due) == 0 {
		return false, nil
	}
	err = hand(due)
	l.leave(len(due), now())
	return true, err
}

// lose counts a packet that was due and that the kernel no longer had.
func (l *line) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost++
}

// loseWaiting counts all packets that still wait as lost.
func (l *line) loseWaiting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost += int64(len(l.packets) - l.first)
	l.packets, l.first = nil, 0
}

func (l *line) empty() bool {
	_, ok := l.next()
	return !ok
}

// counts of a line.
type counts struct {
	came, missing, lost, late, heldUp int64
	latest                            time.Duration
	over                              time.Duration // by which packets were late, in sum
}

func (c counts) plus(o counts) counts {
	return counts{
		c.came + o.came, c.missing + o.missing, c.lost + o.lost, c.late + o.late, c.heldUp + o.heldUp, max(c.latest, o.latest), c.over + o.over,
	}
}

// dropped are packets that did not get through, of those that the packet filter gave to the queue: without room in the buffer of the reader,
// which shows by their numbers, or in the queue, which numbers no more; or discarded by the kernel while they waited.
func (c counts) dropped(given uint64) int64 {
	return c.missing + c.lost + max(int64(given)-c.read(), 0)
}

// read are the packets of which the kernel has told, or had no room to tell.
func (c counts) read() int64 { return c.came + c.missing }

func (l *line) counts() counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return counts{l.came, l.missing, l.lost, l.late, l.heldUp, l.latest, l.over}
}

// arrival of a packet by our own clock, from the kernel's stamp of the time of day. One that lies in the future, or so far back that the
// clock must have been set since, is none.
func arrival(stamp, now time.Time) time.Time {
	if stamp.IsZero() {
		return now
	}
	if age := now.Round(0).Sub(stamp); age > 0 && age < 10*time.Second {
		return now.Add(-age)
	}
	return now
}

// ErrInvalid is of a request that no agent can carry out.
var ErrInvalid = errors.New("invalid links")

// mostDelay is longer than any link's.
const mostDelay = time.Minute

// lane is what is delayed alike: packets of all its addresses keep their order.
type lane struct {
	delay     time.Duration
	addresses []netip.Addr
}

// name of the lane among those of its pod.
func (l lane) name() string { return strconv.FormatInt(l.delay.Microseconds(), 10) + "us" }

// lanesOf sorts the addresses that have a delay by it.
func lanesOf(peers []wire.Peer) ([]lane, error) {
	var lanes []lane
	seen := map[netip.Addr]bool{}
	for _, p := range peers {
		address, err := netip.ParseAddr(p.Address)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
		}
		address = address.Unmap()
		delay := time.Duration(p.DelayMicroseconds) * time.Microsecond
		switch {
		case seen[address]:
			return nil, fmt.Errorf("%w: %s is there twice", ErrInvalid, address)
		case delay < 0 || delay > mostDelay:
			return nil, fmt.Errorf("%w: the delay of %s is %s, not from 0 to %s", ErrInvalid, address, delay, mostDelay)
		}
		seen[address] = true
		if delay == 0 {
			continue
		}
		i, found := slices.BinarySearchFunc(lanes, delay, func(l lane, d time.Duration) int { return int(l.delay - d) })
		if !found {
			lanes = slices.Insert(lanes, i, lane{delay: delay})
		}
		lanes[i].addresses = append(lanes[i].addresses, address)
	}
	return lanes, nil
}
