package nft

import (
	"io"
	"net"
	"strconv"
	"testing"

	"replab.dev/test/netns"
)

// TestTrafficOfOnePortIsCounted where it leaves, whichever side has the port, and none of another port or address.
func TestTrafficOfOnePortIsCounted(t *testing.T) {
	netns.Need(t)
	const size = 1 << 20
	peer, other := sink(t, "127.0.0.2:0"), sink(t, "127.0.0.2:0")
	must(t, Watch("peer", port(t, peer), addrs("127.0.0.2")))
	send(t, other, "127.0.0.1", size)
	if got := sent(t); got != 0 {
		t.Fatalf("of another port are counted %d bytes", got)
	}
	send(t, peer, "127.0.0.1", size)
	got := sent(t)
	between(t, "sent", got, size, size*105/100)

	must(t, Watch("peer", port(t, peer), addrs("127.0.0.3")))
	send(t, peer, "127.0.0.1", size)
	if again := sent(t); again != got {
		t.Errorf("of an old address are counted %d bytes, after %d", again, got)
	}
	send(t, peer, "127.0.0.3", size) // comes from there, and answers go there
	between(t, "sent to a client of the port", sent(t)-got, 1, size/10)

	must(t, Cut("cut", addrs("127.0.0.3")))
	t.Cleanup(func() { must(t, Heal("cut")) })
	before := sent(t)
	_, _ = (&net.Dialer{Timeout: 1e8}).Dial("tcp", net.JoinHostPort("127.0.0.3", strconv.Itoa(int(port(t, peer)))))
	if after := sent(t); after != before {
		t.Errorf("what a partition drops is counted: %d bytes, before %d", after, before)
	}
	if _, err := Sent("nobody"); err == nil {
		t.Error("what is not watched was read")
	}
}

func sent(t *testing.T) uint64 {
	t.Helper()
	got, err := Sent("peer")
	must(t, err)
	return got
}

func between(t *testing.T, what string, got uint64, least, most int) {
	t.Helper()
	if got < uint64(least) || got > uint64(most) {
		t.Errorf("%s: %d bytes, want %d to %d", what, got, least, most)
	}
}

// sink takes all that is sent to an address, and answers with one byte at the end.
func sink(t *testing.T, address string) string {
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
			_, _ = io.Copy(io.Discard, conn)
			_, _ = conn.Write([]byte{1})
			conn.Close()
		}
	}()
	return l.Addr().String()
}

func port(t *testing.T, address string) uint16 {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	must(t, err)
	n, err := strconv.ParseUint(text, 10, 16)
	must(t, err)
	return uint16(n)
}

// send bytes from an address of this machine, and wait for the answer.
func send(t *testing.T, to, from string, size int) {
	t.Helper()
	conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).Dial("tcp", to)
	must(t, err)
	defer conn.Close()
	_, err = conn.Write(make([]byte, size))
	must(t, err)
	must(t, conn.(*net.TCPConn).CloseWrite())
	_, err = io.ReadAll(conn)
	must(t, err)
}
