package figures

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// drive lets requests arrive and end in some seconds, with an outage in the middle, and calls look after each.
func drive(look func(*Recorder)) *Recorder {
	r, c := newRecorder()
	for i := range 40 {
		at := time.Duration(i) * 170 * time.Millisecond
		if at > 3*time.Second && at < 5*time.Second {
			c.set(at)
			look(r)
			continue
		}
		request(r, c, "steady", Profile, at, time.Duration(1+i)*time.Millisecond, i%5 != 0)
		look(r)
	}
	c.set(8 * time.Second)
	return r
}

func TestWhoWatchesSeesTheSecondsOfTheTimelineAndChangesNone(t *testing.T) {
	want, _ := drive(func(*Recorder) {}).Timeline()
	r := drive(func(r *Recorder) {
		r.Live()
		for i, s := range r.Recent(3) {
			full := want[int(s.At.Sub(start)/time.Second)]
			if diff := cmp.Diff(full, s); diff != "" {
				t.Errorf("second %d of the last (-timeline +recent):\n%s", i, diff)
			}
		}
	})
	recent := r.Recent(60)
	if diff := cmp.Diff(want[:8], recent); diff != "" {
		t.Errorf("the last ones (-timeline +recent):\n%s", diff)
	}
	if got, _ := r.Timeline(); cmp.Diff(want, got) != "" {
		t.Errorf("the timeline of who is watched (-want +got):\n%s", cmp.Diff(want, got))
	}
}

func TestRecentSecondsAreOver(t *testing.T) {
	r, c := newRecorder()
	request(r, c, "steady", Profile, 100*time.Millisecond, time.Millisecond, true)
	if got := r.Recent(60); len(got) != 0 {
		t.Errorf("in the first second: %+v", got)
	}
	c.set(1100 * time.Millisecond) // nothing came since
	got := r.Recent(60)
	if len(got) != 1 || got[0].Requests != 1 || got[0].P99Microseconds == nil || *got[0].P99Microseconds != 1000 {
		t.Errorf("in the second one: %+v", got)
	}
	c.set(MaxSeconds*time.Second + 500*time.Millisecond)
	if got := r.Recent(60); len(got) != 60 {
		t.Errorf("while the last seconds of the timeline are the newest: %d", len(got))
	}
	c.set((MaxSeconds + 1) * time.Second)
	if got := r.Recent(60); len(got) != 0 {
		t.Errorf("after the timeline's end %d seconds of it are recent, the last of %v", len(got), got[len(got)-1].At)
	}
	if got := New(stages, c.now).Recent(60); got == nil || len(got) != 0 {
		t.Errorf("before the load: %v", got)
	}
}

func TestLiveStages(t *testing.T) {
	r, c := newRecorder()
	request(r, c, "warmup", Profile, 100*time.Millisecond, time.Millisecond, true)
	request(r, c, "steady", Register, 200*time.Millisecond, time.Millisecond, false)
	request(r, c, "steady", Profile, 300*time.Millisecond, time.Millisecond, true)
	all := r.Live()
	if len(all) != 3 || all[0].Requests != 1 || all[1].Requests != 2 || all[1].Failures != 1 || all[1].DurationSeconds != 20 || all[2].StartedAt != nil {
		t.Fatalf("%+v", all)
	}
	if at := all[1].StartedAt; at == nil || !at.Time.Equal(start.Add(200*time.Millisecond)) {
		t.Errorf("the second one began at %v", at)
	}
}
