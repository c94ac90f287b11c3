package lag

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/engine"
)

const ms = time.Millisecond

func writeAt(t *track, seq uint64, begun, acked time.Duration) {
	t.begin(pending{seq: seq, server: "primary", begun: begun})
	if acked != 0 {
		t.acknowledge(seq, acked)
	}
}

func saw(first, last uint64, start, end time.Duration) reading {
	return reading{first: first, last: last, start: start, end: end}
}

func span(first, last uint64) engine.Span { return engine.Span{First: first, Last: last} }

func missed(first, last uint64, start, end time.Duration, missing ...engine.Span) reading {
	return reading{first: first, last: last, missing: missing, start: start, end: end}
}

func TestTrack(t *testing.T) {
	type left struct{ Waiting, Left []uint64 }
	tests := map[string]struct {
		unordered bool
		steps     func(*track)
		want      []sample
		left      left
	}{
		"a wait begun before the write bounds it from its begin": {
			steps: func(k *track) {
				k.waiting = 1
				writeAt(k, 1, 10*ms, 12*ms)
				k.observe(saw(1, 1, 3*ms, 15*ms))
			},
			want: []sample{{lag: 3 * ms, resolution: 5 * ms}},
		},
		"a negative read raises the lower end to its start": {
			steps: func(k *track) {
				writeAt(k, 1, 10*ms, 12*ms)
				k.observe(missed(1, 1, 12*ms, 13*ms, span(1, 1)))
				k.observe(missed(1, 1, 14*ms, 16*ms, span(1, 1)))
				k.observe(saw(1, 1, 12*ms, 17*ms))
			},
			want: []sample{{lag: 5 * ms, resolution: 3 * ms}},
		},
		"a read that started earlier but ended later does not lower the lower end": {
			steps: func(k *track) {
				writeAt(k, 1, 10*ms, 12*ms)
				k.observe(missed(1, 1, 14*ms, 15*ms, span(1, 1)))
				k.observe(missed(1, 1, 13*ms, 16*ms, span(1, 1)))
				k.observe(saw(1, 1, 16*ms, 17*ms))
			},
			want: []sample{{lag: 5 * ms, resolution: 3 * ms}},
		},
		"seen before its acknowledgement the lag is negative": {
			steps: func(k *track) {
				k.waiting = 1
				writeAt(k, 1, 10*ms, 0)
				k.observe(saw(1, 1, 3*ms, 14*ms))
				k.observe(missed(1, 1, 15*ms, 16*ms, span(1, 1))) // comes too late to matter
				k.acknowledge(1, 20*ms)
			},
			want: []sample{{lag: -6 * ms, resolution: 4 * ms}},
		},
		"the first read after the begin already saw it: censored": {
			steps: func(k *track) {
				writeAt(k, 1, 10*ms, 12*ms)
				k.observe(saw(1, 1, 13*ms, 14*ms))
			},
			want: []sample{{lag: 2 * ms, resolution: 4 * ms, censored: true}},
		},
		"a read that ended before the write began covers nothing": {
			steps: func(k *track) {
				writeAt(k, 1, 10*ms, 12*ms)
				writeAt(k, 2, 20*ms, 22*ms)
				k.observe(missed(1, 1, 15*ms, 16*ms, span(1, 1))) // comes to be known late
				k.observe(saw(1, 2, 24*ms, 25*ms))
			},
			want: []sample{{lag: 13 * ms, resolution: 10 * ms}, {lag: 3 * ms, resolution: 5 * ms, censored: true}},
		},
		"a wait for a number that was discarded covers nothing": {
			steps: func(k *track) {
				k.waiting = 1
				writeAt(k, 1, 10*ms, 0)
				k.remove(1)
				writeAt(k, 2, 20*ms, 22*ms)
				k.observe(missed(1, 1, 9*ms, 23*ms, span(1, 1)))
				k.observe(saw(2, 2, 24*ms, 25*ms))
			},
			want: []sample{{lag: 3 * ms, resolution: 5 * ms, censored: true}},
		},
		"in commit order a missing write speaks for the later ones and a wait for it covers them": {
			steps: func(k *track) {
				writeAt(k, 1, 10*ms, 12*ms)
				k.waiting = 1
				writeAt(k, 2, 20*ms, 22*ms)
				k.observe(missed(1, 1, 30*ms, 31*ms, span(1, 1)))
				k.observe(saw(1, 2, 40*ms, 41*ms))
			},
			want: []sample{{lag: 29 * ms, resolution: 11 * ms}, {lag: 19 * ms, resolution: 11 * ms}},
		},
		"in commit order a visible write speaks for the earlier ones": {
			steps: func(k *track) {
				writeAt(k, 1, 10*ms, 12*ms)
				writeAt(k, 2, 20*ms, 22*ms)
				k.waiting = 3
				writeAt(k, 3, 30*ms, 32*ms)
				k.observe(saw(3, 3, 29*ms, 33*ms))
			},
			want: []sample{{lag: 21 * ms, resolution: 23 * ms, censored: true}, {lag: 11 * ms, resolution: 13 * ms, censored: true}, {lag: ms, resolution: 3 * ms}},
		},
		"without commit order a write speaks for itself alone": {
			unordered: true,
			steps: func(k *track) {
				writeAt(k, 1, 10*ms, 12*ms)
				k.waiting = 1
				writeAt(k, 2, 20*ms, 22*ms)
				k.observe(missed(1, 1, 30*ms, 31*ms, span(1, 1)))
				k.observe(saw(2, 2, 40*ms, 41*ms))
			},
			want: []sample{{lag: 19 * ms, resolution: 21 * ms, censored: true}},
			left: left{Waiting: []uint64{1}},
		},
		"a gap that was never committed is no evidence": {
			steps: func(k *track) {
				writeAt(k, 1, 10*ms, 12*ms)
				writeAt(k, 2, 15*ms, 0)
				k.remove(2)
				writeAt(k, 3, 20*ms, 22*ms)
				writeAt(k, 4, 25*ms, 27*ms)
				k.observe(missed(1, 4, 40*ms, 41*ms, span(2, 2), span(4, 4)))
			},
			want: []sample{{lag: 29 * ms, resolution: 31 * ms, censored: true}, {lag: 19 * ms, resolution: 21 * ms, censored: true}},
			left: left{Waiting: []uint64{4}},
		},
		"every write of a stall becomes a sample": {
			steps: func(k *track) {
				for seq := uint64(1); seq <= 4; seq++ {
					writeAt(k, seq, time.Duration(seq)*10*ms, time.Duration(seq)*10*ms+ms)
				}
				k.observe(missed(1, 4, 90*ms, 91*ms, span(1, 4)))
				k.observe(missed(1, 4, 100*ms, 101*ms, span(3, 4)))
				k.observe(saw(3, 4, 102*ms, 103*ms))
			},
			want: []sample{
				{lag: 90 * ms, resolution: 11 * ms},
				{lag: 80 * ms, resolution: 11 * ms},
				{lag: 72 * ms, resolution: 3 * ms},
				{lag: 62 * ms, resolution: 3 * ms},
			},
		},
		"what the new primary lacks is set apart, and completes should it appear after all": {
			steps: func(k *track) {
				for seq := uint64(1); seq <= 3; seq++ {
					writeAt(k, seq, time.Duration(seq)*10*ms, time.Duration(seq)*10*ms+ms)
				}
				k.leave(engine.Spans{{First: 2, Last: 3}})
				writeAt(k, 4, 50*ms, 51*ms)
				k.observe(saw(4, 4, 60*ms, 61*ms)) // speaks for 1, no longer for 2 and 3
				k.observeLeft(missed(2, 3, 70*ms, 71*ms, span(2, 3)))
				k.observeLeft(missed(2, 3, 80*ms, 81*ms, span(2, 2)))
			},
			want: []sample{
				{lag: 50 * ms, resolution: 51 * ms, censored: true},
				{lag: 10 * ms, resolution: 11 * ms, censored: true},
				{lag: 50 * ms, resolution: 11 * ms},
			},
			left: left{Left: []uint64{2}},
		},
		"a node drops the writes that it took itself once it tells who it is": {
			steps: func(k *track) {
				writeAt(k, 1, 10*ms, 12*ms)
				k.identify(engine.LagWatched{Identity: "primary", CommitOrder: true})
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []sample
			k := &track{ordered: !test.unordered, record: func(s sample) { got = append(got, s) }}
			test.steps(k)
			for i := range got { // TestSizesHaveTheirOwnFigures and TestLagsLessPauses have them
				got[i].total, got[i].acked = 0, 0
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(sample{})); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
			var rest left
			for _, p := range k.writes {
				rest.Waiting = append(rest.Waiting, p.seq)
			}
			for _, p := range k.left {
				rest.Left = append(rest.Left, p.seq)
			}
			if diff := cmp.Diff(test.left, rest); diff != "" {
				t.Errorf("outstanding (-want +got):\n%s", diff)
			}
		})
	}
}
