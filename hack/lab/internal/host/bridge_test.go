package host

import (
	"runtime"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// apart gives the test a network of its own. The thread is never unlocked, so it
// ends with the test and no other one finds itself in that network.
func apart(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("needs root for a network of its own: %v", err)
	}
}

func TestBridge(t *testing.T) {
	apart(t)
	b := Bridge{Name: "rl-test0", Address: "10.213.0.1/24", Owner: "/lab/a"}
	for range 2 {
		if err := b.Ensure(); err != nil {
			t.Fatal(err)
		}
	}
	link, err := netlink.LinkByName(b.Name)
	if err != nil {
		t.Fatal(err)
	}
	if addresses, err := netlink.AddrList(link, netlink.FAMILY_V4); err != nil || len(addresses) != 1 {
		t.Errorf("addresses %v, %v", addresses, err)
	}

	other := Bridge{Name: b.Name, Address: b.Address, Owner: "/lab/b"}
	if err := other.Ensure(); err == nil || !strings.Contains(err.Error(), "/lab/a") {
		t.Errorf("another lab got: %v", err)
	}
	if err := other.Remove(); err != nil || b.Check() != nil {
		t.Errorf("another lab removed it: %v, %v", err, b.Check())
	}

	for range 2 {
		if err := b.Remove(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := netlink.LinkByName(b.Name); err == nil {
		t.Error("it is still there")
	}
}

func TestBridgeRefusesNetworksInUse(t *testing.T) {
	apart(t)
	used := Bridge{Name: "rl-test1", Address: "10.213.0.65/26", Owner: "/other"}
	if err := used.Ensure(); err != nil {
		t.Fatal(err)
	}
	b := Bridge{Name: "rl-test0", Address: "10.213.0.1/24", Owner: "/lab/a"}
	if err := b.Ensure(); err == nil || !strings.Contains(err.Error(), "10.213.0.64/26") {
		t.Errorf("got %v, want a refusal that names the route", err)
	}
}

// Ends of pods that end while the bridge is removed are listed and then gone.
func TestALinkThatIsGoneIsRemoved(t *testing.T) {
	apart(t)
	b := Bridge{Name: "rl-test0", Address: "10.213.0.1/24", Owner: "/lab/a"}
	if err := b.Ensure(); err != nil {
		t.Fatal(err)
	}
	link, err := netlink.LinkByName(b.Name)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := remove(link); err != nil {
			t.Fatal(err)
		}
	}
}
