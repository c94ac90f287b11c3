package link

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mdlayher/netlink"

	"replab.dev/internal/wire"
	"replab.dev/test/netns"
)

// TestNetemDelaysOrSaysWhyNot: a kernel without it must be left as it was.
func TestNetemDelaysOrSaysWhyNot(t *testing.T) {
	netns.Need(t)
	lo, err := net.InterfaceByName("lo")
	must(t, err)
	tc, err := openTraffic()
	must(t, err)
	n := &netem{tc: tc, conn: tc.conn, devices: []int{lo.Index}}
	refused := n.set([]lane{{delay: 30 * time.Millisecond, addresses: []netip.Addr{netip.MustParseAddr(far)}}})
	if d := trip(t, 3); refused == nil && d < 30*time.Millisecond || refused != nil && d > 20*time.Millisecond {
		t.Errorf("the round trip is %s; netem says %v", d, refused)
	}
	if refused != nil && !strings.Contains(refused.Error(), "the kernel's ") {
		t.Errorf("it does not say what is missing: %v", refused)
	}
	var s wire.LinksState
	must(t, n.report(&s))
	if refused == nil && *s.Packets == 0 || *s.Dropped != 0 || s.Late != nil || s.Failed != "" {
		t.Errorf("counted: %+v", s)
	}
	must(t, n.close())
	if d := trip(t, 3); d > 20*time.Millisecond {
		t.Errorf("after its end the round trip is %s", d)
	}
}

func TestAManagerDelaysWithoutNetemToo(t *testing.T) {
	m := newManager(t)
	m.newNetem = func() (delayer, error) {
		tc, err := openTraffic()
		must(t, err)
		return &netem{tc: tc, conn: tc.conn, devices: []int{1 << 20}}, nil // which there is not
	}
	s, err := m.Set(links(wire.Peer{Address: far, DelayMicroseconds: 20_000}))
	must(t, err)
	if s.Method != wire.LinkPacketQueue {
		t.Errorf("state: %+v", s)
	}
	if d := trip(t, 3); d < 20*time.Millisecond {
		t.Errorf("the round trip is %s", d)
	}
}

func TestMoreDelaysThanNetemHasClasses(t *testing.T) {
	lanes := make([]lane, netemLanesMost+1)
	if err := (&netem{}).set(lanes); err == nil || !strings.Contains(err.Error(), "15 different delays, not 16") {
		t.Errorf("error is %v", err)
	}
}

// TestTrafficControlsMessages are as the kernel's headers have them, on a machine whose smallest byte comes first.
func TestTrafficControlsMessages(t *testing.T) {
	if got, want := header(2, class(3), rootHandle), []byte{0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}; !cmp.Equal(got, want) {
		t.Errorf("header %v, want %v", got, want)
	}
	options, err := netemOptions(43500*time.Microsecond, 65535)
	must(t, err)
	want := append(append([]byte{0, 0, 0, 0, 0xff, 0xff, 0, 0}, make([]byte, 16)...), 12, 0, 10, 0, 0xe0, 0xc1, 0x97, 0x02, 0, 0, 0, 0)
	if !cmp.Equal(options, want) {
		t.Errorf("options %v, want %v", options, want)
	}
}

func TestCountersOf(t *testing.T) {
	discipline := func(kind string) []byte {
		stats, err := netlink.MarshalAttributes([]netlink.Attribute{
			{Type: tcaStatsBasic, Data: []byte{0, 1, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0}},
			{Type: tcaStatsQueue, Data: []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0}},
		})
		must(t, err)
		b, err := netlink.MarshalAttributes([]netlink.Attribute{{Type: tcaKind, Data: append([]byte(kind), 0)}, {Type: tcaStats2, Data: stats}})
		must(t, err)
		return b
	}
	for kind, want := range map[string]passed{"netem": {7, 3}, "prio": {}} {
		got, err := countersOf(discipline(kind))
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", kind, got, err, want)
		}
	}
}

// kernelWithNetem plays a kernel that has one: what the classes of a device have counted goes with them.
type kernelWithNetem struct {
	counted map[int]passed
	deaf    error // to questions
	stuck   error // of removals
}

func (k *kernelWithNetem) delay(device int, _ []time.Duration) error {
	k.counted[device] = passed{}
	return nil
}

func (k *kernelWithNetem) undelay(device int) error {
	if k.stuck == nil {
		delete(k.counted, device)
	}
	return k.stuck
}

func (k *kernelWithNetem) counters(device int) (passed, error) { return k.counted[device], k.deaf }

// Close implements io.Closer.
func (*kernelWithNetem) Close() error { return nil }

// TestWhatNetemHasCountedOutlastsItsClasses, of which there are others when the delays change: packets that were dropped stay dropped.
func TestWhatNetemHasCountedOutlastsItsClasses(t *testing.T) {
	netns.Need(t)
	k := &kernelWithNetem{counted: map[int]passed{1: {packets: 99, dropped: 99}}} // by an earlier process: whatever stood then is no matter
	n := &netem{tc: k, conn: k, devices: []int{1, 2}}
	counted := func(when string, packets, dropped int64) {
		t.Helper()
		var s wire.LinksState
		must(t, n.report(&s))
		if s.Packets == nil || *s.Packets != packets || *s.Dropped != dropped || s.Failed != "" {
			t.Errorf("%s: %+v, want %d packets, of which %d dropped", when, s, packets, dropped)
		}
	}
	to := func(delays ...time.Duration) []lane {
		var lanes []lane
		for _, d := range delays {
			lanes = append(lanes, lane{delay: d, addresses: []netip.Addr{netip.MustParseAddr(far)}})
		}
		return lanes
	}
	must(t, n.set(to(time.Millisecond)))
	counted("in the beginning", 0, 0)
	k.counted[1], k.counted[2] = passed{10, 1}, passed{20, 2}
	counted("with one delay", 30, 3)
	must(t, n.set(to(2*time.Millisecond)))
	counted("with another one", 30, 3)
	k.counted[2] = passed{5, 4}
	must(t, n.set(nil))
	counted("with none", 35, 7)
	must(t, n.set(to(time.Millisecond)))
	k.counted[1] = passed{1, 1}
	k.stuck = errors.New("busy")
	if err := n.set(nil); !errors.Is(err, k.stuck) {
		t.Error(err)
	}
	counted("with classes that would not go", 36, 8)
	k.stuck = nil
	must(t, n.set(nil))
	counted("with classes that have gone at last", 36, 8)
}

func TestWhatNetemCouldNotBeAskedIsUnknown(t *testing.T) {
	netns.Need(t)
	k := &kernelWithNetem{counted: map[int]passed{}}
	n := &netem{tc: k, conn: k, devices: []int{1}}
	must(t, n.set([]lane{{delay: time.Millisecond, addresses: []netip.Addr{netip.MustParseAddr(far)}}}))
	k.deaf = errors.New("no buffer space")
	must(t, n.set(nil))
	k.deaf = nil
	var s wire.LinksState
	must(t, n.report(&s))
	if s.Packets != nil || s.Dropped != nil || !strings.Contains(s.Failed, "is not known: no buffer space") || len(k.counted) > 0 {
		t.Errorf("%+v; %d devices go on to delay", s, len(k.counted))
	}
}
