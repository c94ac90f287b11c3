package outage

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(ms int64) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

func micro(ms int64) *metav1.MicroTime { return new(metav1.NewMicroTime(at(ms))) }

// event is a write that ended: acknowledged by a node, or failed when node is "!". When it is "." the process only runs.
type event struct {
	ms   int64
	node string
}

func (g *gaps) take(e event) {
	switch e.node {
	case "!":
		g.failed(at(e.ms))
	case ".":
		g.pauses.Ran(at(e.ms))
	default:
		g.acknowledged(e.node, at(e.ms))
	}
}

func TestGaps(t *testing.T) {
	for name, c := range map[string]struct {
		events []event
		want   []wire.Gap
	}{
		"no write, no gap": {},
		"acknowledgements of one node far apart are no gap while silence may be no load": {
			events: []event{{0, "a"}, {9000, "a"}},
		},
		"an error between two acknowledgements of one node is a gap": {
			events: []event{{0, "a"}, {20, "a"}, {40, "!"}, {45, "!"}, {100, "a"}, {120, "a"}},
			want: []wire.Gap{{
				LastNode: "a", LastAcknowledgedAt: *micro(20), FirstErrorAt: micro(40), Errors: 2,
				NextNode: "a", NextAcknowledgedAt: micro(100), DurationMicroseconds: new(int64(80_000)),
			}},
		},
		"another node that acknowledges is a gap without any error": {
			events: []event{{0, "a"}, {700, "b"}, {720, "b"}},
			want: []wire.Gap{{
				LastNode: "a", LastAcknowledgedAt: *micro(0),
				NextNode: "b", NextAcknowledgedAt: micro(700), DurationMicroseconds: new(int64(700_000)),
			}},
		},
		"errors before the first acknowledgement belong to no gap": {
			events: []event{{0, "!"}, {10, "a"}, {20, "a"}},
		},
		"a gap that did not end has no end": {
			events: []event{{0, "a"}, {10, "!"}, {20, "!"}},
			want:   []wire.Gap{{LastNode: "a", LastAcknowledgedAt: *micro(0), FirstErrorAt: micro(10), Errors: 2}},
		},
		"an error that comes late belongs to the gap in which it came": {
			events: []event{{0, "a"}, {10, "!"}, {500, "b"}, {501, "!"}, {520, "b"}},
			want: []wire.Gap{
				{
					LastNode: "a", LastAcknowledgedAt: *micro(0), FirstErrorAt: micro(10), Errors: 1,
					NextNode: "b", NextAcknowledgedAt: micro(500), DurationMicroseconds: new(int64(500_000)),
				},
				{
					LastNode: "b", LastAcknowledgedAt: *micro(500), FirstErrorAt: micro(501), Errors: 1,
					NextNode: "b", NextAcknowledgedAt: micro(520), DurationMicroseconds: new(int64(20_000)),
				},
			},
		},
		"an acknowledgement without a node's name is of the node before": {
			events: []event{{0, ""}, {5, "a"}, {10, ""}, {15, "a"}, {20, "!"}, {30, ""}},
			want: []wire.Gap{{
				LastNode: "a", LastAcknowledgedAt: *micro(15), FirstErrorAt: micro(20), Errors: 1,
				NextNode: "a", NextAcknowledgedAt: micro(30), DurationMicroseconds: new(int64(15_000)),
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var g gaps
			for _, e := range c.events {
				g.take(e)
			}
			got := g.result(at(1_000_000))
			if len(got) != len(c.want) || len(got) > 0 && !cmp.Equal(got, c.want) {
				t.Errorf("gaps (-want +got):\n%s", cmp.Diff(c.want, got))
			}
		})
	}
}

func TestAFailoverIsKeptAmongManyLongerGaps(t *testing.T) {
	var g gaps
	now := int64(1)
	g.acknowledged("a", at(0))
	g.acknowledged("b", at(now))
	for range 1000 {
		g.failed(at(now))
		now += 50
		g.acknowledged("b", at(now))
	}
	got := g.result(at(1_000_000))
	if len(got) != wire.MaxGaps || !got[0].Moved() || got[0].NextNode != "b" {
		t.Errorf("%d gaps, the first is %+v, want the one from a to b", len(got), got[0])
	}
}

func TestGapsKeepTheLongestInOrderOfTimeAndTheOpenOne(t *testing.T) {
	var g gaps
	g.acknowledged("a", at(0))
	var now int64
	for i := range int64(1000) { // of 1 ms each, but every 100th: 50 ms
		g.failed(at(now))
		now++
		if i%100 == 99 {
			now += 49
		}
		g.acknowledged("a", at(now))
	}
	g.failed(at(now + 5))

	got := g.result(at(1_000_000))
	if len(got) != wire.MaxGaps {
		t.Fatalf("%d gaps, want %d", len(got), wire.MaxGaps)
	}
	long := 0
	for i, gap := range got {
		if i > 0 && gap.LastAcknowledgedAt.Before(&got[i-1].LastAcknowledgedAt) {
			t.Errorf("gap %d lies before gap %d", i, i-1)
		}
		if gap.DurationMicroseconds != nil && *gap.DurationMicroseconds == 50_000 {
			long++
		}
	}
	if long != 10 {
		t.Errorf("%d of the 10 long gaps were kept", long)
	}
	if last := got[len(got)-1]; last.NextAcknowledgedAt != nil || last.Errors != 1 {
		t.Errorf("the open gap is %+v", last)
	}
}
