package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/nft"
)

const (
	// queueLength is how many packets may wait in a queue: those beyond are dropped, and counted.
	queueLength = 65535
	// queueBuffer of the socket that tells of packets, in bytes.
	queueBuffer = 64 << 20
	// countPatience is how long packets may be on their way from the packet filter to here.
	countPatience = 200 * time.Millisecond
	// mostSleep is how long packets may lie unread that have a stamp and are not due: the socket's buffer holds them meanwhile.
	mostSleep = 20 * time.Millisecond
	// threads of each queue.
	threads = 2
	// recess of a thread that finds another at it.
	recess = 200 * time.Microsecond
	// mostAtOnce is how many packets are read in a row, and how many are let go: neither waits long for the other.
	mostAtOnce = 64
)

// queue is a packet queue of the kernel in which the packets of a lane wait. It is on the side of the receiver: those that a sender
// holds back count against what its TCP may have under way.
//
// What it costs is mostly to be woken, so its threads are woken to let packets go, and not by each that comes: their time counts from the
// kernel's stamp, and they are read by who is awake anyway. All threads do the same, each on processors of its own: a thread is woken where
// it last ran, and waits there for the pod's turn as long as others want that processor. The first that has its turn does the work.
type queue struct {
	*line
	name   string
	wake   int // an eventfd
	ending atomic.Bool
	broken atomic.Bool // it cannot be read any more
	// unstamped tells that the last packet had no stamp: then packets must be read as they come.
	unstamped atomic.Bool
	loops     sync.WaitGroup

	turn   sync.Mutex // of the thread that reads and lets go
	kernel *kernelQueue

	mu     sync.Mutex
	failed error
}

// spare is added to GOMAXPROCS. A woken thread that finds all places of Go's scheduler taken waits up to 10 ms for one. Packets would be late
// by that, and for those without a stamp it would go unnoticed.
const spare = 8

var makeRoom = sync.OnceFunc(func() { runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), runtime.NumCPU()+spare)) })

// newQueue begins to read a queue; nothing is sent there yet.
func newQueue(l lane, number uint16) (*queue, error) {
	makeRoom()
	kernel, err := openKernelQueue(number, queueLength)
	if err != nil {
		return nil, fmt.Errorf("open packet queue %d: %w", number, err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open packet queue %d: %w", number, err), kernel.close())
	}
	q := &queue{line: newLine(l.delay), name: l.name(), kernel: kernel, wake: wake}
	for i := range threads {
		q.loops.Go(func() { q.run(i) })
	}
	return q, nil
}

// run lets packets go when they are due, and reads of those that come.
func (q *queue) run(thread int) {
	runtime.LockOSThread()                             // it ends with the goroutine: it is like no other
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // where it may not, it is woken 50 µs later
	keepTo(thread)
	for !q.ending.Load() {
		if !q.turn.TryLock() {
			q.sleep(recess, false)
			continue
		}
		some := q.work()
		q.turn.Unlock()
		if some {
			continue
		}
		left := time.Duration(-1) // until a packet comes
		if due, waits := q.next(); waits {
			left = max(time.Until(due), 0)
		}
		q.sleep(left, left < 0 || q.unstamped.Load())
	}
}

// work reads of what has come, and lets go what is due. It tells whether that was any.
func (q *queue) work() bool {
	q.read()
	some, err := q.letGo(time.Now, q.kernel.letGo)
	if err != nil {
		q.fail(err)
	}
	return some
}

// keepTo has this thread keep to every so manyth of the processors. Where there are fewer than threads, or it may not, it goes anywhere.
func keepTo(thread int) {
	var all, own unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil || all.Count() < threads {
		return
	}
	for cpu, n := 0, 0; n < all.Count(); cpu++ {
		if all.IsSet(cpu) {
			if n%threads == thread {
				own.Set(cpu)
			}
			n++
		}
	}
	_ = unix.SchedSetaffinity(0, &own)
}

// read of what has come.
func (q *queue) read() {
	for i := 0; i < mostAtOnce && q.readNext(); i++ {
	}
}

// readNext tells whether there was anything to read.
func (q *queue) readNext() bool {
	if q.broken.Load() {
		return false
	}
	p, ok, err := q.kernel.read()
	switch {
	case errors.Is(err, errGone):
		q.lose()
	case err != nil:
		q.fail(err)
		q.broken.Store(true)
	case ok:
		q.unstamped.Store(p.arrived.IsZero())
		q.join(p.id, arrival(p.arrived, time.Now()))
	}
	return ok
}

// sleep for a time, below 0 for ever, or until a packet comes where that is to wake it up.
func (q *queue) sleep(d time.Duration, comers bool) {
	fds := []unix.PollFd{{Fd: int32(q.wake), Events: unix.POLLIN}, {Fd: int32(q.kernel.fd), Events: unix.POLLIN}}
	if !comers || q.broken.Load() {
		fds = fds[:1]
	}
	if !comers {
		d = min(d, mostSleep)
	}
	var timeout *unix.Timespec
	if d >= 0 {
		t := unix.NsecToTimespec(d.Nanoseconds())
		timeout = &t
	}
	if n, _ := unix.Ppoll(fds, timeout, nil); n > 0 && fds[0].Revents != 0 && !q.ending.Load() { // whatever it was that woke it, it looks
		var b [8]byte
		_, _ = unix.Read(q.wake, b[:])
	}
}

// rouse has it look.
func (q *queue) rouse() {
	_, _ = unix.Write(q.wake, binary.NativeEndian.AppendUint64(nil, 1)) // where that does not fit any more it is awake
}

// aim sends the packets of the lane to the queue.
func (q *queue) aim(l lane, number uint16) error { return nft.Queue(q.name, number, l.addresses) }

// drain has no more packets come, and waits until those that came have been let go in their time. It returns how many were given to the queue.
func (q *queue) drain() (given uint64, uncounted, err error) {
	if err := nft.StopDelay(q.name); err != nil {
		return 0, nil, err
	}
	given, uncounted = nft.ToDelay(q.name)
	for until := time.Now().Add(q.delay + countPatience); time.Now().Before(until) && (q.counts().read() < int64(given) || !q.empty()); {
		q.rouse()
		time.Sleep(time.Millisecond)
	}
	return given, uncounted, nil
}

// end lets nothing go any more. What still waits is lost.
func (q *queue) end() error {
	q.ending.Store(true)
	q.rouse()
	q.loops.Wait()
	for q.readNext() {
	}
	q.loseWaiting()
	return errors.Join(q.kernel.close(), unix.Close(q.wake))
}

// dropped are packets that did not get through so far.
func (q *queue) dropped() (int64, error) {
	given, err := nft.ToDelay(q.name)
	if err != nil {
		return 0, err
	}
	c := q.counts()
	for until := time.Now().Add(countPatience); c.read() < int64(given) && time.Now().Before(until); c = q.counts() {
		q.rouse()
		time.Sleep(time.Millisecond)
	}
	return c.dropped(given), nil
}

func (q *queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failed == nil {
		slog.Error("the packet queue failed: topology.links are not in effect any more", "error", err)
		q.failed = err
	}
}

func (q *queue) failure() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failed
}
