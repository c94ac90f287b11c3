package nft

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

func trafficTable() *nftables.Table {
	return &nftables.Table{Name: "replab-traffic", Family: nftables.TableFamilyINet}
}

// chainSent of the table of traffic comes after the partitions: what is dropped is not counted.
var chainSent = hooked{"sent", nftables.ChainHookOutput, nftables.ChainPriorityFilter}

// Watch counts TCP packets from this pod to the addresses that have the port on either side. An existing name gets new addresses, and counts on.
func Watch(name string, port uint16, addresses []netip.Addr) error {
	return change("count packets", func(c *nftables.Conn) error {
		rules, err := rulesOf(c, trafficTable(), name, chainSent)
		if err != nil {
			return err
		}
		for _, f := range families {
			do := watch(port)
			if len(rules) > 0 {
				do = replace
			}
			if err := do(c, trafficTable(), name, f, addresses); err != nil {
				return err
			}
		}
		return nil
	})
}

func watch(port uint16) func(*nftables.Conn, *nftables.Table, string, family, []netip.Addr) error {
	return func(c *nftables.Conn, t *nftables.Table, name string, f family, addresses []netip.Addr) error {
		set, err := addSet(c, c.AddTable(t), name, f, addresses)
		if err != nil {
			return err
		}
		for _, side := range []uint32{sourcePort, destinationPort} {
			chainSent.add(c, t, name, f.count(set, side, port))
		}
		return nil
	}
}

// Where in TCP's header the ports are.
const (
	sourcePort      = 0
	destinationPort = 2
)

// count is for TCP packets to the addresses, with this port at an offset of TCP's header, in a table of both families.
func (f family) count(set *nftables.Set, side uint32, port uint16) []expr.Any {
	tcp := []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: side, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binary.BigEndian.AppendUint16(nil, port)},
	}
	return slices.Concat(f.ours(), f.match(set, f.destinationOffset), tcp, []expr.Any{&expr.Counter{}})
}

// Sent are the bytes of IP packets that were counted under a name since it was first watched. It is an error where nothing is.
func Sent(name string) (uint64, error) {
	c, err := nftables.New()
	if err != nil {
		return 0, fault("open the packet filter", err)
	}
	rules, err := rulesOf(c, trafficTable(), name, chainSent)
	if err == nil && len(rules) == 0 {
		err = fmt.Errorf("the packet filter counts nothing under the name %s", name)
	}
	return bytes(rules), err
}

func bytes(rules []*nftables.Rule) (sum uint64) {
	for _, r := range rules {
		for _, e := range r.Exprs {
			if counter, ok := e.(*expr.Counter); ok {
				sum += counter.Bytes
			}
		}
	}
	return sum
}
