package figures

import (
	"testing"
	"time"

	"replab.dev/internal/wire"
)

// load lets n requests of a stage arrive at an interval from a moment on, each taking as long.
func load(r *Recorder, c *clock, stage string, from, interval, took time.Duration, n int) {
	var underWay []Call
	end := func(i int) {
		c.set(from + time.Duration(i)*interval + took)
		underWay[i].End(true, 0)
	}
	ended := 0
	for i := range n {
		for ; time.Duration(ended)*interval+took <= time.Duration(i)*interval; ended++ {
			end(ended)
		}
		c.set(from + time.Duration(i)*interval)
		underWay = append(underWay, r.Begin(stage, Profile))
	}
	for ; ended < n; ended++ {
		end(ended)
	}
}

// TestAStageEndsWithItsLastAnswer, whatever its window and the order of the answers.
func TestAStageEndsWithItsLastAnswer(t *testing.T) {
	r, c := newRecorder()
	long := r.Begin("warmup", Register)
	request(r, c, "warmup", Profile, time.Second, time.Second, true)
	request(r, c, "steady", Profile, 11*time.Second, time.Second, true)
	c.set(13 * time.Second)
	long.End(false, 0)
	for i, want := range []time.Duration{13 * time.Second, 12 * time.Second} {
		if got := r.Stages()[i].EndedAt; got == nil || !got.Time.Equal(start.Add(want)) {
			t.Errorf("%s ended at %s, want %s after the start", stages[i].Name, got, want)
		}
	}
	if got := r.Stages()[2].EndedAt; got != nil {
		t.Errorf("a stage without a request ended at %s", got)
	}
}

func TestThroughputIsOverTheWindow(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	for name, c := range map[string]struct {
		run func(*Recorder, *clock)
		// of the stage steady, which is planned for 20 s
		from, length                           time.Duration
		requests, answered, succeeded, unnamed int64
	}{
		"a stage that was cut by nothing is as long as planned": {
			run:  func(r *Recorder, c *clock) { load(r, c, "steady", 3*s, 10*ms, 30*ms, 2000) },
			from: 3 * s, length: 20 * s, requests: 2000, answered: 1998, succeeded: 1998,
		},
		"a straggler neither stretches the window nor counts in it": {
			run: func(r *Recorder, c *clock) {
				load(r, c, "steady", 3*s, 10*ms, 2*ms, 2000)
				request(r, c, "steady", Profile, 22*s, 30*s, true)
			},
			from: 3 * s, length: 20 * s, requests: 2001, answered: 2000, succeeded: 2000,
		},
		"an answer at the window's end is within it": {
			run: func(r *Recorder, c *clock) {
				request(r, c, "steady", Profile, 0, s, true)
				request(r, c, "steady", Profile, 19*s, s, true)
			},
			from: 0, length: 20 * s, requests: 2, answered: 2, succeeded: 2,
		},
		"a failed request is answered and did not succeed": {
			run: func(r *Recorder, c *clock) {
				request(r, c, "steady", Profile, 0, s, true)
				request(r, c, "steady", Profile, s, 19*s, false)
			},
			from: 0, length: 20 * s, requests: 2, answered: 2, succeeded: 1,
		},
		"an open loop of one request a second is no shorter for its silent last second": {
			run:  func(r *Recorder, c *clock) { load(r, c, "steady", 3*s, s, 5*ms, 20) },
			from: 3 * s, length: 20 * s, requests: 20, answered: 20, succeeded: 20,
		},
		"a load that was cut short is not divided by the whole plan": {
			run:  func(r *Recorder, c *clock) { load(r, c, "steady", 3*s, 10*ms, 2*ms, 800) },
			from: 3 * s, length: 8 * s, requests: 800, answered: 800, succeeded: 800,
		},
		"clients that waited for an answer until the end were under load until then": {
			run: func(r *Recorder, c *clock) {
				load(r, c, "steady", 0, 10*ms, 2*ms, 500)
				request(r, c, "steady", Profile, 5*s, 14*s, true)
			},
			from: 0, length: 19 * s, requests: 501, answered: 501, succeeded: 501,
		},
		"a single request makes no shorter window than was planned": {
			run:  func(r *Recorder, c *clock) { request(r, c, "steady", Profile, 3*s, 5*ms, true) },
			from: 3 * s, length: 20 * s, requests: 1, answered: 1, succeeded: 1,
		},
		"without stage names too the window ends as planned when another stage follows": {
			run:  func(r *Recorder, c *clock) { load(r, c, "", 5*s, 10*ms, 30*ms, 2000) },
			from: 5 * s, length: 20 * s, requests: 2000, answered: 1998, succeeded: 1998, unnamed: 2000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, clock := newRecorder()
			c.run(r, clock)
			expect(t, r.Stages()[1], c.from, c.length, c.requests, c.answered, c.succeeded, c.unnamed)
			expect(t, r.Total(), c.from, c.length, c.requests, c.answered, c.succeeded, c.unnamed)
		})
	}
}

func expect(t *testing.T, got wire.StageResult, from, length time.Duration, requests, answered, succeeded, unnamed int64) {
	t.Helper()
	if !got.StartedAt.Time.Equal(start.Add(from)) || got.DurationMicroseconds != length.Microseconds() {
		t.Errorf("%s: window from %v for %d µs, want %v for %d", got.Name, got.StartedAt, got.DurationMicroseconds, start.Add(from), length.Microseconds())
	}
	if got.Requests != requests || got.Answered != answered || got.Succeeded != succeeded || got.Unnamed != unnamed {
		t.Errorf("%s: %d requests, %d answered in time, %d with success, %d without a stage; want %d, %d, %d, %d",
			got.Name, got.Requests, got.Answered, got.Succeeded, got.Unnamed, requests, answered, succeeded, unnamed)
	}
}

func TestTheLastStageOfALoadThatNamesNoneEndsWithTheLoad(t *testing.T) {
	r, c := newRecorder()
	load(r, c, "", 26*time.Second, 10*time.Millisecond, 2*time.Millisecond, 3000) // planned until 35 s
	expect(t, r.Stages()[2], 26*time.Second, 30*time.Second, 3000, 3000, 3000, 3000)
}

func TestOneRequestWithoutAKnownEndMakesNoThroughput(t *testing.T) {
	r, c := newRecorder()
	request(r, c, "", Profile, 30*time.Second, time.Millisecond, true)
	if got := r.Stages()[2]; got.Requests != 1 || got.DurationMicroseconds != 0 || got.Answered != 0 {
		t.Errorf("stage %+v, want no window", got)
	}
}

func TestRequestsThatEndWhenNoMoreArriveAreCountedApart(t *testing.T) {
	r, c := newRecorder()
	load(r, c, "steady", 0, 10*time.Millisecond, 35*time.Millisecond, 100)
	if got := r.Stages()[1].Trailing; got != 4 {
		t.Errorf("%d requests ended after the last arrival, want the 4 that were under way then", got)
	}
}

func TestTheWindowsOfAllStagesThatCountMakeTheTotal(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	r, c := newRecorder()
	load(r, c, "warmup", 0, 10*ms, 2*ms, 500)
	load(r, c, "steady", 5*s, 10*ms, 2*ms, 2000)
	load(r, c, "open", 25*s, 5*ms, 2*ms, 2000)
	request(r, c, "open", Profile, 34*s, 20*s, true)
	expect(t, r.Total(), 5*s, 30*s, 4001, 4000, 4000, 0)
}
