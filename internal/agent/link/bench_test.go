package link

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"replab.dev/internal/percentile"
	"replab.dev/internal/timer"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
)

// TestBenchDelay sends 10,000 packets a second through a link, in groups of ten.
func TestBenchDelay(t *testing.T) {
	benchmark.Skip(t)
	for _, delay := range []time.Duration{5 * time.Millisecond, 10 * time.Millisecond, 43500 * time.Microsecond} {
		t.Run(delay.String(), func(t *testing.T) {
			m := newManager(t)
			undelayed := travel(t)
			_, err := m.Set(links(wire.Peer{Address: far, DelayMicroseconds: delay.Microseconds()}))
			must(t, err)
			delayed := travel(t)
			s := m.State()
			if *s.Dropped != 0 || len(delayed) != len(undelayed) {
				t.Errorf("%d packets dropped, %d of %d came", *s.Dropped, len(delayed), len(undelayed))
			}
			for _, p := range []int64{50, 99} {
				n := percentile.Rank(p, int64(len(delayed))) - 1
				added := delayed[n] - percentileOf(undelayed, 50)
				f := benchmark.Figure{
					What: fmt.Sprintf("link: p%d of the added delay / %s", p, delay), Value: added.Seconds() / delay.Seconds(), Target: benchmark.AtMost(1.05),
					Measured: fmt.Sprintf("%s at 10000 packets/s; %d late", added.Round(time.Microsecond), *s.Late),
				}
				f.Print()
			}
		})
	}
}

func percentileOf(sorted []time.Duration, p int64) time.Duration {
	return sorted[percentile.Rank(p, int64(len(sorted)))-1]
}

// travel is how long packets are on their way, from the shortest.
func travel(t *testing.T) []time.Duration {
	t.Helper()
	const seconds, groups, group = 5, 1000, 10
	in, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(near)})
	must(t, err)
	defer in.Close()
	must(t, in.SetReadBuffer(32<<20))
	out, err := net.DialUDP("udp", &net.UDPAddr{IP: net.ParseIP(far)}, in.LocalAddr().(*net.UDPAddr))
	must(t, err)
	defer out.Close()
	began := time.Now()
	go func() {
		fine := timer.New()
		defer fine.Close()
		for g := range seconds * groups {
			fine.Sleep(time.Until(began.Add(time.Duration(g) * time.Second / groups)))
			for range group {
				_, _ = out.Write(binary.NativeEndian.AppendUint64(nil, uint64(time.Since(began))))
			}
		}
	}()
	var times []time.Duration
	b := make([]byte, 8)
	must(t, in.SetReadDeadline(time.Now().Add(2*seconds*time.Second)))
	for range seconds * groups * group {
		if _, err := in.Read(b); err != nil {
			t.Fatalf("after %d packets: %v", len(times), err)
		}
		times = append(times, time.Since(began)-time.Duration(binary.NativeEndian.Uint64(b)))
	}
	slices.Sort(times)
	return times
}

// elsewhere is an address to which nobody speaks.
const elsewhere = "127.0.0.3"

// TestBenchNoDistance compares questions and answers over a link of 0 ms with those over none, in pairs of random order. Nothing holds such
// packets up; where a link to somebody else stands they pass its packet filter, and are stamped. What they would take through a queue that
// lets all go at once stands beside that, without a target: no link makes one.
func TestBenchNoDistance(t *testing.T) {
	benchmark.Skip(t)
	m := newManager(t)
	ask := echoes(t)
	set := func(links wire.Links) {
		_, err := m.Set(links)
		must(t, err)
	}
	compare := func(what string, with, without func(), target benchmark.Target) {
		asked := func(prepare func()) func() float64 {
			return func() float64 {
				prepare()
				return ask()
			}
		}
		as, bs := benchmark.Pairs(20, asked(with), asked(without))
		same := func(n float64) float64 { return n }
		benchmark.OfPairs(what+": questions a second / without a link",
			"over TCP, one after the other: "+benchmark.Both(as, "with", bs, "without", same, "/s"), benchmark.Ratios(as, bs, same), target).Print()
	}
	none := func() {
		_, err := m.Clear()
		must(t, err)
	}
	compare("link of 0 ms", func() { set(links(wire.Peer{Address: far}, wire.Peer{Address: near})) }, none, benchmark.AtLeast(0.97))
	compare("link of 0 ms beside one of 10 ms", func() {
		set(links(wire.Peer{Address: far}, wire.Peer{Address: near}, wire.Peer{Address: elsewhere, DelayMicroseconds: 10_000}))
	}, none, benchmark.AtLeast(0.97))
	none()
	q, err := newQueues()
	must(t, err)
	defer q.close()
	through := func(lanes ...lane) func() { return func() { must(t, q.set(lanes)) } }
	compare("queue of 0 ms, which no link makes", through(lane{addresses: []netip.Addr{netip.MustParseAddr(far), netip.MustParseAddr(near)}}), through(), benchmark.Target{})
}

// echoes returns how often a second a byte is answered, as found in half a second.
func echoes(t *testing.T) func() float64 {
	t.Helper()
	l, err := net.Listen("tcp", far+":0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, _ = io.Copy(conn, conn)
		}
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	b := []byte{1}
	return func() float64 {
		n, began := 0, time.Now()
		for ; time.Since(began) < 500*time.Millisecond; n++ {
			_, err := conn.Write(b)
			must(t, err)
			_, err = io.ReadFull(conn, b)
			must(t, err)
		}
		return float64(n) / time.Since(began).Seconds()
	}
}

// TestBenchBulk has one connection send all it can through a link.
func TestBenchBulk(t *testing.T) {
	benchmark.Skip(t)
	m := newManager(t)
	l, err := net.Listen("tcp", near+":0")
	must(t, err)
	defer l.Close()
	_, err = m.Set(links(wire.Peer{Address: far, DelayMicroseconds: 5_000}))
	must(t, err)
	go func() {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(far)}}
		conn, err := d.DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			return
		}
		defer conn.Close()
		b := make([]byte, 1<<20)
		for began := time.Now(); time.Since(began) < 4*time.Second; {
			if _, err := conn.Write(b); err != nil {
				return
			}
		}
	}()
	conn, err := l.Accept()
	must(t, err)
	began := time.Now()
	n, err := io.Copy(io.Discard, conn)
	must(t, err)
	s := m.State()
	if *s.Dropped != 0 {
		t.Errorf("%d packets dropped", *s.Dropped)
	}
	benchmark.Figure{
		What: "link of 5 ms: one connection", Measured: fmt.Sprintf("%d MB", n>>20), Value: float64(n) * 8 / 1e6 / time.Since(began).Seconds(), Unit: "Mbit/s",
	}.Print()
}
