package director

import (
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// view is everything that a decision may know beside the state: what the nodes looked like, and the time.
type view struct {
	// Now is when the looks were complete.
	Now   time.Time
	Nodes map[string]observation
	// Failed is the act that failed in the round before: it is left out of this one, so that an act that never succeeds
	// does not keep others waiting.
	Failed act
}

// observation is the last look at one node, with what earlier looks tell about it.
type observation struct {
	// Answers tells that the server answered by SQL in time; the fields down to Cloned are its answer. Err says why not.
	Answers  bool
	Err      string
	Writable bool
	Executed engine.Position
	Received engine.Position // Executed and what waits to be applied
	// Source is the name of the node that is configured as replication source, or its host:port when it is none of the
	// nodes; empty without one.
	Source     string
	IO         engine.Receiver
	SQLRunning bool
	LastError  string // of replication

	SemiSyncSource  bool  // the source side of semi-sync is on
	SemiSyncClients int64 // replicas that acknowledge; asked while the topology is being deployed
	CloneState      engine.CloneState
	CloneError      string
	Cloned          *engine.CopyFigures // what a completed clone took, nil when not known

	// Agent is what the agent said; nil when it was not asked or did not answer.
	Agent *wire.NodeState

	// FailedLooks counts the looks in a row that failed up to now; FailingSince is the end of the first of them.
	FailedLooks  int
	FailingSince time.Time
	// ReceivedSince is when Received was first seen as it is.
	ReceivedSince time.Time
	// ExecutedBefore is what it had executed by the look before; nothing where that failed.
	ExecutedBefore engine.Position
	// Replaced tells that the server's process is another one than that which was last seen open as primary.
	Replaced bool
	// LeaseLeft is how long a lease that the node was given may still stand; 0 when it certainly has run out.
	LeaseLeft time.Duration
	// Clone is the clone that this process runs or ran to rebuild the node; nil without one.
	Clone *cloneRun
}

// cloneRun is a clone as its caller sees it.
type cloneRun struct {
	Since time.Time
	Done  bool  // the statement has ended
	Err   error // the clone certainly failed; nil when it succeeded or the connection ended with the server's restart
}

// started tells that both replication threads were started. Servers boot with both off, so the director did it.
func (o observation) started() bool { return o.IO != engine.ReceiverOff && o.SQLRunning }

// follows tells that both threads run and the source is connected.
func (o observation) follows() bool { return o.IO == engine.ReceiverOn && o.SQLRunning }

// stopped tells that neither thread runs.
func (o observation) stopped() bool { return o.IO == engine.ReceiverOff && !o.SQLRunning }

// dead tells that the agent sees no server process.
func (o observation) dead() bool { return o.Agent != nil && o.Agent.ServerPID == 0 }

// lookFails tells whether this look counts as failed.
func (o observation) lookFails() bool { return !o.Answers || o.dead() }

// actKind names what the director can do.
type actKind string

// Acts. Each may be repeated.
const (
	actNone           actKind = ""
	actOpen           actKind = "open"              // lease, then writable; semi-sync source on
	actPromote        actKind = "promote"           // end of being a replica, then open
	actFence          actKind = "fence"             // read-only, lease void
	actShut           actKind = "shut"              // read-only once the commits under way have ended, then lease void
	actSemiSyncSource actKind = "enable semi-sync"  // source side on
	actAttach         actKind = "attach"            // replicate from another, from scratch
	actStart          actKind = "start replication" // both threads
	actStop           actKind = "stop replication"  // both threads
	actStopReceiving  actKind = "stop receiving"    // IO thread
	actStartApplying  actKind = "start applying"    // SQL thread
	actCatchUp        actKind = "catch up"          // apply what was received, for a while
	actClone          actKind = "clone"             // begin to rebuild the node as a copy of another
)

// act is one thing to do to a node. It is comparable.
type act struct {
	Kind actKind
	Node string
	From string // the node to replicate or to clone from
}
