package agent

import (
	"time"

	"replab.dev/internal/engine"
)

// act is what an agent does to its server.
type act string

// Acts. Each may be repeated.
const (
	nothing act = ""
	attach  act = "make the server a replica of the other one"
	start   act = "start the server's replication"
	await   act = "have the server's commits wait for the other one"
	open    act = "open the server for writes"
)

// aloneAfter is for how long the other server must be silent before a server is opened that may lack some of its transactions.
const aloneAfter = 3 * time.Second

// firstAhead is for how long the first node must have been in its place before the second lets itself be written to: a proxy that sends all writes to
// one node finds the first.
const firstAhead = 3 * time.Second

// inTurn tells whether the second node may be written to: the first has been in its place for a while, or is gone after both were in theirs.
func inTurn(firstPlaced time.Time, placed bool, silent time.Duration, now time.Time) bool {
	return !firstPlaced.IsZero() && now.Sub(firstPlaced) >= firstAhead || placed && silent >= aloneAfter
}

// observation is what an agent knows at a moment.
type observation struct {
	own      *engine.Look // nil while the server does not answer
	asked    time.Time    // when the server was asked for it
	caughtUp bool
	silent   time.Duration // since the other server answered its agent, and that this one
}

// stopped says why the server stopped to replicate by itself, "" while it has not.
func (s observation) stopped() string {
	if s.own == nil || s.own.Receiver != engine.ReceiverOff && s.own.Applying {
		return ""
	}
	return s.own.LastError
}

func (s observation) follows() bool {
	return s.own != nil && s.own.Receiver == engine.ReceiverOn && s.own.Applying
}

func (s observation) writable() bool { return s.own != nil && s.own.Writable }

// hasAll tells that the server lacks nothing that it could get.
func (s observation) hasAll() bool { return s.caughtUp || s.silent >= aloneAfter }

// decide returns the next act. A server boots closed and without replication. One whose replication stopped by itself is left alone: it stays
// closed if it was started anew, and open if it was open.
func decide(s observation, source engine.Source, semiSync bool) act {
	switch own := s.own; {
	case own == nil:
		return nothing
	case own.SourceHost != source.Host || own.SourcePort != source.Port:
		return attach
	case s.stopped() != "":
		return nothing
	case own.Receiver == engine.ReceiverOff || !own.Applying:
		return start
	case semiSync && !own.Awaits:
		return await
	case !own.Writable && s.hasAll():
		return open
	}
	return nothing
}
