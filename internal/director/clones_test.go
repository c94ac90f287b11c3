package director

import (
	"errors"
	"testing"
	"time"
)

// TestALookFromBeforeAClonesEndTellsNothingOfIt: the server that it saw may not even have been asked for the clone.
func TestALookFromBeforeAClonesEndTellsNothingOfIt(t *testing.T) {
	ended, failed := time.Now(), errors.New("no donor")
	for name, c := range map[string]struct {
		looked time.Time
		done   bool
	}{
		"before":    {ended.Add(-time.Millisecond), false},
		"just then": {ended, false},
		"after":     {ended.Add(time.Millisecond), true},
	} {
		all := newClones()
		all.runs["a"] = &runningClone{cloneRun: cloneRun{Since: ended.Add(-time.Second), Done: true, Err: failed}, ended: ended}
		switch run := all.of("a", c.looked); {
		case run == nil:
			t.Errorf("%s: it is not known", name)
		case run.Done != c.done, (run.Err != nil) != c.done:
			t.Errorf("%s: done %t with %v, want %t", name, run.Done, run.Err, c.done)
		}
	}
	all := newClones()
	all.runs["a"] = &runningClone{cloneRun: cloneRun{Since: ended}}
	if run := all.of("a", ended.Add(time.Hour)); run == nil || run.Done {
		t.Errorf("one that is under way is %+v", run)
	}
}
