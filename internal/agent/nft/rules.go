package nft

import (
	"net/netip"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/userdata"
	"golang.org/x/sys/unix"
)

// hooked is a chain that packets pass. It holds the rules of all names.
type hooked struct {
	name     string
	hook     *nftables.ChainHook
	priority *nftables.ChainPriority
}

// add a rule of that name, and the chain where it is not there.
func (h hooked) add(c *nftables.Conn, t *nftables.Table, name string, does []expr.Any) {
	chain := c.AddChain(&nftables.Chain{Table: t, Name: h.name, Type: nftables.ChainTypeFilter, Hooknum: h.hook, Priority: h.priority})
	c.AddRule(&nftables.Rule{Table: t, Chain: chain, Exprs: does, UserData: userdata.AppendString(nil, userdata.TypeComment, name)})
}

// rulesOf that name in the chains of a table. Neither has to be there.
func rulesOf(c *nftables.Conn, t *nftables.Table, name string, chains ...hooked) ([]*nftables.Rule, error) {
	standing, err := c.ListChainsOfTableFamily(t.Family)
	if err != nil {
		return nil, fault("list the packet filter", err)
	}
	var found []*nftables.Rule
	for _, chain := range standing {
		wanted := slices.ContainsFunc(chains, func(h hooked) bool { return h.name == chain.Name })
		if chain.Table.Name != t.Name || !wanted {
			continue
		}
		rules, err := c.GetRules(t, chain)
		if err != nil {
			return nil, fault("list the packet filter's rules", err)
		}
		for _, r := range rules {
			if of, _ := userdata.GetString(r.UserData, userdata.TypeComment); of == name {
				found = append(found, r)
			}
		}
	}
	return found, nil
}

// remove the rules and the sets of a name.
func remove(c *nftables.Conn, t *nftables.Table, rules []*nftables.Rule, name string, sets ...family) error {
	for _, r := range rules {
		if err := c.DelRule(r); err != nil {
			return fault("remove a rule", err)
		}
	}
	for _, f := range sets {
		c.DelSet(&nftables.Set{Table: t, Name: name + f.suffix})
	}
	return nil
}

// counted by the rules.
func counted(rules []*nftables.Rule) uint64 {
	var packets uint64
	for _, r := range rules {
		for _, e := range r.Exprs {
			if counter, ok := e.(*expr.Counter); ok {
				packets += counter.Packets
			}
		}
	}
	return packets
}

// family is what differs between IPv4 and IPv6: where in the header the addresses are, and how long.
type family struct {
	suffix            string // of the set's name
	protocol          byte
	keyType           nftables.SetDatatype
	length            uint32
	sourceOffset      uint32
	destinationOffset uint32
}

var families = []family{
	{suffix: "-4", protocol: unix.NFPROTO_IPV4, keyType: nftables.TypeIPAddr, length: 4, sourceOffset: 12, destinationOffset: 16},
	{suffix: "-6", protocol: unix.NFPROTO_IPV6, keyType: nftables.TypeIP6Addr, length: 16, sourceOffset: 8, destinationOffset: 24},
}

// elements are those of the addresses that are of this family.
func (f family) elements(addresses []netip.Addr) []nftables.SetElement {
	var es []nftables.SetElement
	for _, a := range addresses {
		if key := a.Unmap().AsSlice(); len(key) == int(f.length) {
			es = append(es, nftables.SetElement{Key: key})
		}
	}
	return es
}

// match is for packets, in a table of this family alone, whose address at the offset of its header is in the set.
func (f family) match(set *nftables.Set, offset uint32) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: f.length},
		&expr.Lookup{SourceRegister: 1, SetName: set.Name, SetID: set.ID},
	}
}

// drop counts and drops what matches, in a table of both families.
func (f family) drop(set *nftables.Set, offset uint32) []expr.Any {
	return slices.Concat(f.ours(), f.match(set, offset), []expr.Any{&expr.Counter{}, &expr.Verdict{Kind: expr.VerdictDrop}})
}

// ours is for packets of this family, in a table of both.
func (f family) ours() []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{f.protocol}},
	}
}
