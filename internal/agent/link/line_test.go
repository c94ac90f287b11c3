package link

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/wire"
)

var t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// leaveAt hands on what is due, at once, and returns the number of the last of it.
func (l *line) leaveAt(now time.Time) (last uint32, some bool) {
	some, _ = l.letGo(func() time.Time { return now }, func(due []packet) error { last = due[len(due)-1].id; return nil })
	return last, some
}

func at(d time.Duration) time.Time { return t0.Add(d) }

func TestPacketsLeaveInTheirOrderAndNeverBeforeTheirTime(t *testing.T) {
	l := newLine(10 * time.Millisecond)
	if _, ok := l.next(); ok {
		t.Fatal("an empty line has a next")
	}
	for i := range 5 {
		l.join(uint32(i+1), at(time.Duration(i)*time.Millisecond))
	}
	if due, ok := l.next(); !ok || !due.Equal(at(10*time.Millisecond)) {
		t.Errorf("the first is due at %s, %v", due, ok)
	}
	for _, c := range []struct {
		at   time.Duration
		last uint32
		some bool
	}{
		{10*time.Millisecond - 1, 0, false},
		{10 * time.Millisecond, 1, true},
		{12 * time.Millisecond, 3, true},
		{12*time.Millisecond + 1, 0, false},
		{time.Second, 5, true},
		{2 * time.Second, 0, false},
	} {
		if last, some := l.leaveAt(at(c.at)); last != c.last || some != c.some {
			t.Errorf("after %s: up to %d (%v), want %d (%v)", c.at, last, some, c.last, c.some)
		}
	}
	if !l.empty() {
		t.Error("somebody still waits")
	}
}

func TestAPacketThatSeemsToHaveComeEarlierDoesNotOvertake(t *testing.T) {
	l := newLine(10 * time.Millisecond)
	l.join(1, at(5*time.Millisecond))
	l.join(2, at(0))
	if last, some := l.leaveAt(at(10 * time.Millisecond)); some {
		t.Errorf("%d left before the one before it", last)
	}
	if last, _ := l.leaveAt(at(15 * time.Millisecond)); last != 2 {
		t.Errorf("up to %d left, want both", last)
	}
}

func TestWhatIsLateOrMissingIsCounted(t *testing.T) {
	for _, c := range []struct {
		name   string
		delay  time.Duration
		ids    []uint32
		leave  time.Duration
		counts counts
	}{
		{"on time", 10 * time.Millisecond, []uint32{1, 2}, 10 * time.Millisecond, counts{came: 2}},
		{"a little late is not late", 10 * time.Millisecond, []uint32{1, 2}, 11 * time.Millisecond, counts{came: 2, latest: time.Millisecond}},
		{"more than 1 ms", 10 * time.Millisecond, []uint32{1, 2}, 11*time.Millisecond + 1, counts{came: 2, late: 2, latest: time.Millisecond + 1}},
		{"5% of a long delay", 100 * time.Millisecond, []uint32{1}, 105 * time.Millisecond, counts{came: 1, latest: 5 * time.Millisecond}},
		{"more than 5% of a long delay", 100 * time.Millisecond, []uint32{1}, 105*time.Millisecond + 1, counts{came: 1, late: 1, latest: 5*time.Millisecond + 1}},
		{"as long as a fault", 10 * time.Millisecond, []uint32{1, 2}, 110 * time.Millisecond, counts{came: 2, late: 2, heldUp: 2, latest: 100 * time.Millisecond}},
		{"nearly as long as one", 10 * time.Millisecond, []uint32{1}, 110*time.Millisecond - 1, counts{came: 1, late: 1, latest: 100*time.Millisecond - 1}},
		{"as long as a fault, and no more than 5% of a long delay", 3 * time.Second, []uint32{1}, 3100 * time.Millisecond, counts{came: 1, heldUp: 1, latest: 100 * time.Millisecond}},
		{"numbers that never came", time.Millisecond, []uint32{3, 4, 7}, time.Millisecond, counts{came: 3, missing: 4}},
	} {
		l := newLine(c.delay)
		for _, id := range c.ids {
			l.join(id, at(0))
		}
		l.leaveAt(at(c.leave))
		c.counts.over = time.Duration(len(c.ids)) * (c.leave - c.delay)
		if got := l.counts(); got != c.counts {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.counts)
		}
	}
	l := newLine(time.Millisecond)
	l.lastID = math.MaxUint32
	l.join(0, at(0))
	if got := l.counts(); got.missing != 0 {
		t.Errorf("numbers that begin again: %d are missing", got.missing)
	}
}

