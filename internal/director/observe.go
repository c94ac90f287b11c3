package director

import (
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
	// slow tells that the last look ended by its timeout: nobody waits for the next one.
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
		o.Source = firstOf(c.names[source], source)
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
