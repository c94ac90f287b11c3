package figures

import (
	"testing"
	"time"

	"replab.dev/internal/wire"
)

func TestRestIsPlannedAndHasNoFigures(t *testing.T) {
	c := &clock{Time: start}
	r := New([]wire.Stage{{Name: "steady", DurationSeconds: 5}, {Name: "idle", DurationSeconds: 10, Rest: true}, {Name: "more", DurationSeconds: 5}}, c.now)
	if r.Resting() {
		t.Error("it rests before the load")
	}
	r.Start(start)
	for at, want := range map[time.Duration]bool{0: false, 4999 * time.Millisecond: false, 5 * time.Second: true, 14999 * time.Millisecond: true, 15 * time.Second: false} {
		if c.set(at); r.Resting() != want {
			t.Errorf("at %v it rests: %v", at, !want)
		}
	}
	c.set(4 * time.Second)
	if live := r.Live()[1]; live.StartedAt != nil {
		t.Errorf("the rest began at %v before its time", live.StartedAt)
	}
	load(r, c, "steady", 0, 10*time.Millisecond, time.Millisecond, 500)
	load(r, c, "more", 15*time.Second, 10*time.Millisecond, time.Millisecond, 500)
	idle := r.Stages()[1]
	if idle.Requests != 0 || idle.Latency != nil || idle.DurationMicroseconds != 0 {
		t.Errorf("a rest has figures: %+v", idle)
	}
	if !idle.StartedAt.Time.Equal(start.Add(5*time.Second)) || !idle.EndedAt.Time.Equal(start.Add(15*time.Second)) || !r.Live()[1].StartedAt.Equal(idle.StartedAt) {
		t.Errorf("the rest is from %v to %v", idle.StartedAt, idle.EndedAt)
	}
	if total := r.Total(); total.DurationMicroseconds != 10_000_000 {
		t.Errorf("the load takes %d µs, want that without the rest", total.DurationMicroseconds)
	}
}
