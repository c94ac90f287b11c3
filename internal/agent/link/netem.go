package link

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/nft"
	"replab.dev/internal/wire"
)

// netemLanesMost is how many classes the kernel's prio has, one of which is for what is not delayed.
const netemLanesMost = 15

// netem delays what leaves the pod by the kernel's own means: each device gets a class for what passes at once, and one for each
// delay, into which the packet filter sorts by the destination.
type netem struct {
	tc      *traffic
	devices []int
	delays  []time.Duration // of the classes, from the second on
}

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
	return &netem{tc: tc, devices: devices}, nil
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
	for _, d := range n.devices {
		if err := n.tc.addPrio(d, len(delays)+1); err != nil {
			return fmt.Errorf("the kernel's prio: %w", err)
		}
		for i, delay := range delays {
			if err := n.tc.addNetem(d, i+2, delay, queueLength); err != nil {
				return fmt.Errorf("the kernel's netem: %w", err)
			}
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
		if err := n.tc.removeRoot(d); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EINVAL) { // there is none
			return fmt.Errorf("end the delays: %w", err)
		}
	}
	return nil
}

// report implements delayer. When a packet left the kernel does not tell.
func (n *netem) report(s *wire.LinksState) error {
	var packets, dropped int64
	for _, d := range n.devices {
		p, lost, err := n.tc.netemCounters(d)
		if err != nil {
			return fmt.Errorf("read the counters of netem: %w", err)
		}
		packets, dropped = packets+p, dropped+lost
	}
	s.Packets, s.Dropped = &packets, &dropped
	return nil
}

// method implements delayer.
func (*netem) method() wire.LinkMethod { return wire.LinkNetem }

// close implements delayer.
func (n *netem) close() error { return errors.Join(n.end(), n.tc.close()) }
