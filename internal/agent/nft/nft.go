// Package nft cuts a pod off from addresses: packets from and to them are dropped in the pod's own network namespace.
// Nothing is closed and nobody is told, as when a cable is pulled. It also gives packets from addresses to a queue, where they can be
// delayed. It needs NET_ADMIN.
//
// Partitions are in one table, replab. Each has its own sets of addresses, and rules that bear its name, so that several may stand at once and
// each is removed without touching another. Queues are alike, in tables of their own.
//
// Chains with a hook stay once they are there, without rules if need be. When one is removed, the kernel drops all packets that wait in any
// queue of the network namespace.
package nft

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"
)

// Drops counts the packets that a partition has dropped so far.
type Drops struct {
	In, Out uint64
}

func table() *nftables.Table {
	return &nftables.Table{Name: "replab", Family: nftables.TableFamilyINet}
}

// Chains of the table of partitions.
var (
	chainIn  = hooked{"in", nftables.ChainHookInput, nftables.ChainPriorityRaw}
	chainOut = hooked{"out", nftables.ChainHookOutput, nftables.ChainPriorityRaw}
)

// Cut begins the partition of that name, or gives an existing one new addresses. It takes effect at once for all of
// them. At least one address is needed.
func Cut(name string, addresses []netip.Addr) error {
	return change("drop packets", func(c *nftables.Conn) error {
		rules, err := rulesOf(c, table(), name, chainIn, chainOut)
		if err != nil {
			return err
		}
		for _, f := range families {
			do := cut
			if len(rules) > 0 {
				do = replace
			}
			if err := do(c, table(), name, f, addresses); err != nil {
				return err
			}
		}
		return nil
	})
}

// change has the kernel carry out at once all that do asks for.
func change(what string, do func(*nftables.Conn) error) error {
	c, err := nftables.New()
	if err != nil {
		return fault("open the packet filter", err)
	}
	if err := do(c); err != nil {
		return err
	}
	return fault(what, c.Flush())
}

func cut(c *nftables.Conn, t *nftables.Table, name string, f family, addresses []netip.Addr) error {
	set, err := addSet(c, c.AddTable(t), name, f, addresses)
	if err != nil {
		return err
	}
	chainIn.add(c, t, name, f.drop(set, f.sourceOffset))
	chainOut.add(c, t, name, f.drop(set, f.destinationOffset))
	return nil
}

func addSet(c *nftables.Conn, t *nftables.Table, name string, f family, addresses []netip.Addr) (*nftables.Set, error) {
	set := &nftables.Set{Table: t, Name: name + f.suffix, KeyType: f.keyType}
	return set, fault("name the addresses", c.AddSet(set, f.elements(addresses)))
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
	return change("stop dropping packets", func(c *nftables.Conn) error {
		rules, err := rulesOf(c, table(), name, chainIn, chainOut)
		if err != nil || len(rules) == 0 {
			return err
		}
		return remove(c, table(), rules, name, families...)
	})
}

// Exists tells whether the partition of that name stands, with all its rules.
func Exists(name string) (bool, error) {
	rules, err := read(name, chainIn, chainOut)
	return len(rules) == 2*len(families), err
}

// Count returns what the partition of that name has dropped since it began.
func Count(name string) (Drops, error) {
	in, err := read(name, chainIn)
	if err != nil {
		return Drops{}, err
	}
	out, err := read(name, chainOut)
	return Drops{In: counted(in), Out: counted(out)}, err
}

// read the rules of a partition.
func read(name string, chains ...hooked) ([]*nftables.Rule, error) {
	c, err := nftables.New()
	if err != nil {
		return nil, fault("open the packet filter", err)
	}
	return rulesOf(c, table(), name, chains...)
}

func fault(what string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("%s: %w: the agent has no capability NET_ADMIN; give it to the agent's container in experiments with a partition, a link or two primaries", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
