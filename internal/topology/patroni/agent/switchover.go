package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"replab.dev/internal/agent/history"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const (
	// switchoverMost is for how long after it was asked for another node is waited for. The operator waits a little longer.
	switchoverMost = engine.SwitchOverMost
	// outcomeInterval is the time between two looks at whether it has ended.
	outcomeInterval = 250 * time.Millisecond
)

// order is a switchover that is under way.
type order struct {
	name     string
	at       time.Time // it was asked for
	timeline int64     // on which this node wrote then; 0 where that is not known
}

// SwitchOver has another node take the writes. What was asked for under a name is asked for once. It stands, and is kept, when it returns nil;
// history.ErrRefused where this node does not take the writes, or while another one is under way. How it ends is among the node's state.
func (m *Member) SwitchOver(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	past := m.kept.Note()
	if fresh, err := past.New(name); !fresh {
		return err
	}
	if !m.observed.writes() {
		return fmt.Errorf("%w: this node does not take the writes: %s", history.ErrRefused, m.whyNot(m.poller.last()))
	}
	o := order{name: name, at: time.Now(), timeline: m.observed.Position.Timeline}
	err := m.kept.Change(func(n *note) { n.Ask(name, m.self, o.at) })
	if err == nil {
		m.orders <- o // there is room: the one before has ended
	}
	return err
}

// switchOvers carries orders out until ctx ends. An order that an earlier agent took is not given again, since it may have been carried out.
func (m *Member) switchOvers(ctx context.Context) {
	m.mu.Lock()
	past := m.kept.Note()
	m.mu.Unlock()
	open := past.UnderWay()
	if open != nil && len(m.orders) == 0 {
		m.await(ctx, order{name: open.Name, at: open.RequestedAt.Time}, "", errors.New("the agent was started anew after it had been asked for"))
	}
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-m.orders:
			to, err := m.client.SwitchOver(ctx, m.self)
			if errors.Is(err, engine.ErrSwitchOverRefused) {
				m.end(o, wire.Switchover{Outcome: wire.SwitchoverFailed, Why: err.Error()})
				continue
			}
			m.await(ctx, o, to, err)
		}
	}
}

// await waits until it is known how a switchover has ended. If ctx ends before, the next agent goes on waiting.
func (m *Member) await(ctx context.Context, o order, to string, asked error) {
	ticker := time.NewTicker(outcomeInterval)
	defer ticker.Stop()
	for {
		if ended := o.outcome(m.self, to, asked, m.poller.last().cluster, time.Now()); ended != nil {
			m.end(o, *ended)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// outcome is how a switchover has ended, nil while that is not known. to is what the manager answered, "" where it gave none, and asked the
// error that it gave instead. It is done when another node is known to lead on a later timeline: then its server has been promoted.
func (o order) outcome(self, to string, asked error, cluster answer[engine.ManagerCluster], now time.Time) *wire.Switchover {
	leader := ""
	if c := cluster.value; cluster.asked.After(o.at) && c.Leader != self {
		leader = c.Leader
	}
	late := now.Sub(o.at) >= switchoverMost
	switch {
	case leader != "" && (cluster.value.LeaderTimeline > o.timeline || late), late && to != "":
		return &wire.Switchover{Outcome: wire.SwitchoverDone, To: cmp.Or(leader, to)}
	case late && asked != nil:
		return &wire.Switchover{Outcome: wire.SwitchoverFailed, Why: asked.Error()}
	case late:
		return &wire.Switchover{Outcome: wire.SwitchoverFailed, Why: fmt.Sprintf("no other node took the lock within %s", switchoverMost)}
	}
	return nil
}

// end keeps how a switchover has ended.
func (m *Member) end(o order, ended wire.Switchover) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.kept.Change(func(n *note) { n.End(time.Now(), ended.Outcome, ended.To, ended.Why) })
	if err != nil { // it stays under way until an agent is started anew, and then ends by what is known
		slog.Error("the outcome of a switchover could not be written", "name", o.name, "error", err)
	}
}