// TestWhatIsHandedOnLateIsLate though it was due in time: the kernel takes it, or the processor is away, in between.
func TestWhatIsHandedOnLateIsLate(t *testing.T) {
	l := newLine(10 * time.Millisecond)
	l.join(1, at(0))
	l.join(2, at(4*time.Millisecond))
	now := at(10 * time.Millisecond)
	some, err := l.letGo(func() time.Time { return now }, func(due []packet) error {
		if len(due) != 1 || due[0].id != 1 || l.empty() {
			t.Errorf("%v are handed on; none waits any more: %v", due, l.empty())
		}
		now = at(13 * time.Millisecond)
		return errors.New("refused")
	})
	if want := (counts{came: 2, late: 1, latest: 3 * time.Millisecond, over: 3 * time.Millisecond}); !some || err == nil || l.counts() != want {
		t.Errorf("%v, %v, %+v, want %+v", some, err, l.counts(), want)
	}
	if due, ok := l.next(); !ok || !due.Equal(at(14*time.Millisecond)) {
		t.Errorf("the next is due at %s, %v", due, ok)
	}
}

// TestEachDelayHasCountsOfItsOwn, also where its queue was closed and opened again.
func TestEachDelayHasCountsOfItsOwn(t *testing.T) {
	of := func(delay time.Duration, came int64, over time.Duration) *numbered {
		l := newLine(delay)
		l.came, l.over = came, over
		return &numbered{queue: &queue{line: l}}
	}
	q := &queues{
		open: map[time.Duration]*numbered{time.Second: of(time.Second, 3, time.Millisecond), time.Millisecond: of(time.Millisecond, 4, 0)},
		past: map[time.Duration]counts{time.Second: {came: 1, over: time.Microsecond}},
	}
	var told wire.LinkCounts
	q.counts(&told)
	want := wire.LinkCounts{Packets: 8, Delays: []wire.DelayCounts{{DelayMicroseconds: 1000, Packets: 4}, {DelayMicroseconds: 1_000_000, Packets: 4, LateMicroseconds: 1001}}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheLineForgetsWhoHasLeft(t *testing.T) {
	l := newLine(time.Millisecond)
	for i := range uint32(100_000) {
		l.join(i+1, at(time.Duration(i)*time.Microsecond))
		l.leaveAt(at(time.Duration(i) * time.Microsecond))
	}
	if n := cap(l.packets); n > 10_000 {
		t.Errorf("a line of about 1000 has room for %d", n)
	}
}

func TestArrival(t *testing.T) {
	now := time.Now()
	stamp := func(age time.Duration) time.Time { return now.Round(0).Add(-age) }
	for _, c := range []struct {
		name  string
		stamp time.Time
		want  time.Duration // before now
	}{
		{"without a stamp it is now", time.Time{}, 0},
		{"a stamp is a while ago", stamp(3 * time.Millisecond), 3 * time.Millisecond},
		{"one from the future is none", stamp(-time.Millisecond), 0},
		{"one from before the clock was set is none", stamp(time.Hour), 0},
	} {
		if got := now.Sub(arrival(c.stamp, now)); got != c.want {
			t.Errorf("%s: %s ago, want %s", c.name, got, c.want)
		}
	}
}
