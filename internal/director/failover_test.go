package director

import (
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

func TestFailoverDecisions(t *testing.T) {
	paused := func(left time.Duration) *scene {
		return failingOver().lose("a", 5).see("a", func(o *observation) { o.LeaseLeft = left })
	}
	candidateGone := func(s *scene) *scene { return s.kill("b", 3) }
	rows{
		"an old primary that is dead needs no fencing: receiving is stopped": {
			failingOver(), expectation{act: act{Kind: actStopReceiving, Node: "c"}},
		},
		"one that may be alive is fenced first": {
			paused(2 * time.Second), expectation{act: act{Kind: actFence, Node: "a"}, message: "until a is fenced"},
		},
		"where fencing failed the end of its lease is waited for": {
			paused(2 * time.Second).with(func(s *scene) { s.view.Failed = act{Kind: actFence, Node: "a"} }),
			expectation{message: "its lease has run out", within: 2 * time.Second, state: fencedIs(false)},
		},
		"then it counts as fenced": {paused(0), expectation{act: act{Kind: actStopReceiving, Node: "c"}}},
		"a new process of it counts as fenced, since it boots read-only": {
			paused(time.Second).see("a", func(o *observation) { o.Replaced = true }), expectation{act: act{Kind: actStopReceiving, Node: "c"}},
		},
		"one that answers read-only counts as fenced": {
			paused(time.Second).with(func(s *scene) { s.view.Nodes["a"] = booted(100) }).see("a", func(o *observation) { o.LeaseLeft = time.Second }),
			expectation{act: act{Kind: actStopReceiving, Node: "c"}},
		},
		"one that answers and is writable does not, whatever its agent says of processes": {
			failingOver().see("a", func(o *observation) { o.Answers, o.Writable, o.LeaseLeft = true, true, time.Second }),
			expectation{act: act{Kind: actFence, Node: "a"}, state: fencedIs(false)},
		},
		"one that becomes writable after its lease is fenced before anything else": {
			fenced().with(func(s *scene) { s.view.Nodes["a"] = booted(100) }).see("a", func(o *observation) { o.Writable = true }),
			expectation{act: act{Kind: actFence, Node: "a"}, message: "writable without being the primary"},
		},
		"a candidate that is still being sent to is let read on": {
			failingOver().see("b", func(o *observation) { o.IO, o.ReceivedSince = engine.ReceiverOn, now }).see("c", func(o *observation) { o.IO = engine.ReceiverOff }),
			expectation{message: "until b has read"},
		},
		"until nothing comes any more": {
			failingOver().see("b", func(o *observation) { o.IO = engine.ReceiverOn }).see("c", func(o *observation) { o.IO = engine.ReceiverOff }),
			expectation{act: act{Kind: actStopReceiving, Node: "b"}},
		},
		"or the time to catch up is over": {
			fenced().with(func(s *scene) { s.view.Now = now.Add(10 * time.Second) }).
				see("b", func(o *observation) { o.IO, o.ReceivedSince = engine.ReceiverOn, now.Add(10*time.Second) }),
			expectation{act: act{Kind: actStopReceiving, Node: "b"}},
		},
		"a candidate that has everything applied is noted as such": {
			fenced(), expectation{intent: true, state: unapplied(0)},
		},
		"one that has not is waited for": {
			fenced().see("b", func(o *observation) { o.Executed = transactions(40) }), expectation{act: act{Kind: actCatchUp, Node: "b"}, message: "has applied"},
		},
		"its applier is started if need be": {
			fenced().see("b", func(o *observation) { o.Executed, o.SQLRunning = transactions(40), false }),
			expectation{act: act{Kind: actStartApplying, Node: "b"}},
		},
		"after the time for that it goes on and says so": {
			fenced().with(func(s *scene) { s.view.Now = now.Add(10 * time.Second) }).see("b", func(o *observation) { o.Executed = transactions(40) }),
			expectation{intent: true, state: unapplied(60)},
		},
		"a candidate that died is replaced":        {candidateGone(fenced()), expectation{intent: true, state: primaryIs(3, "c")}},
		"at once when its agent saw its server go": {fenced().kill("b", 1), expectation{intent: true, state: primaryIs(3, "c")}},
		"one that may only be slow is waited for": {
			fenced().lose("b", 1), expectation{message: "whether candidate b answers"},
		},
		"one that died without another is waited for": {
			candidateGone(fenced()).kill("c", 3), expectation{message: "no live replica"},
		},
		"one that turns out to have received less is replaced": {
			fenced().see("c", func(o *observation) { o.Received = transactions(101) }), expectation{intent: true, state: primaryIs(3, "c")},
		},
		"one that has what it needs is promoted": {applied(), expectation{act: act{Kind: actPromote, Node: "b"}}},
		"one that was opened before a restart of the director is recognised": {
			applied().see("b", func(o *observation) { o.Writable, o.Source, o.SQLRunning = true, "", false }),
			expectation{act: act{Kind: actStop, Node: "c"}, renew: "b", state: func(t *testing.T, s wire.DirectorState) {
				if f := s.Failovers[0]; !s.Opened || f.PromotedAt != nil || f.Message == "" {
					t.Errorf("opened %v, promoted %v, message %q: a moment nobody saw must be absent", s.Opened, f.PromotedAt, f.Message)
				}
			}},
		},
		"one that died when it may have been opened is a lost primary": {
			candidateGone(applied()), expectation{intent: true, state: func(t *testing.T, s wire.DirectorState) {
				primaryIs(3, "c")(t, s)
				if len(s.Failovers) != 2 || s.Failovers[1].OldPrimary != "b" {
					t.Errorf("failovers are %+v", s.Failovers)
				}
			}},
		},
		"the others are stopped before they are re-pointed": {promoted().see("c", func(o *observation) { o.IO = engine.ReceiverOff }), expectation{act: act{Kind: actStop, Node: "c"}, renew: "b"}},
		"then they are": {
			promoted().see("c", func(o *observation) { o.SQLRunning = false }),
			expectation{act: attachFrom("c", "b"), renew: "b", state: func(t *testing.T, s wire.DirectorState) {
				if s.Failovers[0].RepointedAt != nil {
					t.Error("noted as re-pointed before it was")
				}
			}},
		},
		"when all follow it is noted": {
			failedOver().with(func(s *scene) { s.state.Failovers[0].RepointedAt = nil }),
			expectation{renew: "b", state: func(t *testing.T, s wire.DirectorState) {
				if s.Failovers[0].RepointedAt == nil {
					t.Error("not noted")
				}
				roles(wire.RoleDown, wire.RoleWriter, wire.RoleReader)(t, s)
			}},
		},
		"a new primary that dies as well is replaced in turn": {
			failedOver().kill("b", 3), expectation{intent: true, state: primaryIs(3, "c")},
		},
		"neither is a replica that is kept apart": {
			failedOver().kill("b", 3).with(func(s *scene) { s.state.Nodes[2].Role = wire.RoleIsolated }).
				see("c", func(o *observation) { *o = booted(101); o.Source = "a" }),
			expectation{message: "no live replica"},
		},
		"a primary that was rebuilt before is kept apart anew": {
			failedOver().with(func(s *scene) {
				ghosts := int64(3)
				s.state.Nodes[1].Rejoin, s.state.Nodes[1].GhostTransactions = wire.RejoinDone, &ghosts
			}).kill("b", 3),
			expectation{intent: true, state: func(t *testing.T, s wire.DirectorState) {
				if n := s.Nodes[1]; n.Rejoin != "" || n.GhostTransactions != nil {
					t.Errorf("node is %+v", n)
				}
			}},
		},
		"the old primary is no candidate, however much it has": {
			returned().kill("b", 3), expectation{intent: true, state: primaryIs(3, "c")},
		},
	}.run(t)
}

func unapplied(want int64) func(*testing.T, wire.DirectorState) {
	return func(t *testing.T, s wire.DirectorState) {
		f := s.Failovers[0]
		if f.AppliedAt == nil || f.Unapplied != want || (f.Message == "") != (want == 0) {
			t.Errorf("applied at %v, %d unapplied, message %q", f.AppliedAt, f.Unapplied, f.Message)
		}
	}
}
