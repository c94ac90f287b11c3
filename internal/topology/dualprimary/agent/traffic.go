package agent

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"time"

	"replab.dev/internal/agent/nft"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/wire"
)

// resolveInterval is the time between two looks for the other node's addresses. Its pod may come back with other ones.
const resolveInterval = time.Second

// counterName is that of the counters in the packet filter.
const counterName = "replication"

// traffic counts the bytes that this server sends the other one.
type traffic struct {
	peer wire.Node
	port uint16
}

// run has the packet filter count the packets to the other node until ctx ends. The counters stay, for the next agent in this pod.
func (t *traffic) run(ctx context.Context) {
	var known []netip.Addr
	said := ""
	watch.Every(ctx, resolveInterval, func() {
		found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", t.peer.Host)
		slices.SortFunc(found, netip.Addr.Compare)
		if err != nil || slices.Equal(found, known) { // a node without a pod has no address, and sends nothing
			return
		}
		if err := nft.Watch(counterName, t.port, found); err != nil {
			if err.Error() != said {
				said = err.Error()
				slog.Warn("the bytes of replication could not be counted", "error", err)
			}
			return
		}
		known = found
	})
}

// Traffic implements part.Counter.
func (m *Member) Traffic() []wire.PeerTraffic {
	if m.traffic == nil {
		return nil
	}
	sent, err := nft.Sent(counterName)
	if err != nil {
		return nil
	}
	return []wire.PeerTraffic{{Node: m.traffic.peer.Name, SentBytes: int64(sent)}}
}
