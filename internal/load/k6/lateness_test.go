package k6

import (
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/wire"
)

// lateness returns HeaderLate of each request.
func lateness(t *testing.T, requests []request) (late []int64) {
	t.Helper()
	for _, r := range requests {
		n, err := strconv.ParseInt(r.header.Get(wire.HeaderLate), 10, 64)
		if err != nil || n < 0 {
			t.Fatalf("header is %q: it must be whole microseconds", r.header.Get(wire.HeaderLate))
		}
		late = append(late, n)
	}
	return late
}

// While the server is stalled every user waits and k6 drops what it should have begun. The requests after that begin at
// their own ticks: taking k6's iteration numbers for ticks would call every one of them late by the length of the stall.
func TestDroppedIterationsAreNotLateness(t *testing.T) {
	t.Parallel()
	const stall = 2 * time.Second
	s := startTarget(t)
	s.delay = func(n int, _ *http.Request) {
		if n >= 20 && n < 24 {
			time.Sleep(stall) // its length is what is tested
		}
	}
	summary, _ := start(t, s, Script(), load(open("only", 0, 5, 50, 4))).succeed()
	if summary.DroppedIterations < 20 || summary.Stages[0].DroppedIterations != summary.DroppedIterations {
		t.Fatalf("a stall of %s dropped only %+v", stall, summary)
	}
	late := lateness(t, s.seen())
	after := slices.Sorted(slices.Values(late[24:]))
	t.Logf("late after the stall: median %d µs, maximum %d µs", after[len(after)/2], after[len(after)-1])
	if median := after[len(after)/2]; median > stall.Microseconds()/4 {
		t.Fatalf("after the stall the median request counts as %d µs late", median)
	}
}

// A k6 that was held up itself sends late what it had no reason to drop: that is lateness, and must be counted. One that is held up in the
// midst of a request cannot tell it from drops, and tells less: that is not so in each of several runs.
func TestLatenessOfK6ItselfIsCounted(t *testing.T) {
	t.Parallel()
	const pause = time.Second
	var latest []int64
	for len(latest) < 4 {
		late := heldUp(t, pause)
		most, median := late[len(late)-1], late[len(late)/2]
		t.Logf("late: median %d µs, maximum %d µs", median, most)
		if most >= pause.Microseconds()/2 && most <= 10*pause.Microseconds() && median <= pause.Microseconds()/4 {
			return
		}
		latest = append(latest, most)
	}
	t.Errorf("held up for %s, the latest requests say %v µs", pause, latest)
}

// heldUp stops k6 for a while, and returns what its requests say that they are late, in their order.
func heldUp(t *testing.T, pause time.Duration) []int64 {
	t.Helper()
	s := startTarget(t)
	stopped := make(chan struct{})
	s.delay = func(n int, _ *http.Request) {
		if n == 20 {
			close(stopped)
		}
	}
	r := start(t, s, Script(), load(open("only", 0, 4, 20, 40)))
	<-stopped
	signal(t, r, syscall.SIGSTOP)
	time.Sleep(pause) // how long it is held up is what is measured here
	signal(t, r, syscall.SIGCONT)
	r.succeed()
	late := lateness(t, s.seen())
	slices.Sort(late)
	return late
}

func signal(t *testing.T, r *k6Run, s syscall.Signal) {
	t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}
