package counters

import (
	"fmt"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

func TestStandbySpans(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	type sample struct {
		ms    int
		since int // when the settings were read
		nodes []string
	}
	one, two, both := []string{"b"}, []string{"c"}, []string{"b", "c"}
	for name, c := range map[string]struct {
		samples []sample
		want    string
	}{
		"the same all the time":       {[]sample{{0, 0, one}, {100, 0, one}, {200, 0, one}}, "[0-200 b]"},
		"another one":                 {[]sample{{0, 0, one}, {100, 0, one}, {200, 1, two}, {300, 1, two}}, "[0-200 b][100-300 c]"},
		"two of them":                 {[]sample{{0, 0, both}, {100, 0, both}}, "[0-100 b c]"},
		"any will do in between":      {[]sample{{0, 0, one}, {100, 1, nil}, {200, 1, nil}, {300, 2, one}, {400, 2, one}}, "[0-100 b][200-400 b]"},
		"missed, and never set":       {[]sample{{0, 0, one}, {9000, 0, one}}, "[0-9000 b]"},
		"missed, and set meanwhile":   {[]sample{{0, 0, one}, {9000, 1, one}, {9100, 1, one}}, "[9000-9100 b]"},
		"set again to what it was at": {[]sample{{0, 0, one}, {100, 1, one}}, "[0-100 b]"},
	} {
		t.Run(name, func(t *testing.T) {
			var all Commits
			all.Start(start.Add(-time.Hour))
			for _, s := range c.samples {
				all.Add(Sample[engine.Commits]{Node: "a", At: start.Add(time.Duration(s.ms) * time.Millisecond), Counts: engine.Commits{
					UpSeconds: 7200 + int64(s.ms)/1000, Waiting: &engine.Waiting{Standbys: s.nodes, SettingsSince: start.Add(time.Duration(s.since))},
				}})
			}
			got := ""
			for _, span := range all.Result(nil).Nodes[0].StandbySpans {
				nodes := fmt.Sprint(span.Nodes)
				got += fmt.Sprintf("[%d-%d %s]", span.From.Sub(start).Milliseconds(), span.To.Sub(start).Milliseconds(), nodes[1:len(nodes)-1])
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestStandbySpansAreBounded(t *testing.T) {
	var s standbySpans
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 3 * wire.MaxStandbySpans {
		s.cover(start, start, []string{fmt.Sprint(i % 2)})
	}
	if len(s.spans) != wire.MaxStandbySpans {
		t.Errorf("%d spans", len(s.spans))
	}
}
