// Package freeport finds ports for the processes of tests, of which the tests of many packages run at once.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// The ports that are given out, first and last. The kernel gives others to connections that name none, and Kubernetes to Services: a port
// that is free for a moment stays so.
const (
	lowest  = 12_000
	highest = 29_999
)

// Address returns an address of this machine that nobody listens at, and that no other test is given until this one has ended.
func Address(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(Ports(t, 1)))
}

// Ports returns the first of n such ports in a row.
func Ports(t testing.TB, n int) int {
	t.Helper()
	return within(t, lowest, highest, n)
}

func within(t testing.TB, lowest, highest, n int) int {
	t.Helper()
	places := highest - lowest + 2 - n
	from := rand.IntN(places)
	for i := range places {
		port := lowest + (from+i)%places
		if locks := take(port, n); locks != nil {
			t.Cleanup(func() { release(locks) })
			return port
		}
	}
	t.Fatalf("no %d ports in a row are free from %d to %d", n, lowest, highest)
	return 0
}

// take keeps ports from the tests of all processes by their namesakes of UDP, which nobody else wants; nil where one is not to be had.
func take(port, n int) []net.PacketConn {
	var locks []net.PacketConn
	for p := port; p < port+n; p++ {
		lock, err := net.ListenPacket("udp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
		if err != nil {
			release(locks)
			return nil
		}
		locks = append(locks, lock)
		listener, err := net.Listen("tcp", ":"+strconv.Itoa(p))
		if err != nil {
			release(locks)
			return nil
		}
		_ = listener.Close() // nobody has connected to it: it leaves nothing behind
	}
	return locks
}

func release(locks []net.PacketConn) {
	for _, l := range locks {
		_ = l.Close()
	}
}
