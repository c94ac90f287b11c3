package outage

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/recorder/pauses"
	"replab.dev/internal/wire"
)

// A silence of 100 ms is a stall here, and the process shows every 10 ms that it runs, but in the pauses.
func TestSilences(t *testing.T) {
	type span struct{ from, to int64 }
	for name, c := range map[string]struct {
		events []event
		pauses []span
		want   []wire.Gap
	}{
		"silence shorter than a stall is no gap": {
			events: []event{{0, "a"}, {99, "a"}},
		},
		"silence as long as a stall is a gap without any error": {
			events: []event{{0, "a"}, {20, "a"}, {120, "a"}, {140, "a"}},
			want: []wire.Gap{{
				LastNode: "a", LastAcknowledgedAt: *micro(20), NextNode: "a", NextAcknowledgedAt: micro(120), DurationMicroseconds: new(int64(100_000)),
			}},
		},
		"silence before the first acknowledgement is no gap": {
			events: []event{{500, "a"}, {520, "a"}},
		},
		"silence while the process did not run is no gap": {
			events: []event{{0, "a"}, {505, "a"}}, pauses: []span{{20, 500}},
		},
		"nor is it when the pause ends with the acknowledgement": {
			events: []event{{0, "a"}, {500, "a"}, {520, "a"}}, pauses: []span{{20, 500}},
		},
		"nor is what failed in it": {
			events: []event{{0, "a"}, {501, "!"}, {510, "a"}}, pauses: []span{{20, 500}},
		},
		"several pauses add up": {
			events: []event{{0, "a"}, {505, "a"}}, pauses: []span{{20, 240}, {260, 480}},
		},
		"what is left beside a pause may be a stall": {
			events: []event{{0, "a"}, {300, "a"}}, pauses: []span{{20, 120}},
			want: []wire.Gap{{
				LastNode: "a", LastAcknowledgedAt: *micro(0), NextNode: "a", NextAcknowledgedAt: micro(300), DurationMicroseconds: new(int64(300_000)),
				PausedMicroseconds: 90_000,
			}},
		},
		"a pause before an acknowledgement is not of the gap after it": {
			events: []event{{0, "a"}, {105, "a"}, {205, "a"}}, pauses: []span{{0, 100}},
			want: []wire.Gap{{
				LastNode: "a", LastAcknowledgedAt: *micro(105), NextNode: "a", NextAcknowledgedAt: micro(205), DurationMicroseconds: new(int64(100_000)),
			}},
		},
		"a beat that is late by less than a beat is no pause": {
			events: []event{{0, "a"}, {100, "a"}}, pauses: []span{{20, 40}, {50, 70}},
			want: []wire.Gap{{
				LastNode: "a", LastAcknowledgedAt: *micro(0), NextNode: "a", NextAcknowledgedAt: micro(100), DurationMicroseconds: new(int64(100_000)),
			}},
		},
		"errors in a gap of which little was a pause stay one": {
			events: []event{{0, "a"}, {70, "!"}, {80, "a"}}, pauses: []span{{0, 40}},
			want: []wire.Gap{{
				LastNode: "a", LastAcknowledgedAt: *micro(0), FirstErrorAt: micro(70), Errors: 1,
				NextNode: "a", NextAcknowledgedAt: micro(80), DurationMicroseconds: new(int64(80_000)), PausedMicroseconds: 30_000,
			}},
		},
		"another node after a pause is a gap all the same, and tells of the pause": {
			events: []event{{0, "a"}, {500, "b"}}, pauses: []span{{0, 500}},
			want: []wire.Gap{{
				LastNode: "a", LastAcknowledgedAt: *micro(0), NextNode: "b", NextAcknowledgedAt: micro(500), DurationMicroseconds: new(int64(500_000)),
				PausedMicroseconds: 490_000,
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := gaps{stall: 100 * time.Millisecond, pauses: &pauses.Log{}}
			g.pauses.Begin(at(0))
			events := slices.Clone(c.events)
			for ms := int64(0); ms <= 600; ms += 10 {
				if !slices.ContainsFunc(c.pauses, func(p span) bool { return p.from < ms && ms < p.to }) {
					events = append(events, event{ms, "."})
				}
			}
			slices.SortStableFunc(events, func(a, b event) int { return int(a.ms - b.ms) })
			for _, e := range events {
				g.take(e)
			}
			got := g.result(at(1_000_000))
			if diff := cmp.Diff(c.want, got); len(got)+len(c.want) > 0 && diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
		})
	}
}
