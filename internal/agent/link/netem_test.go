package link

import (
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
	n := &netem{tc: tc, devices: []int{lo.Index}}
	refused := n.set([]lane{{delay: 30 * time.Millisecond, addresses: []netip.Addr{netip.MustParseAddr(far)}}})
	if d := trip(t, 3); refused == nil && d < 30*time.Millisecond || refused != nil && d > 20*time.Millisecond {
		t.Errorf("the round trip is %s; netem says %v", d, refused)
	}
	if refused != nil && !strings.Contains(refused.Error(), "the kernel's ") {
		t.Errorf("it does not say what is missing: %v", refused)
	}
	var s wire.LinksState
	must(t, n.report(&s))
	if refused == nil && *s.Packets == 0 || *s.Dropped != 0 || s.Late != nil {
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
		return &netem{tc: tc, devices: []int{1 << 20}}, nil // which there is not
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
	for kind, want := range map[string][2]int64{"netem": {7, 3}, "prio": {0, 0}} {
		packets, dropped, err := countersOf(discipline(kind))
		if err != nil || packets != want[0] || dropped != want[1] {
			t.Errorf("%s: %d packets, %d dropped, %v; want %v", kind, packets, dropped, err, want)
		}
	}
}
