package host

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Bridge is the network that the pods and the node share.
type Bridge struct {
	Name string
	// Address is the node's, with the length of the prefix.
	Address string
	// Owner is the lab's folder; the link carries it, so that two labs on one
	// machine do not take each other's for their own.
	Owner string
}

// Check says, without changing anything, whether Ensure would refuse.
func (b Bridge) Check() error {
	link, err := netlink.LinkByName(b.Name)
	switch {
	case errors.As(err, new(netlink.LinkNotFoundError)):
		return b.checkRoutes()
	case err != nil:
		return fmt.Errorf("look up bridge %s: %w", b.Name, err)
	case link.Attrs().Alias != b.Owner:
		return b.foreign(link)
	}
	return nil
}

// Ensure makes the bridge, or repairs it. It must exist before the kubelet and
// the API server start, since both bind to its address.
func (b Bridge) Ensure() error {
	if err := b.Check(); err != nil {
		return err
	}
	link, err := netlink.LinkByName(b.Name)
	if errors.As(err, new(netlink.LinkNotFoundError)) {
		link, err = b.make()
	}
	if err != nil {
		return err
	}
	address, err := netlink.ParseAddr(b.Address)
	if err != nil {
		return err
	}
	if err := netlink.AddrReplace(link, address); err != nil {
		return fmt.Errorf("give bridge %s its address: %w", b.Name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("set bridge %s up: %w", b.Name, err)
	}
	return attachPods(link)
}

func (b Bridge) foreign(link netlink.Link) error {
	if owner := link.Attrs().Alias; owner != "" {
		return fmt.Errorf("another lab is up in %s: stop it with LAB_DIR=%s make lab-down", owner, owner)
	}
	return fmt.Errorf("an interface named %s exists that is not the lab's: remove it", b.Name)
}

func (b Bridge) make() (netlink.Link, error) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = b.Name
	if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: attrs}); err != nil {
		return nil, fmt.Errorf("make bridge %s: %w", b.Name, err)
	}
	link, err := netlink.LinkByName(b.Name)
	if err != nil {
		return nil, err
	}
	if err := netlink.LinkSetAlias(link, b.Owner); err != nil {
		return nil, fmt.Errorf("mark bridge %s: %w", b.Name, err)
	}
	return link, nil
}

// checkRoutes refuses a machine on which the lab's addresses lead elsewhere.
func (b Bridge) checkRoutes() error {
	_, own, err := net.ParseCIDR(b.Address)
	if err != nil {
		return err
	}
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return fmt.Errorf("list routes: %w", err)
	}
	for _, r := range routes {
		if r.Dst == nil || isDefault(r.Dst) {
			continue
		}
		if overlap(own, r.Dst) {
			return fmt.Errorf("the lab's network %s overlaps the route to %s that this machine has", own, r.Dst)
		}
	}
	return nil
}

func isDefault(n *net.IPNet) bool {
	ones, _ := n.Mask.Size()
	return ones == 0
}

func overlap(a, b *net.IPNet) bool {
	return a.Contains(b.IP) || b.Contains(a.IP)
}

// Remove removes the bridge and the pods' ends that are still attached to it.
func (b Bridge) Remove() error {
	link, err := netlink.LinkByName(b.Name)
	if errors.As(err, new(netlink.LinkNotFoundError)) {
		return nil
	}
	if err != nil {
		return err
	}
	if link.Attrs().Alias != b.Owner {
		return nil
	}
	links, err := netlink.LinkList()
	if err != nil {
		return err
	}
	var errs []error
	for _, l := range links {
		if l.Attrs().MasterIndex == link.Attrs().Index {
			errs = append(errs, remove(l))
		}
	}
	return errors.Join(append(errs, remove(link))...)
}

// remove removes a link. One that is gone is well: an end of a pair goes with the
// network of a pod that has ended, and the kernel takes that away in its own time.
func remove(link netlink.Link) error {
	if err := netlink.LinkDel(link); err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("link %s: %w", link.Attrs().Name, err)
	}
	return nil
}
