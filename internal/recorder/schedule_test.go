package recorder

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/wire"
)

// TestSchedule plays acknowledgements of the load to a probe of 20 ms that wakes when it was told to, and late ms later.
func TestSchedule(t *testing.T) {
	for name, c := range map[string]struct {
		acknowledged []int64 // ms, of the load
		late         int64
		want         []int64 // ms, of the attempts up to 100
		maxLate      int64
	}{
		"without a load it is an open loop":              {nil, 0, []int64{0, 20, 40, 60, 80, 100}, 0},
		"one that wakes late keeps to its plan":          {nil, 3, []int64{3, 23, 43, 63, 83}, 3},
		"one that was stalled makes up for what it owes": {nil, 45, []int64{45, 45, 45}, 45},
		"a load that is acknowledged within each interval costs the first attempt alone": {
			[]int64{1, 15, 30, 45, 60, 75, 90}, 0, []int64{0}, 0,
		},
		"when acknowledgements end it goes on, an interval later": {[]int64{1, 15, 30, 33}, 0, []int64{0, 53, 73, 93}, 0},
		"between acknowledgements far apart it fills up":          {[]int64{10, 60}, 0, []int64{0, 30, 50, 80, 100}, 0},
		"one that wakes late finds what came meanwhile":           {[]int64{10, 37, 56}, 9, []int64{9, 85}, 9},
	} {
		t.Run(name, func(t *testing.T) {
			base := time.Now()
			at := func(ms int64) time.Time { return base.Add(time.Duration(ms) * time.Millisecond) }
			var s schedule
			s.begin(20*time.Millisecond, at(0))
			var got []int64
			wake := c.late
			for wake <= 100 {
				if len(c.acknowledged) > 0 && c.acknowledged[0] <= wake {
					s.acknowledged(at(c.acknowledged[0]))
					c.acknowledged = c.acknowledged[1:]
					continue
				}
				if wait := s.attempt(at(wake)); wait > 0 {
					wake += wait.Milliseconds() + c.late
				} else {
					got = append(got, wake)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
			if late := s.late().Milliseconds(); late != c.maxLate {
				t.Errorf("late by %d ms, want %d", late, c.maxLate)
			}
		})
	}
}

// TestTheScheduleIsLateWhenNothingCameInTime: neither an attempt nor an acknowledgement.
func TestTheScheduleIsLateWhenNothingCameInTime(t *testing.T) {
	base := time.Now()
	var s schedule
	s.begin(20*time.Millisecond, base)
	s.attempt(base)
	s.acknowledged(base.Add(10 * time.Millisecond))
	s.acknowledged(base.Add(37 * time.Millisecond))
	s.acknowledged(base.Add(38 * time.Millisecond))
	if s.late() != 7*time.Millisecond {
		t.Errorf("late by %v, want 7ms", s.late())
	}
}

// TestOnlyAnAcknowledgedWritePutsAProbeOff asks the schedule after one request of the load.
func TestOnlyAnAcknowledgedWritePutsAProbeOff(t *testing.T) {
	for name, c := range map[string]struct {
		method, path string
		status       int
		puts         bool
	}{
		"a write that is acknowledged": {http.MethodPost, wire.SocialPathRegister, http.StatusCreated, true},
		"a write that failed":          {http.MethodPost, wire.SocialPathRegister, http.StatusServiceUnavailable, false},
		"a read":                       {http.MethodGet, wire.SocialPathSearch, http.StatusOK, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApp(t, answering(c.status))
			d, _ := newForwarder(t, a.Listener.Addr().String(), time.Minute)
			due := time.Now()
			d.probing.begin(time.Hour, due)
			ask(d, c.method, c.path, "{}")
			if put := d.probing.attempt(due) > 0; put != c.puts {
				t.Errorf("it put the probe off: %t, want %t", put, c.puts)
			}
		})
	}
}
