package agent

import (
	"errors"
	"testing"
	"time"
)

func TestLease(t *testing.T) {
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	const ttl = time.Second
	renew := func(ms int) func(*testing.T, *lease) {
		return func(t *testing.T, l *lease) {
			if err := l.renew(at(ms), ttl); err != nil {
				t.Fatalf("at %d ms: %v", ms, err)
			}
		}
	}
	refused := func(ms int) func(*testing.T, *lease) {
		return func(t *testing.T, l *lease) {
			if err := l.renew(at(ms), ttl); !errors.Is(err, errFencing) {
				t.Fatalf("at %d ms: renewal gives %v, want a refusal", ms, err)
			}
		}
	}
	void := func(ms int) func(*testing.T, *lease) { return func(_ *testing.T, l *lease) { l.void(at(ms)) } }
	fenced := func(ms int) func(*testing.T, *lease) { return func(_ *testing.T, l *lease) { l.fenced(at(ms)) } }
	writable := func(ms int) func(*testing.T, *lease) {
		return func(_ *testing.T, l *lease) { l.seenWritable(at(ms)) }
	}
	type steps []func(*testing.T, *lease)
	for _, c := range []struct {
		name       string
		begin      lease
		steps      steps
		at         int
		held, must bool
	}{
		{"a node that never had a lease is left alone", lease{}, steps{writable(1)}, 5000, false, false},
		{"a lease stands before its last tenth", lease{}, steps{renew(0)}, 899, true, false},
		{"in its last tenth the server must be fenced", lease{}, steps{renew(0)}, 900, false, true},
		{"a renewal counts from its own time", lease{}, steps{renew(0), renew(800)}, 1699, true, false},
		{"the next lease is refused until the server is fenced", lease{}, steps{renew(0), refused(1001)}, 1001, false, true},
		{"the next lease is given after that", lease{}, steps{renew(0), fenced(1100), renew(1200)}, 1300, true, false},
		{"a fenced server needs no more", lease{}, steps{renew(0), fenced(1100)}, 9000, false, false},
		{"a void lease must be fenced at once", lease{}, steps{renew(0), void(10)}, 10, false, true},
		{"a server opened without a lease after one is fenced", lease{}, steps{renew(0), fenced(1100), writable(1200)}, 1200, false, true},
		{"an answer older than the fencing is no reason to fence again", lease{}, steps{renew(0), fenced(1100), writable(1050)}, 1200, false, false},
		{"a writable server with a lease is left alone", lease{}, steps{renew(0), writable(500)}, 899, true, false},
		{"after a restart the holder has one ttl", resumed(start, ttl), nil, 999, false, false},
		{"after a restart a writable server is fenced when it has not come", resumed(start, ttl), steps{writable(100)}, 1000, false, true},
		{"after a restart the holder may renew", resumed(start, ttl), steps{renew(900)}, 1500, true, false},
		{"after a restart of a node that never had a lease nothing happens", resumed(start, 0), steps{writable(100)}, 9000, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := c.begin
			for _, step := range c.steps {
				step(t, &l)
			}
			if held, must := l.held(at(c.at)), l.mustFence(at(c.at)); held != c.held || must != c.must {
				t.Errorf("at %d ms: held %v, must be fenced %v; want %v, %v", c.at, held, must, c.held, c.must)
			}
		})
	}
}
