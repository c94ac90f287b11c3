package nft

import (
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/userdata"
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
