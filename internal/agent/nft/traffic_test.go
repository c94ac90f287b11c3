package nft

import (
	"io"
	"net"
	"strconv"
	"testing"

	"replab.dev/test/netns"
)

// TestTrafficOfOnePortIsCounted, by direction, whichever side has the port, and none of another port or address.
func TestTrafficOfOnePortIsCounted(t *testing.T) {
	netns.Need(t)
	const size = 1 << 20
	peer, other := sink(t, "127.0.0.2:0"), sink(t, "127.0.0.2:0")
	must(t, Watch("peer", port(t, peer), addrs("127.0.0.2")))
	send(t, other, "127.0.0.1", size)
	if got := passed(t); got != (Traffic{}) {
		t.Fatalf("of another port are counted %+v", got)
	}
	send(t, peer, "127.0.0.1", size)
	got := passed(t)
	between(t, "sent", got.Sent, size, size*105/100)
	between(t, "received", got.Received, 1, size/10)

	must(t, Watch("peer", port(t, peer), addrs("127.0.0.3")))
	send(t, peer, "127.0.0.1", size)
	if again := passed(t); again != got {
		t.Errorf("of an old address are counted %+v, after %+v", again, got)
	}
	send(t, peer, "127.0.0.3", size) // comes from there, and answers go there
	again := passed(t)
	between(t, "received from a client of the port", again.Received-got.Received, size, size*105/100)
	between(t, "sent to a client of the port", again.Sent-got.Sent, 1, size/10)

	must(t, Cut("cut", addrs("127.0.0.3")))
	t.Cleanup(func() { must(t, Heal("cut")) })
	before := passed(t)
	_, _ = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.3")}, Timeout: 1e8}).Dial("tcp", peer)
	if after := passed(t); after != before {
		t.Errorf("what a partition drops is counted: %+v, before %+v", after, before)
	}
	if _, err := Passed("nobody"); err == nil {
		t.Error("what is not watched was read")
	}
}

func passed(t *testing.T) Traffic {
	t.Helper()
	got, err := Passed("peer")
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
