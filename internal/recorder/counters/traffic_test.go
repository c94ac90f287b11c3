package counters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

func TestTraffic(t *testing.T) {
	sample := func(seconds float64, peers ...wire.PeerTraffic) wire.Resources {
		return wire.Resources{At: metav1.NewMicroTime(after(seconds)), Peers: peers}
	}
	peer := func(node string, sent int64) wire.PeerTraffic {
		return wire.PeerTraffic{Node: node, SentBytes: sent}
	}
	tr := NewTraffic([]string{"warmup", "steady"})
	for _, s := range []struct {
		node, stage string
		sample      wire.Resources
	}{
		{"b", "steady", sample(0, peer("a", 5))}, // a baseline
		{"b", "steady", sample(1, peer("a", 15))},
		{"b", "steady", sample(2)}, // not counted
		{"b", "steady", sample(4, peer("a", 45))},
		{"b", "", sample(5, peer("a", 100))},     // without load
		{"b", "steady", sample(6, peer("a", 7))}, // a new pod
		{"a", "steady", sample(0, peer("b", 0), peer("c", 1))},
		{"a", "warmup", sample(1, peer("b", 1), peer("c", 4))},
		{"a", "steady", sample(9, peer("b", 900), peer("c", 900))}, // most of it in the warm-up
	} {
		tr.Add(s.node, s.stage, s.sample)
	}
	want := []wire.NodeTraffic{
		{Node: "a", Peer: "b", Stage: "warmup", DurationMicroseconds: 1_000_000, SentBytes: 1},
		{Node: "a", Peer: "c", Stage: "warmup", DurationMicroseconds: 1_000_000, SentBytes: 3},
		{Node: "b", Peer: "a", Stage: "steady", DurationMicroseconds: 5_000_000, SentBytes: 47},
	}
	if diff := cmp.Diff(want, tr.Result()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := NewTraffic(nil).Result(); got != nil {
		t.Errorf("where nothing is counted there are %+v", got)
	}
}
