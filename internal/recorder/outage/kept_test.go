package outage

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/recorder/pauses"
	"replab.dev/internal/wire"
)

// logOf plays events to a log whose load begins at 0 and whose probe ends at the given time. A "." shows that the process runs;
// it begins to do so at 0.
func logOf(end int64, events ...event) *wire.Silences {
	now := at(0)
	p := &pauses.Log{}
	l := NewLog(func() time.Time { return now }, p)
	p.Begin(now)
	l.Begin(now)
	l.watch(time.Second)
	for _, e := range events {
		now = at(e.ms)
		switch e.node {
		case "!":
			l.Failed()
		case ".":
			p.Ran(now)
		case "rest": // of 50 ms from now on
			l.Rest(now, at(e.ms+50))
		default:
			l.Acknowledged(e.node)
		}
	}
	now = at(end)
	l.Stop()
	return l.Silences()
}

func TestSilencesThatAreKept(t *testing.T) {
	kept := func(end, length, paused int64) wire.Silence {
		return wire.Silence{EndMicroseconds: end * 1000, LengthMicroseconds: length * 1000, PausedMicroseconds: paused * 1000}
	}
	awake := func(from, to int64) (events []event) {
		for ms := from; ms <= to; ms += 10 {
			events = append(events, event{ms, "."})
		}
		return events
	}
	for name, c := range map[string]struct {
		events []event
		end    int64
		want   []wire.Silence
		last   *wire.Silence
	}{
		"the first begins with the load, failures or not": {
			events: append(awake(0, 70), event{75, "!"}, event{80, "a"}), end: 80, want: []wire.Silence{kept(80, 80, 0)},
		},
		"the longest of each tenth of a second": {
			events: []event{{5, "a"}, {15, "a"}, {18, "a"}, {105, "b"}, {115, "b"}}, end: 115,
			want: []wire.Silence{kept(15, 10, 0), {EndMicroseconds: 105_000, LengthMicroseconds: 87_000, PausedMicroseconds: 77_000}},
		},
		"the longest in which the process ran stands beside a longer one in which it did not": {
			events: append([]event{{5, "a"}, {65, "a"}}, append(awake(65, 95), event{99, "a"})...), end: 99,
			want: []wire.Silence{kept(65, 60, 50), kept(99, 34, 0)},
		},
		"one that was not over when the probe ended": {
			events: append([]event{{5, "a"}}, awake(15, 300)...), end: 305, want: []wire.Silence{kept(5, 5, 0)}, last: new(kept(305, 300, 0)),
		},
		"none while writes rest, and that before the rest ends with it": {
			events: append([]event{{5, "a"}, {15, "."}, {20, "rest"}}, append(awake(25, 65), event{75, "a"})...), end: 75,
			want: []wire.Silence{kept(20, 15, 0)},
		},
		"none at the end of a load that ends with a rest": {
			events: append([]event{{5, "a"}, {15, "."}, {20, "rest"}}, awake(25, 65)...), end: 70, want: []wire.Silence{kept(20, 15, 0)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := logOf(c.end, c.events...)
			if diff := cmp.Diff(c.want, got.Longest); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.last, got.Last); diff != "" {
				t.Errorf("the last (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSilencesOfALongLoadAreBounded has more buckets than are kept: the longest stays, whatever they are merged with.
func TestSilencesOfALongLoadAreBounded(t *testing.T) {
	var s silences
	s.begin(at(0))
	step := 10 * time.Millisecond
	from := at(0)
	for range 200_000 {
		to := from.Add(step)
		s.add(from, to, 0)
		from = to
	}
	s.add(from, from.Add(time.Second), 0)
	got := s.result()
	if len(s.buckets) > wire.MaxSilenceBuckets || got.BucketMicroseconds != 400_000 {
		t.Errorf("%d buckets of %d µs", len(s.buckets), got.BucketMicroseconds)
	}
	if last := got.Longest[len(got.Longest)-1]; last.LengthMicroseconds != 1_000_000 || last.EndMicroseconds != 2_001_000_000 {
		t.Errorf("the longest is %+v", last)
	}
	for _, l := range got.Longest[:len(got.Longest)-1] {
		if l.LengthMicroseconds != step.Microseconds() {
			t.Errorf("%+v was no silence", l)
		}
	}
}

func TestBeforeTheLoadThereIsNoSilence(t *testing.T) {
	l := NewLog(func() time.Time { return at(5) }, nil)
	l.Acknowledged("a")
	l.Stop()
	if s := l.Silences(); s != nil {
		t.Errorf("silences %+v", s)
	}
}
