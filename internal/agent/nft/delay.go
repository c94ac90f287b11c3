package nft

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/xt"
	"golang.org/x/sys/unix"
)

// delayTable is what sends packets where they are delayed: one in each family, since a target of iptables needs that.
const delayTable = "replab-delay"

// table of the family by which packets are delayed.
func (f family) table() *nftables.Table {
	t := nftables.TableFamilyIPv4
	if f.protocol == unix.NFPROTO_IPV6 {
		t = nftables.TableFamilyIPv6
	}
	return &nftables.Table{Name: delayTable, Family: t}
}

// chainQueue of the tables of delays.
var chainQueue = hooked{"queue", nftables.ChainHookPrerouting, nftables.ChainPriorityMangle}

// Queue has packets that come from the addresses wait in the packet queue of that number, or gives the queue of an existing name new
// addresses. They come before the partitions: one that ends its wait in a partition is dropped then. Where nobody reads the queue
// packets pass.
func Queue(name string, number uint16, addresses []netip.Addr) error {
	err := delay(name, addresses, &expr.Queue{Num: number, Total: 1, Flag: expr.QueueFlagBypass})
	if errors.Is(err, unix.ENOENT) { // a kernel that has it from iptables only
		err = delay(name, addresses, queueTarget(number))
	}
	return err
}

// queueTarget is the target NFQUEUE of iptables, which passes packets on where nobody reads the queue.
func queueTarget(number uint16) expr.Any {
	const revision, queues, bypass = 3, 1, 1
	var info xt.Unknown
	for _, field := range []uint16{number, queues, bypass, 0} {
		info = binary.NativeEndian.AppendUint16(info, field)
	}
	return &expr.Target{Name: "NFQUEUE", Rev: revision, Info: &info}
}

func delay(name string, addresses []netip.Addr, queue expr.Any) error {
	return inEach(name, "delay packets", func(c *nftables.Conn, f family, rules []*nftables.Rule) error {
		if len(rules) > 0 {
			return replace(c, f.table(), name, f, addresses)
		}
		set, err := addSet(c, c.AddTable(f.table()), name, f, addresses)
		chainQueue.add(c, f.table(), name, append(f.match(set, f.sourceOffset), &expr.Counter{}, queue))
		return err
	})
}

// inEach does something for each family, by the rules of that name, and has the kernel carry all of it out at once.
func inEach(name, what string, do func(c *nftables.Conn, f family, rules []*nftables.Rule) error) error {
	return change(what, func(c *nftables.Conn) error {
		for _, f := range families {
			rules, err := rulesOf(c, f.table(), name, chainQueue)
			if err != nil {
				return err
			}
			if err := do(c, f, rules); err != nil {
				return err
			}
		}
		return nil
	})
}

// StopDelay lets packets pass that come from now on; there may be none that are delayed under that name. What waits goes on to wait, and
// ToDelay can be read until EndDelay.
func StopDelay(name string) error {
	return inEach(name, "stop delaying packets", func(c *nftables.Conn, f family, rules []*nftables.Rule) error {
		if len(rules) == 0 {
			return nil
		}
		return replace(c, f.table(), name, f, nil)
	})
}

// EndDelay ends the queue of that name; there may be none. What waits goes on to wait.
func EndDelay(name string) error {
	return inEach(name, "stop delaying packets", func(c *nftables.Conn, f family, rules []*nftables.Rule) error {
		if len(rules) == 0 {
			return nil
		}
		return remove(c, f.table(), rules, name, f)
	})
}

// EndDelays ends all of them, also what a process before began. It removes their chains: the kernel drops what waits in a queue.
func EndDelays() error {
	c, err := nftables.New()
	if err != nil {
		return fault("open the packet filter", err)
	}
	for _, f := range families {
		tables, err := c.ListTablesOfFamily(f.table().Family)
		if err != nil {
			return fault("list the packet filter", err)
		}
		for _, t := range tables {
			if t.Name == delayTable {
				c.DelTable(t)
			}
		}
	}
	return fault("stop delaying packets", c.Flush())
}

// ToDelay is how many packets were to be delayed under that name since it began, with those for which there was no room. It is an error
// when nothing delays them any more.
func ToDelay(name string) (uint64, error) {
	var sum uint64
	err := inEach(name, "read the counters of delayed packets", func(_ *nftables.Conn, _ family, rules []*nftables.Rule) error {
		if len(rules) == 0 {
			return fmt.Errorf("the packet filter no longer delays %s: another program removed its rules", name)
		}
		sum += counted(rules)
		return nil
	})
	return sum, err
}
