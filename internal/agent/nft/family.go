package nft

import (
	"net/netip"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

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

func (f family) source() uint32      { return f.sourceOffset }
func (f family) destination() uint32 { return f.destinationOffset }

// match is for packets, in a table of this family alone, whose address at the offset of its header is in the set.
func (f family) match(set *nftables.Set, offset uint32) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: f.length},
		&expr.Lookup{SourceRegister: 1, SetName: set.Name, SetID: set.ID},
	}
}

// drop counts and drops what matches, in a table of both families.
func (f family) drop(set *nftables.Set, offset uint32) []expr.Any {
	ours := []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{f.protocol}},
	}
	return slices.Concat(ours, f.match(set, offset), []expr.Any{&expr.Counter{}, &expr.Verdict{Kind: expr.VerdictDrop}})
}
