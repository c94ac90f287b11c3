package outage

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/wire"
)

func TestLogKnowsWhenEachNodeWroteLast(t *testing.T) {
	now := at(0)
	l := NewLog(func() time.Time { return now }, nil)
	for _, e := range []event{{1, "a"}, {2, "a"}, {3, ""}, {4, "b"}, {5, "!"}} {
		now = at(e.ms)
		if e.node == "!" {
			l.Failed()
		} else {
			l.Acknowledged(e.node)
		}
	}
	if diff := cmp.Diff(map[string]time.Time{"a": at(2), "b": at(4)}, l.Writers()); diff != "" {
		t.Errorf("writers (-want +got):\n%s", diff)
	}
	if n := l.Unnamed(); n != 1 {
		t.Errorf("%d writes without a node, want 1", n)
	}
}

// TestNodesThatWriteSideBySideDoNotTakeOverFromEachOther: that another one acknowledges next is no gap, a failed write between is.
func TestNodesThatWriteSideBySideDoNotTakeOverFromEachOther(t *testing.T) {
	for several, want := range map[bool]int{false: 3, true: 1} {
		now := at(0)
		l := NewLog(func() time.Time { return now }, nil)
		if several {
			l.SideBySide()
		}
		for _, e := range []event{{1, "a"}, {2, "b"}, {3, "!"}, {4, "a"}, {5, "b"}} {
			if now = at(e.ms); e.node == "!" {
				l.Failed()
			} else {
				l.Acknowledged(e.node)
			}
		}
		gaps := l.Gaps()
		if len(gaps) != want || several && (gaps[0].Moved() || gaps[0].Errors != 1) || len(l.Writers()) != 2 {
			t.Errorf("several writers: %v; gaps %+v, want %d, writers %v", several, gaps, want, l.Writers())
		}
	}
}

func TestLogWatchesForSilenceUntilItIsToldToStop(t *testing.T) {
	base := time.Now()
	l := NewLog(func() time.Time { return base.Add(time.Since(base)) }, nil)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { l.Watch(ctx, time.Millisecond); close(ended) }()
	for len(l.Gaps()) == 0 {
		l.Acknowledged("a")
		time.Sleep(2 * time.Millisecond) // a silence of more than the stall
	}
	stop()
	<-ended
	found := len(l.Gaps())
	for range 5 {
		l.Acknowledged("a")
		time.Sleep(2 * time.Millisecond) // again a silence of more than the stall, and nobody watches
	}
	if n := len(l.Gaps()); n != found {
		t.Errorf("%d gaps when it stopped to watch, then %d", found, n)
	}
}

func TestLogNeverReportsANegativeGap(t *testing.T) {
	base := time.Now()
	l := NewLog(func() time.Time { return base.Add(time.Since(base)) }, nil)
	done := make(chan struct{})
	for _, node := range []string{"a", "b"} {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 2000 {
				l.Acknowledged(node)
				l.Failed()
			}
		}()
	}
	<-done
	<-done
	found := l.Gaps()
	if len(found) != wire.MaxGaps {
		t.Fatalf("%d gaps, want %d", len(found), wire.MaxGaps)
	}
	for _, gap := range found {
		if gap.DurationMicroseconds != nil && *gap.DurationMicroseconds < 0 {
			t.Errorf("a gap of %d µs", *gap.DurationMicroseconds)
		}
	}
}

// TestARestIsNoGap: the first write after it, and the last before it, may be acknowledged before the probe is awake.
func TestARestIsNoGap(t *testing.T) {
	for name, c := range map[string]struct {
		acknowledged []int64
		want         []int64 // lengths of gaps
	}{
		"right after it":           {[]int64{10, 5021}, nil},
		"in it, a little early":    {[]int64{10, 5019, 5030}, nil},
		"late, of the load before": {[]int64{10, 40, 5030}, nil},
		"a silence after it":       {[]int64{10, 7020}, []int64{2000}},
	} {
		now := at(0)
		l := NewLog(func() time.Time { return now }, nil)
		l.watch(time.Second)
		for i, ms := range c.acknowledged {
			now = at(ms)
			l.Acknowledged("a")
			if i == 0 {
				now = at(25)
				l.Rest(at(20), at(5020))
			}
		}
		var got []int64
		for _, g := range l.Gaps() {
			got = append(got, *g.DurationMicroseconds/1000)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: gaps of %d ms, want %d", name, got, c.want)
		}
	}
}
