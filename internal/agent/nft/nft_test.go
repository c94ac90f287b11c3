package nft

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"replab.dev/test/netns"
)

func TestMain(m *testing.M) { os.Exit(netns.Main(m)) }

func TestAPartitionDropsWhatComesFromAndGoesToItsAddresses(t *testing.T) {
	netns.Need(t)
	near := listen(t, "127.0.0.1:0")
	far, other, six := listen(t, "127.0.0.2:0"), listen(t, "127.0.0.3:0"), listen(t, "[::1]:0")
	established := connect(t, far)

	must(t, Cut("cut", addrs("127.0.0.2")))
	if reaches(far) {
		t.Error("a connection to the cut address was made")
	}
	if passes(established) {
		t.Error("data passed on the connection that was there before")
	}
	for _, open := range []string{near, other, six} {
		if !reaches(open) {
			t.Errorf("%s is cut off too", open)
		}
	}
	drops, err := Count("cut")
	must(t, err)
	if drops.Out == 0 {
		t.Errorf("no packet was counted as dropped: %+v", drops)
	}

	must(t, Cut("cut", addrs("127.0.0.3", "::1")))
	if !passes(established) {
		t.Error("the old address was not let go when the addresses were replaced")
	}
	if reaches(other) || reaches(six) {
		t.Error("a new address is not cut off")
	}

	must(t, Heal("cut"))
	for _, open := range []string{far, other, six} {
		if !reaches(open) {
			t.Errorf("%s is still cut off after the partition", open)
		}
	}
	must(t, Heal("cut")) // again: there is none
	if exists, err := Exists("cut"); err != nil || exists {
		t.Errorf("the partition exists after it was healed: %v, %v", exists, err)
	}
}

func TestPacketsFromACutAddressAreCountedAsTheyComeIn(t *testing.T) {
	netns.Need(t)
	near := listen(t, "127.0.0.1:0")
	must(t, Cut("cut", addrs("127.0.0.2")))
	t.Cleanup(func() { _ = Heal("cut") })
	// Bound to the cut address, it sends from there: the way out is open, the way in is not.
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.2")}, Timeout: 300 * time.Millisecond}
	if conn, err := d.Dial("tcp", near); err == nil {
		conn.Close()
		t.Fatal("a connection from the cut address was made")
	}
	if drops, err := Count("cut"); err != nil || drops.In == 0 {
		t.Fatalf("%+v, %v: want packets dropped on their way in", drops, err)
	}
}

func TestPartitionsStandSideBySide(t *testing.T) {
	netns.Need(t)
	two, three := listen(t, "127.0.0.2:0"), listen(t, "127.0.0.3:0")
	must(t, Cut("a", addrs("127.0.0.2")))
	must(t, Cut("b", addrs("127.0.0.2", "127.0.0.3")))
	must(t, Heal("b"))
	if reaches(two) || !reaches(three) {
		t.Error("healing one partition touched the other")
	}
	must(t, Heal("a"))
	if !reaches(two) {
		t.Error("the address is still cut off after both partitions")
	}
}

func TestWithoutNetAdminTheErrorSaysWhatIsMissing(t *testing.T) {
	if os.Geteuid() != 0 {
		if err := Cut("cut", addrs("127.0.0.2")); err == nil || !strings.Contains(err.Error(), "NET_ADMIN") {
			t.Fatalf("error is %v", err)
		}
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// listen answers each byte with the same byte.
func listen(t *testing.T, address string) string {
	t.Helper()
	l, err := net.Listen("tcp", address)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				b := make([]byte, 1)
				for {
					if _, err := conn.Read(b); err != nil {
						return
					}
					if _, err := conn.Write(b); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func connect(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	if !passes(conn) {
		t.Fatal("nothing passes before the partition")
	}
	return conn
}

// passes tells whether a byte comes back within a second; bytes of an earlier question do for an answer.
func passes(conn net.Conn) bool {
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte{1}); err != nil {
		return false
	}
	_, err := conn.Read(make([]byte, 1))
	return err == nil
}

func reaches(address string) bool {
	conn, err := net.DialTimeout("tcp", address, 300*time.Millisecond)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

func addrs(texts ...string) []netip.Addr {
	var as []netip.Addr
	for _, s := range texts {
		as = append(as, netip.MustParseAddr(s))
	}
	return as
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
