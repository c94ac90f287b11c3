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

// A k6 that was held up itself sends late what it had no reason to drop: that is lateness, and must be counted.
func TestLatenessOfK6ItselfIsCounted(t *testing.T) {
	t.Parallel()
	s := startTarget(t)
	stopped := make(chan struct{})
	s.delay = func(n int, _ *http.Request) {
		if n == 20 {
			close(stopped)
		}
	}
	r := start(t, s, Script(), load(open("only", 0, 4, 20, 40)))
	<-stopped
	const pause = time.Second
	signal(t, r, syscall.SIGSTOP)
	time.Sleep(pause) // how long it is held up is what is measured here
	signal(t, r, syscall.SIGCONT)
	summary, _ := r.succeed()
	if summary.DroppedIterations != 0 {
		t.Skipf("%d iterations were dropped: the machine is too busy to tell", summary.DroppedIterations)
	}
	late := lateness(t, s.seen())
	slices.Sort(late)
	t.Logf("late: median %d µs, maximum %d µs", late[len(late)/2], late[len(late)-1])
	if most := late[len(late)-1]; most < pause.Microseconds()/2 || most > 10*pause.Microseconds() {
		t.Fatalf("held up for %s, the latest request says %d µs", pause, most)
	}
	if median := late[len(late)/2]; median > pause.Microseconds()/4 {
		t.Fatalf("the median request says %d µs", median)
	}
}

func signal(t *testing.T, r *k6Run, s syscall.Signal) {
	t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}
