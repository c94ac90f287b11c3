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

// holdTable is what holds packets up: one in each family, since a target of iptables needs that.
const holdTable = "replab-hold"

// table in which packets of the family are held up.
func (f family) table() *nftables.Table {
	t := nftables.TableFamilyIPv4
	if f.protocol == unix.NFPROTO_IPV6 {
		t = nftables.TableFamilyIPv6
	}
	return &nftables.Table{Name: holdTable, Family: t}
}

// Queue has packets that come from the addresses wait in the packet queue of that number, or gives the queue of an existing name new
// addresses. They come before the partitions: one that ends its wait in a partition is dropped then. Where nobody reads the queue
// packets pass.
func Queue(name string, number uint16, addresses []netip.Addr) error {
	act := func(queue expr.Any) action {
		return action{nftables.ChainHookPrerouting, family.source, func() []expr.Any { return []expr.Any{&expr.Counter{}, queue} }}
	}
	err := hold(name, addresses, act(&expr.Queue{Num: number, Total: 1, Flag: expr.QueueFlagBypass}))
	if errors.Is(err, unix.ENOENT) { // a kernel that has it from iptables only
		err = hold(name, addresses, act(queueTarget(number)))
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

// Classify has packets that go to the addresses belong to a class of the device that sends them, or gives the class of an existing
// name new addresses.
func Classify(name string, class uint32, addresses []netip.Addr) error {
	return hold(name, addresses, action{nftables.ChainHookPostrouting, family.destination, func() []expr.Any {
		return []expr.Any{
			&expr.Counter{}, &expr.Immediate{Register: 1, Data: binary.NativeEndian.AppendUint32(nil, class)},
			&expr.Meta{Key: expr.MetaKeyPRIORITY, SourceRegister: true, Register: 1},
		}
	}})
}

// action is what is done where to packets of which address.
type action struct {
	hook   *nftables.ChainHook
	offset func(family) uint32
	does   func() []expr.Any
}

func hold(name string, addresses []netip.Addr, a action) error {
	c, err := nftables.New()
	if err != nil {
		return fault("open the packet filter", err)
	}
	for _, f := range families {
		exists, err := hasChain(c, f.table(), name)
		if err != nil {
			return err
		}
		if exists {
			err = replace(c, f.table(), name, f, addresses)
		} else {
			err = createHold(c, name, f, addresses, a)
		}
		if err != nil {
			return err
		}
	}
	return fault("hold packets up", c.Flush())
}

func createHold(c *nftables.Conn, name string, f family, addresses []netip.Addr, a action) error {
	t := c.AddTable(f.table())
	chain := c.AddChain(&nftables.Chain{
		Table: t, Name: name, Type: nftables.ChainTypeFilter, Hooknum: a.hook, Priority: nftables.ChainPriorityMangle,
	})
	set := &nftables.Set{Table: t, Name: name + f.suffix, KeyType: f.keyType}
	if err := c.AddSet(set, f.elements(addresses)); err != nil {
		return fault("name the addresses", err)
	}
	c.AddRule(&nftables.Rule{Table: t, Chain: chain, Exprs: append(f.match(set, a.offset(f)), a.does()...)})
	return nil
}

// Unhold ends what holds packets up under that name; there may be none. What waits goes on to wait.
func Unhold(name string) error {
	c, err := nftables.New()
	if err != nil {
		return fault("open the packet filter", err)
	}
	for _, f := range families {
		exists, err := hasChain(c, f.table(), name)
		if err != nil {
			return err
		}
		if exists {
			chain := &nftables.Chain{Table: f.table(), Name: name}
			c.FlushChain(chain)
			c.DelChain(chain)
			c.DelSet(&nftables.Set{Table: f.table(), Name: name + f.suffix})
		}
	}
	return fault("stop holding packets up", c.Flush())
}

// UnholdAll ends all of it, also what a process before began.
func UnholdAll() error {
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
			if t.Name == holdTable {
				c.DelTable(t)
			}
		}
	}
	return fault("stop holding packets up", c.Flush())
}

// Held is how many packets were to be held up under that name since it began, with those for which there was no room. It is an error
// when nothing holds them up any more.
func Held(name string) (uint64, error) {
	c, err := nftables.New()
	if err != nil {
		return 0, fault("open the packet filter", err)
	}
	var sum uint64
	for _, f := range families {
		exists, err := hasChain(c, f.table(), name)
		if err != nil {
			return 0, err
		}
		if !exists {
			return 0, fmt.Errorf("the packet filter has no chain %s any more: somebody else has removed it", name)
		}
		n, err := counted(c, f.table(), name)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}
