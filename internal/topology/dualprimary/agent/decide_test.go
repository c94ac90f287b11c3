package agent

import (
	"testing"
	"time"

	"replab.dev/internal/engine"
)

var source = engine.Source{Host: "db-1", Port: 3306}

// replicating is a look at a server that is open and replicates from the other one.
func replicating(change func(*engine.Look)) *engine.Look {
	l := &engine.Look{Writable: true, SourceHost: source.Host, SourcePort: source.Port, Receiver: engine.ReceiverOn, Applying: true, Awaits: true, Acknowledgers: 1}
	if change != nil {
		change(l)
	}
	return l
}

func TestDecide(t *testing.T) {
	closed := func(l *engine.Look) { l.Writable = false }
	for name, c := range map[string]struct {
		s    observation
		want act
	}{
		"a server that does not answer is left alone":            {observation{}, nothing},
		"a new server becomes a replica":                         {observation{own: &engine.Look{Receiver: engine.ReceiverOff}}, attach},
		"one of another source too":                              {observation{own: replicating(func(l *engine.Look) { l.SourceHost = "db-2" })}, attach},
		"one that was started anew replicates again":             {observation{own: replicating(func(l *engine.Look) { l.Receiver, l.Applying = engine.ReceiverOff, false })}, start},
		"so does one of which a thread stands still":             {observation{own: replicating(func(l *engine.Look) { l.Applying = false })}, start},
		"one that stopped by an error is left alone":             {observation{own: replicating(func(l *engine.Look) { l.Applying, l.LastError = false, "duplicate key" })}, nothing},
		"also while it is closed and has all":                    {observation{own: replicating(func(l *engine.Look) { l.Applying, l.LastError, l.Writable = false, "duplicate key", false }), caughtUp: true}, nothing},
		"an error while it connects is none of these":            {observation{own: replicating(func(l *engine.Look) { l.Receiver, l.LastError, l.Awaits = engine.ReceiverConnecting, "refused", false })}, await},
		"commits wait before the server is opened":               {observation{own: replicating(func(l *engine.Look) { l.Writable, l.Awaits = false, false }), caughtUp: true}, await},
		"a closed one that lacks something stays closed":         {observation{own: replicating(closed)}, nothing},
		"a closed one that has all is opened":                    {observation{own: replicating(closed), caughtUp: true}, open},
		"a closed one is opened once the other is silent":        {observation{own: replicating(closed), silent: aloneAfter}, open},
		"an open one that replicates is as it should be":         {observation{own: replicating(nil), caughtUp: true}, nothing},
		"an open one is not closed for what it lacks":            {observation{own: replicating(nil)}, nothing},
		"one that cannot reach the other goes on as it is, open": {observation{own: replicating(func(l *engine.Look) { l.Receiver = engine.ReceiverConnecting }), silent: time.Hour}, nothing},
	} {
		t.Run(name, func(t *testing.T) {
			if got := decide(c.s, source, true); got != c.want {
				t.Errorf("to do: %q, want %q", got, c.want)
			}
		})
	}
	if got := decide(observation{own: replicating(func(l *engine.Look) { l.Awaits = false })}, source, false); got != nothing {
		t.Errorf("where commits wait for nothing there is to do: %q", got)
	}
}

func TestAbsences(t *testing.T) {
	at := time.Unix(1000, 0)
	step := func(n *note, s observation) { at = at.Add(time.Second); n.move(s, true, at) }
	var n note
	step(&n, observation{})
	step(&n, observation{own: replicating(func(l *engine.Look) { l.Acknowledgers = 0 }), caughtUp: true})
	step(&n, observation{own: replicating(nil)})
	if n.Was {
		t.Fatal("placed before the other one acknowledges, and before it has what that has")
	}
	step(&n, observation{own: replicating(nil), caughtUp: true})
	step(&n, observation{own: replicating(func(l *engine.Look) { l.Receiver = engine.ReceiverConnecting })})
	if !n.Was || len(n.Absences) > 0 {
		t.Fatalf("a node whose peer is lost is in its place: %+v", n)
	}
	step(&n, observation{})
	left := at
	step(&n, observation{own: replicating(nil)})
	if n.Away() == nil || !n.Away().LeftAt.Time.Equal(left) {
		t.Fatalf("back before it has all: %+v", n)
	}
	step(&n, observation{own: replicating(nil), caughtUp: true})
	if n.Away() != nil || !n.Absences[0].BackAt.Time.Equal(at) {
		t.Fatalf("not back: %+v", n)
	}
	step(&n, observation{own: replicating(func(l *engine.Look) { l.Writable = false }), caughtUp: true})
	step(&n, observation{own: replicating(nil), silent: aloneAfter})
	if n.Away() != nil || len(n.Absences) != 2 {
		t.Errorf("a node whose peer is gone has all that there is: %+v", n)
	}
}

func TestTheFirstIsWrittenToBeforeTheSecond(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		firstPlaced time.Time
		placed      bool
		silent      time.Duration
		want        bool
	}{
		"nothing is known of the first":      {time.Time{}, false, 0, false},
		"the first never came":               {time.Time{}, false, time.Hour, false},
		"the first has only just come":       {now.Add(-time.Second), true, 0, false},
		"the first was found":                {now.Add(-firstAhead), true, 0, true},
		"the first went before it was found": {now.Add(-time.Second), true, aloneAfter, true},
		"this agent is new, the first gone":  {time.Time{}, true, aloneAfter, true},
	} {
		if got := inTurn(c.firstPlaced, c.placed, c.silent, now); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
