package link

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/agent/nft"
	"replab.dev/internal/wire"
)

func TestNothingIsLostAndNothingOvertakes(t *testing.T) {
	m := newManager(t)
	_, err := m.Set(links(wire.Peer{Address: far, DelayMicroseconds: 20_000}))
	must(t, err)
	in, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(near)})
	must(t, err)
	defer in.Close()
	out, err := net.DialUDP("udp", &net.UDPAddr{IP: net.ParseIP(far)}, in.LocalAddr().(*net.UDPAddr))
	must(t, err)
	defer out.Close()
	const n, most = 5000, 200 // at once: the socket has no room for as many as may come while its reader has no processor
	room := make(chan struct{}, most)
	go func() {
		for i := range n {
			room <- struct{}{}
			_, _ = fmt.Fprintf(out, "%d", i)
		}
	}()
	b := make([]byte, 16)
	must(t, in.SetReadDeadline(time.Now().Add(time.Minute)))
	for i := range n {
		k, err := in.Read(b)
		must(t, err)
		if got := string(b[:k]); got != fmt.Sprint(i) {
			t.Fatalf("packet %s came as number %d", got, i)
		}
		<-room
	}
	s := m.State()
	if *s.Packets != n || *s.Dropped != 0 {
		t.Errorf("%d packets, %d dropped; want %d, 0", *s.Packets, *s.Dropped, n)
	}
}

// TestWhatFindsNoRoomIsCounted sends more than may wait.
func TestWhatFindsNoRoomIsCounted(t *testing.T) {
	m := newManager(t)
	_, err := m.Set(links(wire.Peer{Address: far, DelayMicroseconds: 8_000_000})) // much longer than it takes to send them
	must(t, err)
	out, err := net.DialUDP("udp", &net.UDPAddr{IP: net.ParseIP(far)}, &net.UDPAddr{IP: net.ParseIP(near), Port: 9})
	must(t, err)
	defer out.Close()
	n := int64(0)
	for n < queueLength+1000 {
		if _, err := out.Write([]byte("x")); err == nil { // else an earlier one was refused, and none was sent
			n++
		}
	}
	s := m.State()
	for end := time.Now().Add(10 * time.Second); *s.Packets+*s.Dropped < n && time.Now().Before(end); s = m.State() {
		time.Sleep(10 * time.Millisecond) // the reader may not have had a processor yet
	}
	if *s.Dropped == 0 || *s.Packets+*s.Dropped < n {
		t.Errorf("of %d packets %d came and %d were dropped", n, *s.Packets, *s.Dropped)
	}
}

func TestAPartitionCutsALinkOff(t *testing.T) {
	m := newManager(t)
	_, err := m.Set(links(wire.Peer{Address: far, DelayMicroseconds: 5_000}))
	must(t, err)
	must(t, nft.Cut("cut", []netip.Addr{netip.MustParseAddr(far)}))
	trips, err := Measure(t.Context(), wire.RoundTripRequest{Addresses: []string{far}, Samples: 1, TimeoutMilliseconds: 300})
	must(t, err)
	if r := trips.RoundTrips[0]; r.Samples != 0 || r.Why == "" {
		t.Errorf("through a partition: %+v", r)
	}
	must(t, nft.Heal("cut"))
	if d := trip(t, 3); d < 5*time.Millisecond {
		t.Errorf("after the partition the round trip is %s: the link has gone with it", d)
	}
}

// TestLinksSetAgainTellOfARemoval: other peers must not hide that rules were missing.
func TestLinksSetAgainTellOfARemoval(t *testing.T) {
	m := newManager(t)
	_, err := m.Set(links(wire.Peer{Address: far, DelayMicroseconds: 5_000}))
	must(t, err)
	must(t, nft.EndDelays())
	s, err := m.Set(links(wire.Peer{Address: far, DelayMicroseconds: 5_000}, wire.Peer{Address: "127.0.0.9", DelayMicroseconds: 5_000}))
	must(t, err)
	if !strings.Contains(s.Failed, "another program removed its rules") {
		t.Errorf("%+v", s)
	}
}

// TestLinksThatSomebodyElseRemovesAreToldOf: such as a tool that flushes the packet filter.
func TestLinksThatSomebodyElseRemovesAreToldOf(t *testing.T) {
	m := newManager(t)
	_, err := m.Set(links(wire.Peer{Address: far, DelayMicroseconds: 5_000}))
	must(t, err)
	must(t, nft.EndDelays())
	s := m.State()
	if !strings.Contains(s.Failed, "another program removed its rules") {
		t.Errorf("state: %+v", s)
	}
}
