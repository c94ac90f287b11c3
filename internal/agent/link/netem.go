package link

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"replab.dev/internal/agent/nft"
	"replab.dev/internal/wire"
)

// netemLanesMost is how many classes the kernel's prio has, one of which is for what is not delayed.
const netemLanesMost = 15

// netem delays what leaves the pod by the kernel's own means: each device gets a class for what passes at once, and one for each
// delay, into which the packet filter sorts by the destination.
type netem struct {
	tc       disciplines
	conn     io.Closer // of tc
	devices  []int
	delays   []time.Duration // of the classes, from the second on
	standing map[int]bool    // devices whose classes are of this process
	// past is what classes that are no more have counted: the kernel's own counters go with them.
	past      passed
	uncounted error // past lacks something
}

// disciplines are what the kernel does with what leaves by a device.
type disciplines interface {
	// delay makes a class for what passes at once, and one for each delay.
	delay(device int, delays []time.Duration) error
	// undelay removes all classes; of a device that has none, nothing.
	undelay(device int) error
	// counters of the classes that delay.
	counters(device int) (passed, error)
}

// passed are packets that left the delays, and those that were dropped for want of room.
type passed struct{ packets, dropped int64 }

func (p passed) plus(o passed) passed { return passed{p.packets + o.packets, p.dropped + o.dropped} }

// newNetem has not tried yet whether the kernel knows it.
func newNetem() (delayer, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list the network devices: %w", err)
	}
	var devices []int
	for _, d := range all {
		if d.Flags&net.FlagLoopback == 0 && d.Flags&net.FlagUp != 0 {
			devices = append(devices, d.Index)
		}
	}
	if len(devices) == 0 {
		return nil, errors.New("the pod has no network device")
	}
	tc, err := openTraffic()
	if err != nil {
		return nil, err
	}
	return &netem{tc: tc, conn: tc.conn, devices: devices}, nil
}

// set implements delayer. Where the delays stay the same, only the addresses change, and what waits goes on to wait.
func (n *netem) set(lanes []lane) error {
	if len(lanes) > netemLanesMost {
		return fmt.Errorf("netem takes %d different delays, not %d", netemLanesMost, len(lanes))
	}
	var delays []time.Duration
	for _, l := range lanes {
		delays = append(delays, l.delay)
	}
	if !slices.Equal(delays, n.delays) {
		if err := n.rebuild(delays); err != nil {
			return err
		}
	}
	for i, l := range lanes {
		if err := nft.Classify(l.name(), class(i+2), l.addresses); err != nil {
			return err
		}
	}
	return nil
}

func (n *netem) rebuild(delays []time.Duration) error {
	if err := n.end(); err != nil {
		return err
	}
	if len(delays) == 0 {
		return nil
	}
	n.standing = map[int]bool{}
	for _, d := range n.devices {
		n.standing[d] = true
		if err := n.tc.delay(d, delays); err != nil {
			return err
		}
	}
	n.delays = delays
	return nil
}

// end has nothing delayed any more. What waits leaves first.
func (n *netem) end() error {
	if err := nft.EndDelays(); err != nil {
		return err
	}
	if len(n.delays) > 0 {
		time.Sleep(slices.Max(n.delays))
	}
	n.delays = nil
	for _, d := range n.devices {
		if err := n.endOn(d); err != nil {
			return fmt.Errorf("end the delays: %w", err)
		}
	}
	return nil
}

// endOn a device takes down what its classes have counted before they are removed. Where that cannot be read they are removed all the
// same: that the distance ends matters more, and that a count is missing is told.
func (n *netem) endOn(device int) error {
	var last passed
	if n.standing[device] {
		var err error
		if last, err = n.tc.counters(device); err != nil {
			n.uncounted = fmt.Errorf("what netem had counted before its delays were changed is not known: %w", err)
		}
	}
	if err := n.tc.undelay(device); err != nil {
		return err
	}
	n.past = n.past.plus(last)
	delete(n.standing, device)
	return nil
}

// report implements delayer. When a packet left the kernel does not tell.
func (n *netem) report(s *wire.LinksState) error {
	if n.uncounted != nil {
		s.Failed = n.uncounted.Error()
		return nil
	}
	sum := n.past
	for d := range n.standing {
		p, err := n.tc.counters(d)
		if err != nil {
			return fmt.Errorf("read the counters of netem: %w", err)
		}
		sum = sum.plus(p)
	}
	s.Packets, s.Dropped = &sum.packets, &sum.dropped
	return nil
}

// method implements delayer.
func (*netem) method() wire.LinkMethod { return wire.LinkNetem }

// close implements delayer.
func (n *netem) close() error { return errors.Join(n.end(), n.conn.Close()) }
