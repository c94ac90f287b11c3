package wire

import (
	"encoding/json"
	"testing"
	"time"
)

func TestAcknowledgementsAreKnownByWholeSteps(t *testing.T) {
	const ms = time.Millisecond
	start := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	written := NewAcknowledgements(start)
	for _, at := range []time.Duration{-5 * ms, 0, 250 * ms, 20_050 * ms, 100 * time.Hour} {
		written.Mark(start.Add(at))
	}
	text, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	var a *Acknowledgements
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		at, want time.Duration // want is below 0 for none
	}{
		"before the load":                 {-10_000 * ms, -1},
		"as the load begins":              {0, -1},
		"while the first step runs":       {99 * ms, -1},
		"when it has ended":               {100 * ms, 0},
		"before the next has ended":       {299 * ms, 0},
		"when the next has ended":         {300 * ms, 200 * ms},
		"long after it":                   {20_000 * ms, 200 * ms},
		"after the last":                  {time.Hour, 20_000 * ms},
		"after one that is not on record": {101 * time.Hour, 20_000 * ms},
	} {
		last, some := a.LastBefore(start.Add(c.at))
		if some != (c.want >= 0) || some && !last.Equal(start.Add(c.want)) {
			t.Errorf("%s: %v (%v), want %v after the start", name, last.Sub(start), some, c.want)
		}
	}
	if len(a.Marks) > 1000 {
		t.Errorf("%d bytes for 20 s", len(a.Marks))
	}
	a = nil
	if _, some := a.LastBefore(start.Add(time.Hour)); some {
		t.Error("no record tells of an acknowledgement")
	}
}
