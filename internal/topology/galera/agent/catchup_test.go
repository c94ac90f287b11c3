package agent

import (
	"testing"
	"time"

	"replab.dev/internal/wire"
)

func TestChaseComparesWithWhatWasHeardBefore(t *testing.T) {
	var c catchUp
	begin := time.Now()
	own := primary(9, "m0", "m1")
	answers := func(n int64) []Answer { return []Answer{{}, runs(primary(n, "m0", "m1"))} }
	c.follow(&own, begin, answers(12), begin.Add(time.Second))
	if c.caught {
		t.Error("caught up before anything was compared")
	}
	c.follow(&own, begin.Add(500*time.Millisecond), answers(12), begin.Add(2*time.Second))
	if c.caught {
		t.Error("a view that was asked for before the others were heard tells nothing")
	}
	own.Position = at(12)
	c.follow(&own, begin.Add(3*time.Second), answers(15), begin.Add(4*time.Second))
	if !c.caught {
		t.Error("not caught up with what was heard before")
	}
	own.Position = at(14)
	c.follow(&own, begin.Add(5*time.Second), answers(15), begin.Add(6*time.Second))
	if c.caught {
		t.Error("caught up, and one commit of those heard before is missing")
	}
	c.follow(nil, begin.Add(7*time.Second), answers(15), begin.Add(8*time.Second))
	if c.caught {
		t.Error("caught up without a server")
	}
}

// TestNobodyCatchesUpWithSilence: what nobody has told may be any number of commits.
func TestNobodyCatchesUpWithSilence(t *testing.T) {
	joining := primary(3, "m0", "m1", "m2")
	joining.Synced, joining.Serves = false, false
	for name, c := range map[string]struct {
		members []string
		answers []Answer
		want    bool
	}{
		"nobody was heard":                       {[]string{"m0", "m1", "m2"}, []Answer{{}, silent(), silent()}, false},
		"one of another component":               {[]string{"m0", "m1", "m2"}, []Answer{{}, runs(primary(3, "m1", "m2")), silent()}, false},
		"one that is itself still behind":        {[]string{"m0", "m1", "m2"}, []Answer{{}, runs(joining), silent()}, false},
		"one that is in step":                    {[]string{"m0", "m1", "m2"}, []Answer{{}, silent(), runs(primary(9, "m0", "m1", "m2"))}, true},
		"there is nobody else":                   {[]string{"m0"}, []Answer{{}, silent(), silent()}, true},
		"one that has more, beside one in step":  {[]string{"m0", "m1", "m2"}, []Answer{{}, runs(primary(10, "m0", "m1", "m2")), runs(primary(9, "m0", "m1", "m2"))}, false},
		"one that is still behind, and has more": {[]string{"m0", "m1", "m2"}, []Answer{{}, runs(ahead(joining)), runs(primary(9, "m0", "m1", "m2"))}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var c2 catchUp
			begin := time.Now()
			own := primary(9, c.members...)
			for i := range time.Duration(2) {
				c2.follow(&own, begin.Add((2*i+1)*time.Second), c.answers, begin.Add((2*i+2)*time.Second))
			}
			if c2.caught != c.want {
				t.Errorf("caught up: %t, want %t", c2.caught, c.want)
			}
		})
	}
}

func ahead(v wire.GroupView) wire.GroupView {
	v.Position = at(12)
	return v
}
