package figures

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/recorder/pauses"
	"replab.dev/internal/wire"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// clock of a process that does not run between two moments: what came then it sees at the second.
type clock struct {
	time.Time
	pauses         *pauses.Log
	from, to, beat time.Duration
}

func (c *clock) now() time.Time { return c.Time }

func (c *clock) set(sinceStart time.Duration) {
	if sinceStart > c.from && sinceStart < c.to {
		sinceStart = c.to
	}
	for ; c.beat <= sinceStart; c.beat += 10 * time.Millisecond {
		if c.beat <= c.from || c.beat >= c.to {
			c.pauses.Ran(start.Add(c.beat))
		}
	}
	c.Time = start.Add(sinceStart)
}

var stages = []wire.Stage{
	{Name: "warmup", DurationSeconds: 5, Discard: true}, {Name: "steady", DurationSeconds: 20}, {Name: "open", DurationSeconds: 10},
}

func newRecorder() (*Recorder, *clock) {
	c := &clock{Time: start}
	r := New(stages, c.now)
	r.Start(start)
	return r, c
}

// request lets one request arrive and end.
func request(r *Recorder, c *clock, stage string, op Operation, at, took time.Duration, ok bool) {
	c.set(at)
	call := r.Begin(stage, op)
	c.set(at + took)
	call.End(ok, 0)
}

func TestAPercentileOfSeveralStagesIsThatOfAllTheirRequests(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r, c := newRecorder()
	succeeded, failed := newLatencies(), newLatencies()
	var failures int64
	for i := range 30_000 {
		stage := stages[i%3].Name
		// The stages differ by far, so that an average of their percentiles is nowhere near.
		took := time.Duration(random.ExpFloat64()*float64(1+99*(i%3))*1000) * time.Microsecond
		request(r, c, stage, Operation(i%int(operations)), 0, took, i%7 != 0)
		switch {
		case stage == "warmup":
		case i%7 != 0:
			succeeded.record(took, 0)
		default:
			failed.record(took, 0)
			failures++
		}
	}
	total := r.Total()
	if diff := cmp.Diff(succeeded.result(unseen{slower: failures}), total.Latency); diff != "" {
		t.Errorf("latency of all that count (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(failed.result(unseen{}), total.FailedLatency); diff != "" {
		t.Errorf("latency of all that count and failed (-want +got):\n%s", diff)
	}
	each := r.Stages()
	if want := each[1].Requests + each[2].Requests; total.Requests != want || want != 20_000 {
		t.Errorf("total of %d requests, the stages that count have %d", total.Requests, want)
	}
	if want := each[1].Failures + each[2].Failures; total.Failures != want {
		t.Errorf("total of %d failures, the stages that count have %d", total.Failures, want)
	}
	var byOperation int64
	for _, o := range total.Operations {
		byOperation += o.Requests
	}
	if byOperation != total.Requests {
		t.Errorf("the operations have %d requests, all have %d", byOperation, total.Requests)
	}
}

func TestPercentilesAreWithinTheHistogramsDigitsOfTheExactOnes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	l := newLatencies()
	var values []int64
	var sum int64
	for range 10_001 {
		us := 1 + int64(random.ExpFloat64()*50_000)
		values = append(values, us)
		sum += us
		l.record(time.Duration(us)*time.Microsecond, 0)
	}
	slices.Sort(values)
	got := l.result(unseen{})
	for _, c := range []struct {
		name string
		got  int64
		rank int
	}{
		{"p50", got.P50Microseconds, 5000},
		{"p95", got.P95Microseconds, 9500},
		{"p99", got.P99Microseconds, 9900},
		{"max", got.MaxMicroseconds, 10_000},
	} {
		want := values[c.rank]
		if off := c.got - want; off < -want/1000-1 || off > want/1000+1 {
			t.Errorf("%s is %d µs, exactly it is %d", c.name, c.got, want)
		}
	}
	if want := (sum + 5000) / 10_001; got.MeanMicroseconds != want {
		t.Errorf("mean %d µs, want %d", got.MeanMicroseconds, want)
	}
}

func TestLatencies(t *testing.T) {
	for name, c := range map[string]struct {
		took, late time.Duration
		want       int64
	}{
		"nothing is counted as less than a microsecond": {took: 10 * time.Nanosecond, want: 1},
		"being sent late is part of the latency":        {took: 2 * time.Millisecond, late: time.Second, want: 1_002_000},
		"what takes longer than five minutes counts as five minutes": {
			took: time.Minute, late: MaxLatency, want: MaxLatency.Microseconds(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, clock := newRecorder()
			call := r.Begin("steady", Login)
			clock.set(c.took)
			call.End(true, c.late)
			if got := r.Total().Latency.MeanMicroseconds; got != c.want {
				t.Errorf("latency %d µs, want %d", got, c.want)
			}
		})
	}
}

func TestARequestThatNamesNoStageBelongsToTheOneThatIsPlannedThen(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		at     time.Duration
		want   int
	}{
		"at the load's start":                {"", 0, 0},
		"just before the first stage's end":  {"", 5*time.Second - 1, 0},
		"when the next stage begins":         {"", 5 * time.Second, 1},
		"in the last stage":                  {"", 26 * time.Second, 2},
		"after the end of all":               {"", time.Hour, 2},
		"under a name that is no stage's":    {"nonsense", 7 * time.Second, 1},
		"a stage's name outweighs the clock": {"warmup", 7 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, clock := newRecorder()
			request(r, clock, c.header, Search, c.at, time.Millisecond, true)
			for i, s := range r.Stages() {
				if got := s.Requests == 1; got != (i == c.want) {
					t.Errorf("stage %s has %d requests, want the one in %s", s.Name, s.Requests, stages[c.want].Name)
				}
				if unnamed := s.Unnamed == 1; unnamed != (i == c.want && c.header != "warmup") {
					t.Errorf("stage %s has %d requests that named none", s.Name, s.Unnamed)
				}
			}
		})
	}
}

func TestARestartedRecorderKnowsWhichStageIsPlanned(t *testing.T) {
	c := &clock{Time: start.Add(6 * time.Second)}
	r := New(stages, c.now)
	r.Start(start)
	request(r, c, "", Search, 6*time.Second, time.Millisecond, true)
	if got := r.Stages(); got[1].Requests != 1 {
		t.Errorf("stages %+v, want the request in the second", got)
	}
}

func TestAStageWithoutARequestHasNoFiguresButZeroRequests(t *testing.T) {
	r, c := newRecorder()
	request(r, c, "steady", Search, time.Second, time.Millisecond, true)
	want := wire.StageResult{Name: "open"}
	if diff := cmp.Diff(want, r.Stages()[2]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestActivity(t *testing.T) {
	r, c := newRecorder()
	expect := func(when string, stage string, active bool) {
		t.Helper()
		if gotStage, gotActive := r.Activity(); gotActive != active || active && gotStage != stage {
			t.Errorf("%s: stage %q, active %v", when, gotStage, gotActive)
		}
	}
	expect("before the first request", "", false)
	request(r, c, "warmup", Profile, 0, time.Millisecond, true)
	expect("after a request", "warmup", true)
	expect("with nothing since", "", false)
	call := r.Begin("open", Login)
	expect("while a request is in flight", "open", true)
	expect("while it is still in flight", "open", true)
	call.End(false, 0)
	expect("after it ended", "open", true)
	expect("and then", "", false)
}
