package link

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/florianl/go-nfqueue/v2"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/nft"
	"replab.dev/internal/alarm"
)

const (
	// queueLength is how many packets may wait in a queue: those beyond are dropped, and counted.
	queueLength = 65535
	// queueBuffer of the socket that tells of packets, in bytes.
	queueBuffer = 64 << 20
	// writeTimeout of a verdict: the kernel takes it at once.
	writeTimeout = time.Second
	// countPatience is how long packets may be on their way from the packet filter to here.
	countPatience = 200 * time.Millisecond
)

// queue is a packet queue of the kernel in which the packets of a lane wait. It is on the side of the receiver: those that a sender
// holds back count against what its TCP may have under way.
type queue struct {
	*line
	name   string
	nf     *nfqueue.Nfqueue
	stop   context.CancelFunc
	closed chan struct{} // once nothing more is let go
	loops  sync.WaitGroup

	mu     sync.Mutex
	failed error
}

// newQueue begins to read a queue; nothing is sent there yet.
func newQueue(l lane, number uint16) (*queue, error) {
	nf, err := nfqueue.Open(&nfqueue.Config{
		NfQueue: number, MaxQueueLen: queueLength, Copymode: nfqueue.NfQnlCopyMeta, Flags: nfqueue.NfQaCfgFlagGSO, WriteTimeout: writeTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("open packet queue %d: %w", number, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	q := &queue{line: newLine(l.delay), name: l.name(), nf: nf, stop: stop, closed: make(chan struct{})}
	if err := q.begin(ctx); err != nil {
		stop()
		_ = nf.Close() // what failed before is told
		return nil, fmt.Errorf("read packet queue %d: %w", number, err)
	}
	return q, nil
}

func (q *queue) begin(ctx context.Context) error {
	if err := q.nf.Con.SetReadBuffer(queueBuffer); err != nil {
		return err
	}
	// A buffer that is full shows by the packets' numbers, and is no reason to stop.
	if err := q.nf.SetOption(netlink.NoENOBUFS, true); err != nil {
		return err
	}
	take := func(a nfqueue.Attribute) int {
		if a.PacketID != nil {
			q.join(*a.PacketID, arrival(a.Timestamp, time.Now()))
		}
		return 0
	}
	broken := func(err error) int {
		if errors.Is(err, unix.ENOENT) { // the answer to a verdict: what it was for is no more
			q.lose()
			return 0
		}
		if ctx.Err() == nil {
			q.fail(fmt.Errorf("read the packet queue: %w", err))
		}
		return 1
	}
	if err := q.nf.RegisterWithErrorFunc(ctx, take, broken); err != nil {
		return err
	}
	q.loops.Go(q.release)
	return nil
}

// release lets packets go when they are due.
func (q *queue) release() {
	fine := alarm.New()
	defer fine.Close()
	for {
		due, ok := q.next()
		if !ok {
			select {
			case <-q.wake:
				continue
			case <-q.closed:
				return
			}
		}
		fine.Sleep(time.Until(due))
		if last, some := q.leave(time.Now()); some {
			if err := q.nf.SetVerdictBatch(last, nfqueue.NfAccept); err != nil {
				q.fail(fmt.Errorf("let a packet go: %w", err))
			}
		}
	}
}

// aim sends the packets of the lane to the queue.
func (q *queue) aim(l lane, number uint16) error { return nft.Queue(q.name, number, l.addresses) }

// close ends the delay: what waits is let go in its time.
func (q *queue) close() error {
	err := nft.EndDelay(q.name)
	for until := time.Now().Add(q.delay + countPatience); !q.empty() && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	close(q.closed)
	q.loops.Wait()
	q.stop()
	return errors.Join(err, q.nf.Close())
}

// dropped are the packets that found no room: in the buffer of the reader, which shows by their numbers, or in the queue, which the
// packet filter gave more than were numbered.
func (q *queue) dropped() (int64, error) {
	given, err := nft.ToDelay(q.name)
	if err != nil {
		return 0, err
	}
	c := q.counts()
	for until := time.Now().Add(countPatience); c.came+c.missing < int64(given) && time.Now().Before(until); c = q.counts() {
		time.Sleep(5 * time.Millisecond)
	}
	return c.missing + c.lost + max(int64(given)-c.came-c.missing, 0), nil
}

func (q *queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failed == nil {
		slog.Error("packets are no longer delayed as asked", "error", err)
		q.failed = err
	}
}

func (q *queue) failure() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failed
}
