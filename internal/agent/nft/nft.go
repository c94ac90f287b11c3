// Package nft cuts a pod off from addresses: packets from and to them are dropped in the pod's own network namespace.
// Nothing is closed and nobody is told, as when a cable is pulled. It also gives packets from addresses to a queue, where they can be
// delayed. It needs NET_ADMIN.
//
// Partitions are in one table, replab. Each has its own sets of addresses and its own two chains, so that several may stand at once and
// each is removed without touching another. Queues are alike, in tables of their own.
package nft

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// Drops counts the packets that a partition has dropped so far.
type Drops struct {
	In, Out uint64
}

func table() *nftables.Table {
	return &nftables.Table{Name: "replab", Family: nftables.TableFamilyINet}
}

// Cut begins the partition of that name, or gives an existing one new addresses. It takes effect at once for all of
// them. At least one address is needed.
func Cut(name string, addresses []netip.Addr) error {
	exists, err := Exists(name)
	if err != nil {
		return err
	}
	c, err := nftables.New()
	if err != nil {
		return fault("open the packet filter", err)
	}
	if !exists {
		err = create(c, name, addresses)
	}
	for _, f := range families {
		if exists && err == nil {
			err = replace(c, table(), name, f, addresses)
		}
	}
	if err != nil {
		return err
	}
	return fault("drop packets", c.Flush())
}

func create(c *nftables.Conn, name string, addresses []netip.Addr) error {
	t := c.AddTable(table())
	in := c.AddChain(&nftables.Chain{
		Table: t, Name: name + "-in", Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookInput, Priority: nftables.ChainPriorityRaw,
	})
	out := c.AddChain(&nftables.Chain{
		Table: t, Name: name + "-out", Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookOutput, Priority: nftables.ChainPriorityRaw,
	})
	for _, f := range families {
		set := &nftables.Set{Table: t, Name: name + f.suffix, KeyType: f.keyType}
		if err := c.AddSet(set, f.elements(addresses)); err != nil {
			return fault("name the addresses", err)
		}
		c.AddRule(&nftables.Rule{Table: t, Chain: in, Exprs: f.drop(set, f.sourceOffset)})
		c.AddRule(&nftables.Rule{Table: t, Chain: out, Exprs: f.drop(set, f.destinationOffset)})
	}
	return nil
}

func replace(c *nftables.Conn, t *nftables.Table, name string, f family, addresses []netip.Addr) error {
	set, err := c.GetSetByName(t, name+f.suffix)
	if err != nil {
		return fault("find the addresses", err)
	}
	set.Table = t
	c.FlushSet(set)
	return fault("replace the addresses", c.SetAddElements(set, f.elements(addresses)))
}

// Heal ends the partition of that name; there may be none.
func Heal(name string) error {
	exists, err := Exists(name)
	if err != nil || !exists {
		return err
	}
	c, err := nftables.New()
	if err != nil {
		return fault("open the packet filter", err)
	}
	for _, chain := range []string{name + "-in", name + "-out"} {
		ch := &nftables.Chain{Table: table(), Name: chain}
		c.FlushChain(ch)
		c.DelChain(ch)
	}
	for _, f := range families {
		c.DelSet(&nftables.Set{Table: table(), Name: name + f.suffix})
	}
	return fault("stop dropping packets", c.Flush())
}

// Exists tells whether the partition of that name stands.
func Exists(name string) (bool, error) {
	c, err := nftables.New()
	if err != nil {
		return false, fault("open the packet filter", err)
	}
	return hasChain(c, table(), name+"-out")
}

func hasChain(c *nftables.Conn, t *nftables.Table, name string) (bool, error) {
	chains, err := c.ListChainsOfTableFamily(t.Family)
	if err != nil {
		return false, fault("list the packet filter", err)
	}
	return slices.ContainsFunc(chains, func(ch *nftables.Chain) bool { return ch.Table.Name == t.Name && ch.Name == name }), nil
}

// Count returns what the partition of that name has dropped since it began.
func Count(name string) (Drops, error) {
	c, err := nftables.New()
	if err != nil {
		return Drops{}, fault("open the packet filter", err)
	}
	in, err := counted(c, table(), name+"-in")
	if err != nil {
		return Drops{}, err
	}
	out, err := counted(c, table(), name+"-out")
	return Drops{In: in, Out: out}, err
}

func counted(c *nftables.Conn, t *nftables.Table, chain string) (uint64, error) {
	rules, err := c.GetRules(t, &nftables.Chain{Table: t, Name: chain})
	if err != nil {
		return 0, fault("read the counters of dropped packets", err)
	}
	var packets uint64
	for _, r := range rules {
		for _, e := range r.Exprs {
			if counter, ok := e.(*expr.Counter); ok {
				packets += counter.Packets
			}
		}
	}
	return packets, nil
}

func fault(what string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("%s: %w: the agent has no capability NET_ADMIN; give it to the agent's container in experiments that have a partition or a link", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
