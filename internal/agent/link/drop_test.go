package link

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/nftables"

	"replab.dev/internal/agent/nft"
	"replab.dev/internal/wire"
)

// flow sends four packets at once from far to near every 4 ms. Each carries its number, from 0.
type flow struct {
	in, out *net.UDPConn
	sent    atomic.Int64
	came    atomic.Int64
	ended   chan struct{}
	read    chan struct{}  // closed when nothing is read any more
	seen    map[uint64]int // how often each packet came
}

func startFlow(t *testing.T) *flow {
	t.Helper()
	in, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(near)})
	must(t, err)
	t.Cleanup(func() { in.Close() })
	out, err := net.DialUDP("udp", &net.UDPAddr{IP: net.ParseIP(far)}, in.LocalAddr().(*net.UDPAddr))
	must(t, err)
	t.Cleanup(func() { out.Close() })
	f := &flow{in: in, out: out, ended: make(chan struct{}), read: make(chan struct{}), seen: map[uint64]int{}}
	go f.receive()
	go f.send()
	return f
}

func (f *flow) send() {
	tick := time.NewTicker(4 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-f.ended:
			return
		case <-tick.C:
			for range 4 {
				_, _ = f.out.Write(binary.NativeEndian.AppendUint64(nil, uint64(f.sent.Load())))
				f.sent.Add(1)
			}
		}
	}
}

// receive as packets come: a kernel's buffer may hold no more than those of half a second.
func (f *flow) receive() {
	defer close(f.read)
	b := make([]byte, 8)
	for {
		if _, err := f.in.Read(b); err != nil {
			return
		}
		f.seen[binary.NativeEndian.Uint64(b)]++
		f.came.Add(1)
	}
}

// end returns how many packets were sent and how many of them came. It waits for those that are on their way.
func (f *flow) end(t *testing.T) (sent, came int64) {
	t.Helper()
	close(f.ended)
	for last := int64(-1); f.came.Load() != last; time.Sleep(2 * time.Second) { // longer than any delay here: no other is on its way
		last = f.came.Load()
	}
	_ = f.in.Close()
	<-f.read
	for number, times := range f.seen {
		if times > 1 {
			t.Errorf("packet %d came %d times", number, times)
		}
	}
	return f.sent.Load(), int64(len(f.seen))
}

func delayed(ms int64, addresses ...string) []wire.Peer {
	var peers []wire.Peer
	for _, a := range addresses {
		peers = append(peers, wire.Peer{Address: a, DelayMicroseconds: ms * 1000})
	}
	return peers
}

func TestChangesLoseNoDelayedPacket(t *testing.T) {
	set := func(t *testing.T, m *Manager, peers ...[]wire.Peer) {
		t.Helper()
		all := links()
		for _, p := range peers {
			all.Peers = append(all.Peers, p...)
		}
		_, err := m.Set(all)
		must(t, err)
	}
	for name, change := range map[string]func(t *testing.T, m *Manager, round int){
		"partition of another address": func(t *testing.T, _ *Manager, _ int) {
			must(t, nft.Cut("cut", []netip.Addr{netip.MustParseAddr(elsewhere)}))
			time.Sleep(20 * time.Millisecond)
			must(t, nft.Heal("cut"))
		},
		"another link": func(t *testing.T, m *Manager, round int) {
			set(t, m, delayed(30, far), delayed(int64(1+round%2), elsewhere))
		},
		"one of two links": func(t *testing.T, m *Manager, round int) {
			if round%2 == 0 {
				set(t, m, delayed(30, far), delayed(5, elsewhere))
			} else {
				set(t, m, delayed(30, far))
			}
		},
		"the same link": func(t *testing.T, m *Manager, round int) {
			set(t, m, delayed(int64(20+10*(round%2)), far))
		},
		"all links": func(t *testing.T, m *Manager, round int) {
			if round%2 == 0 {
				set(t, m)
			} else {
				set(t, m, delayed(30, far))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newManager(t)
			set(t, m, delayed(30, far))
			f := startFlow(t)
			for round := range 20 {
				time.Sleep(40 * time.Millisecond)
				change(t, m, round)
			}
			sent, came := f.end(t)
			s := m.State()
			if came != sent || *s.Dropped != 0 || s.Failed != "" {
				t.Errorf("%d of %d packets came, %d are told as dropped: %s", came, sent, *s.Dropped, s.Failed)
			}
		})
	}
}

func TestTheEndOfLinksLosesNoPacket(t *testing.T) {
	m := newManager(t)
	_, err := m.Set(links(delayed(30, far)...))
	must(t, err)
	f := startFlow(t)
	time.Sleep(200 * time.Millisecond)
	s, err := m.Clear()
	must(t, err)
	if sent, came := f.end(t); came != sent || *s.Dropped != 0 {
		t.Errorf("%d of %d packets came, %d are told as dropped", came, sent, *s.Dropped)
	}
}

// TestWhatTheKernelDropsIsCounted removes a chain as another program may: the kernel then drops all that waits.
func TestWhatTheKernelDropsIsCounted(t *testing.T) {
	m := newManager(t)
	_, err := m.Set(links(delayed(30, far)...))
	must(t, err)
	f := startFlow(t)
	for range 3 {
		time.Sleep(100 * time.Millisecond)
		removeForeignChain(t)
	}
	sent, came := f.end(t)
	s := m.State()
	if came == sent || *s.Dropped != sent-came {
		t.Errorf("%d of %d packets came, %d are told as dropped", came, sent, *s.Dropped)
	}
}

func removeForeignChain(t *testing.T) {
	t.Helper()
	c, err := nftables.New()
	must(t, err)
	table := c.AddTable(&nftables.Table{Name: "foreign", Family: nftables.TableFamilyINet})
	c.AddChain(&nftables.Chain{
		Table: table, Name: "chain", Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter,
	})
	must(t, c.Flush())
	c.DelTable(table)
	must(t, c.Flush())
}

// TestTheNextAgentKeepsPartitions: it ends what the last one delayed, and a partition of that one goes on until it heals it.
func TestTheNextAgentKeepsPartitions(t *testing.T) {
	m := newManager(t)
	_, err := m.Set(links(delayed(30, far)...))
	must(t, err)
	must(t, nft.Cut("cut", []netip.Addr{netip.MustParseAddr(elsewhere)}))
	for _, o := range m.delayer.(*queues).open { // it dies without a word
		must(t, o.end())
	}
	m.delayer = nil
	next := newManager(t)
	if exists, err := nft.Exists("cut"); err != nil || !exists {
		t.Fatalf("the partition stands: %v, %v", exists, err)
	}
	_, err = next.Set(links(delayed(30, far)...))
	must(t, err)
	f := startFlow(t)
	for i := range 5 {
		time.Sleep(40 * time.Millisecond)
		must(t, nft.Heal("cut"))
		must(t, nft.Cut(fmt.Sprint("cut", i), []netip.Addr{netip.MustParseAddr(elsewhere)}))
		must(t, nft.Heal(fmt.Sprint("cut", i)))
	}
	if sent, came := f.end(t); came != sent {
		t.Errorf("%d of %d packets came", came, sent)
	}
}
