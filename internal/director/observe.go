package director

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"replab.dev/internal/agent/client"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// watched is one node under observation.
type watched struct {
	address
	server engine.Admin
	agent  client.Agent

	last     observation
	received string // text of last.Received
	// pending delivers the look that is under way; nil without one.
	pending chan lookResult
	// slow tells that the last look ended by its timeout: the next one is not waited for.
	slow bool
	// looked is when the last look began.
	looked time.Time
	// process is the server process that was last seen open as primary.
	process string
}

// lookResult is a look at the moment it ended.
type lookResult struct {
	observation
	began, at time.Time
	slow      bool
}

// observe looks at all nodes at once. It waits for the primary, and for the others unless they hung the last time: of
// those it tells what is known, so that a paused or cut off node makes nothing slower.
func (c *cluster) observe(ctx context.Context, state wire.DirectorState) view {
	for _, w := range c.nodes {
		if w.pending == nil {
			w.pending = c.begin(ctx, w, state)
		}
	}
	v := view{Nodes: map[string]observation{}}
	for name, w := range c.nodes {
		if w.slow && name != state.Primary {
			select {
			case r := <-w.pending:
				w.take(r, state)
			default:
			}
		} else {
			w.take(<-w.pending, state)
		}
		o := w.last
		o.LeaseLeft = c.leases.left(name)
		o.Clone = c.clones.of(name, w.looked)
		v.Nodes[name] = o
	}
	v.Now = time.Now()
	return v
}

// begin starts a look. The agent of a replica that answers is not asked: its server tells all that matters.
func (c *cluster) begin(ctx context.Context, w *watched, state wire.DirectorState) chan lookResult {
	name := w.Name
	q := engine.Question{Acknowledgers: name == state.Primary && !state.Opened}
	for _, n := range state.Nodes {
		q.Clone = q.Clone || (n.Name == name && n.Rejoin == wire.RejoinCloning)
	}
	askAgent := name == state.Primary || w.last.FailedLooks > 0 || !w.last.Answers
	if n := len(state.Failovers); n > 0 && !state.Opened {
		askAgent = askAgent || state.Failovers[n-1].OldPrimary == name
	}
	results := make(chan lookResult, 1)
	go func() { results <- c.look(ctx, w, q, askAgent) }()
	return results
}

func (c *cluster) look(ctx context.Context, w *watched, q engine.Question, askAgent bool) lookResult {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	began := time.Now()
	var known *wire.NodeState
	var agentErr error
	var asked sync.WaitGroup
	if askAgent {
		asked.Go(func() {
			var told wire.NodeState
			if told, agentErr = w.agent.State(ctx); agentErr == nil {
				known = &told
			}
		})
	}
	told, err := w.server.Look(ctx, q)
	o := c.seen(told)
	if err != nil {
		o.Answers, o.IO, o.Err = false, engine.ReceiverOff, fmt.Sprintf("does not answer by SQL: %v", err)
		if errors.Is(err, context.DeadlineExceeded) {
			o.Err = fmt.Sprintf("does not answer by SQL within %d ms", c.timeout.Milliseconds())
		}
	}
	asked.Wait()
	if o.Agent = known; !o.Answers && agentErr != nil {
		o.Err += ", nor does its agent"
	}
	return lookResult{observation: o, began: began, at: time.Now(), slow: ctx.Err() != nil}
}

// seen is a server's answer as an observation.
func (c *cluster) seen(l engine.Look) observation {
	o := observation{
		Answers: true, Writable: l.Writable, Executed: l.Executed, Received: l.Received, IO: l.Receiver, SQLRunning: l.Applying,
		LastError: l.LastError, SemiSyncSource: l.Awaits, SemiSyncClients: l.Acknowledgers, CloneState: l.Clone, CloneError: l.CloneError,
		Cloned: l.Cloned,
	}
	if l.SourceHost != "" {
		source := address{Host: l.SourceHost, Port: l.SourcePort}.hostPort()
		o.Source = cmp.Or(c.names[source], source)
	}
	return o
}

// take makes a look the last one and brings the history up to it.
func (w *watched) take(r lookResult, state wire.DirectorState) {
	o := r.observation
	o.FailedLooks, o.FailingSince = 0, time.Time{}
	if o.lookFails() {
		o.FailedLooks, o.FailingSince = w.last.FailedLooks+1, w.last.FailingSince
		if w.last.FailedLooks == 0 {
			o.FailingSince = r.at
		}
	}
	o.ReceivedSince = w.last.ReceivedSince
	if text := o.Received.String(); text != w.received || o.ReceivedSince.IsZero() {
		w.received, o.ReceivedSince = text, r.at
	}
	if w.last.Answers {
		o.ExecutedBefore = w.last.Executed
	}
	process := processOf(o.Agent)
	if w.Name == state.Primary && state.Opened && o.Answers && o.Writable && process != "" {
		w.process = process
	}
	o.Replaced = w.process != "" && process != "" && process != w.process
	w.last, w.looked, w.slow, w.pending = o, r.began, r.slow, nil
}

// processOf identifies a server's process; empty when it is not known or there is none.
func processOf(known *wire.NodeState) string {
	if known == nil || known.ServerPID == 0 {
		return ""
	}
	return fmt.Sprintf("%s/%d", known.PodUID, known.ServerPID)
}

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
