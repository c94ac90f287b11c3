package link

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/nft"
	"replab.dev/internal/wire"
)

// firstQueue is the number of our first queue, far from those that others begin with.
const firstQueue = 4200

// queues delay by packet queues, one for each delay.
type queues struct {
	open  map[time.Duration]*numbered
	stamp int // a socket while which is open the kernel notes when packets come; -1: none
	// past is what queues that are closed have counted, by their delay.
	past    map[time.Duration]counts
	dropped int64
	failed  error // of those
}

type numbered struct {
	*queue
	number uint16
}

// newQueues removes what an earlier process has left: its queues are read no more.
func newQueues() (*queues, error) {
	if err := nft.EndDelays(); err != nil {
		return nil, err
	}
	return &queues{open: map[time.Duration]*numbered{}, past: map[time.Duration]counts{}, stamp: stampArrivals()}, nil
}

// stampArrivals has the kernel stamp each packet when it arrives, as it does while any socket wants to know. Without, a packet counts
// from when this process reads of it.
func stampArrivals() int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		_ = unix.Close(fd)
		return -1
	}
	return fd
}

// set implements delayer. Queues that go on keep what waits in them.
func (q *queues) set(lanes []lane) error {
	wanted := map[time.Duration]bool{}
	for _, l := range lanes {
		wanted[l.delay] = true
	}
	for delay, o := range q.open {
		if wanted[delay] {
			continue
		}
		if err := q.end(delay, o); err != nil {
			return err
		}
	}
	for _, l := range lanes {
		o := q.open[l.delay]
		if o == nil {
			number := q.free()
			opened, err := newQueue(l, number)
			if err != nil {
				return err
			}
			o = &numbered{opened, number}
			q.open[l.delay] = o
		} else if _, err := nft.ToDelay(o.name); err != nil { // its rules come back now, and packets passed without delay
			o.fail(err)
		}
		if err := o.aim(l, o.number); err != nil {
			return err
		}
	}
	return nil
}

// free is a number that no queue has.
func (q *queues) free() uint16 {
	taken := map[uint16]bool{}
	for _, o := range q.open {
		taken[o.number] = true
	}
	n := uint16(firstQueue)
	for taken[n] {
		n++
	}
	return n
}

func (q *queues) end(delay time.Duration, o *numbered) error {
	given, uncounted, err := o.drain()
	if err == nil {
		err = nft.EndDelay(o.name)
	}
	if err != nil { // it goes on to be read: its rules may stand
		return fmt.Errorf("end the delay of %s: %w", delay, err)
	}
	delete(q.open, delay)
	err = o.end()
	q.failed = errors.Join(q.failed, o.failure(), uncounted)
	q.past[delay] = q.past[delay].plus(o.counts())
	q.dropped += o.counts().dropped(given)
	return err
}

// byDelay is what the queues of each delay have counted, also those that are closed.
func (q *queues) byDelay() map[time.Duration]counts {
	all := maps.Clone(q.past)
	for delay, o := range q.open {
		all[delay] = all[delay].plus(o.counts())
	}
	return all
}

// counted is what all queues have, in sum.
func (q *queues) counted() (sum counts) {
	for _, c := range q.byDelay() {
		sum = sum.plus(c)
	}
	return sum
}

// counts implements delayer. They are told for each delay too, since punctual packets from afar would make up for late ones from nearby.
func (q *queues) counts(told *wire.LinkCounts) {
	all := q.byDelay()
	for _, delay := range slices.Sorted(maps.Keys(all)) {
		c := all[delay]
		told.Packets, told.Late, told.HeldUp = told.Packets+c.came, told.Late+c.late, told.HeldUp+c.heldUp
		told.Delays = append(told.Delays, wire.DelayCounts{DelayMicroseconds: delay.Microseconds(), Packets: c.came, LateMicroseconds: c.over.Microseconds()})
	}
}

// report implements delayer.
func (q *queues) report(s *wire.LinksState) {
	dropped, failed := q.dropped, q.failed
	for _, o := range q.open {
		more, uncounted := o.dropped()
		dropped += more
		failed = errors.Join(failed, o.failure(), uncounted)
	}
	sum := q.counted()
	latest := sum.latest.Microseconds()
	s.Packets, s.Dropped, s.Late, s.LatestMicroseconds = &sum.came, &dropped, &sum.late, &latest
	if failed != nil {
		s.Failed = failed.Error()
	}
}

// close implements delayer.
func (q *queues) close() error {
	err := q.set(nil)
	if q.stamp >= 0 {
		_ = unix.Close(q.stamp)
		q.stamp = -1
	}
	return err
}
