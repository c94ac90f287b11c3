package director

import (
	"errors"
	"testing"
	"time"

	"replab.dev/internal/protocol"
)

type rows map[string]struct {
	scene *scene
	want  expectation
}

func (r rows) run(t *testing.T) {
	for name, c := range r {
		t.Run(name, func(t *testing.T) { check(t, c.scene.decide(), c.want) })
	}
}

func attachFrom(node, source string) act { return act{Kind: actAttach, Node: node, From: source} }

func TestBootstrapDecisions(t *testing.T) {
	semiSync := func(s *scene) { s.cfg.SemiSync = &protocol.SemiSync{AckReplicas: 1} }
	chosen := func() *scene {
		return empty().with(func(s *scene) { s.state.Epoch, s.state.Primary = 1, "a" })
	}
	attached := func() *scene {
		s := chosen()
		for _, name := range []string{"b", "c"} {
			s.see(name, func(o *observation) { o.Source, o.IO, o.SQLRunning = "a", threadOn, true })
		}
		return s
	}
	rows{
		"a node that was never seen is waited for": {
			empty().with(func(s *scene) { delete(s.view.Nodes, "c") }), expectation{message: "until c answers"},
		},
		"once all answer the first node is written down as primary": {
			empty(), expectation{intent: true, state: primaryIs(1, "a")},
		},
		"a later node with transactions of its own is not overwritten": {
			empty().with(func(s *scene) { s.view.Nodes["b"] = booted(5) }), expectation{message: "b has 5 transactions"},
		},
		"the first node may have transactions that the others have not": {
			empty().with(func(s *scene) { s.view.Nodes["a"] = booted(5) }), expectation{intent: true, state: primaryIs(1, "a")},
		},
		"a node that is writable before there is a primary is fenced": {
			empty().see("b", func(o *observation) { o.Writable = true }), expectation{act: act{Kind: actFence, Node: "b"}},
		},
		"the first replica is attached before the primary is opened": {chosen(), expectation{act: attachFrom("b", "a")}},
		"then the next": {
			attached().with(func(s *scene) { s.view.Nodes["c"] = booted(0) }), expectation{act: attachFrom("c", "a")},
		},
		"semi-sync is on before replicas are attached": {
			chosen().with(semiSync), expectation{act: act{Kind: actSemiSyncSource, Node: "a"}},
		},
		"a replica whose source is not connected yet is waited for": {
			attached().see("c", func(o *observation) { o.IO = threadConnecting }), expectation{message: "until c replicates"},
		},
		"the primary is not opened before enough replicas acknowledge": {
			attached().with(semiSync).see("a", func(o *observation) { o.SemiSyncSource = true }),
			expectation{message: "1 replicas that acknowledge, has 0"},
		},
		"it is once they do": {
			attached().with(semiSync).see("a", func(o *observation) { o.SemiSyncSource, o.SemiSyncClients = true, 1 }),
			expectation{act: act{Kind: actOpen, Node: "a"}},
		},
		"a replica with transactions of its own is not attached": {
			attached().with(func(s *scene) { s.view.Nodes["b"] = booted(5) }), expectation{message: "until b replicates"},
		},
		"the topology is not deployed before every node is in its place": {
			attached().with(func(s *scene) { s.state.Opened, s.state.Configured = true, false }).lose("c", 1).
				see("a", func(o *observation) { o.Writable = true }),
			expectation{renew: "a", state: configuredIs(false)},
		},
		"it is then": {
			attached().with(func(s *scene) { s.state.Opened, s.state.Configured = true, false }).
				see("a", func(o *observation) { o.Writable = true }),
			expectation{renew: "a", state: configuredIs(true)},
		},
		"without semi-sync it is opened once all follow": {attached(), expectation{act: act{Kind: actOpen, Node: "a"}}},
		"a primary that dies before it was opened is waited for, however long": {
			attached().kill("a", 50), expectation{message: "until a answers"},
		},
		"a replica that dies is waited for": {attached().kill("b", 50), expectation{message: "until b replicates"}},
		"a primary that was opened before a restart of the director is recognised": {
			attached().see("a", func(o *observation) { o.Writable = true }),
			expectation{renew: "a", state: func(t *testing.T, s protocol.DirectorState) {
				if !s.Opened {
					t.Error("not opened")
				}
			}},
		},
		"a single server is opened alone": {
			chosen().with(func(s *scene) { s.cfg.Nodes = s.cfg.Nodes[:1] }), expectation{act: act{Kind: actOpen, Node: "a"}},
		},
	}.run(t)
}

func configuredIs(want bool) func(*testing.T, protocol.DirectorState) {
	return func(t *testing.T, s protocol.DirectorState) {
		if s.Configured != want {
			t.Errorf("configured is %v", s.Configured)
		}
	}
}

func TestDetectionDecisions(t *testing.T) {
	writeOff := func(o *observation) { o.Writable = false }
	rows{
		"at peace nothing is done and the lease is renewed": {deployed(), expectation{renew: "a"}},
		"a failed look stops the renewal and nothing else":  {deployed().lose("a", 1), expectation{}},
		"fewer failed looks than it takes are no failure":   {deployed().kill("a", 2), expectation{}},
		"enough of them are, and the heir is written down": {
			deployed().kill("a", 3), expectation{intent: true, message: "a is lost", state: primaryIs(2, "b")},
		},
		"of two replicas the one that received more is chosen": {
			deployed().kill("a", 3).see("c", func(o *observation) { o.Received = transactions(101) }),
			expectation{intent: true, message: "a is lost", state: primaryIs(2, "c")},
		},
		"what is applied does not count, what was received does": {
			deployed().kill("a", 3).see("c", func(o *observation) { o.Received, o.Executed = transactions(102), transactions(10) }),
			expectation{intent: true, state: primaryIs(2, "c")},
		},
		"a replica that is lost is not chosen": {
			deployed().kill("a", 3).kill("b", 3), expectation{intent: true, state: primaryIs(2, "c")},
		},
		"a replica that has just begun to fail is waited for": {
			deployed().kill("a", 3).lose("b", 1), expectation{message: "whether b answers"},
		},
		"unless its agent saw its server go": {
			deployed().kill("a", 3).kill("b", 1), expectation{intent: true, state: primaryIs(2, "c")},
		},
		"a replica that never had a source is not chosen": {
			deployed().kill("a", 3).kill("b", 3).with(func(s *scene) { s.view.Nodes["c"] = booted(0) }),
			expectation{message: "no live replica"},
		},
		"without a live replica the primary is waited for": {
			deployed().kill("a", 9).kill("b", 9).lose("c", 9), expectation{message: "no live replica"},
		},
		"without failover the primary is waited for, and its lease goes on": {
			deployed().kill("a", 9).with(func(s *scene) { s.cfg.Failover = false }), expectation{renew: "a", message: "a is lost"},
		},
		"a single server is waited for": {
			deployed().kill("a", 9).with(func(s *scene) { s.cfg.Nodes = s.cfg.Nodes[:1] }), expectation{renew: "a", message: "a is lost"},
		},
		"before everything was in its place there is no failover": {
			deployed().kill("a", 9).with(func(s *scene) { s.state.Configured = false }), expectation{},
		},
		"a primary that came back before it was missed is opened again": {
			deployed().see("a", writeOff), expectation{act: act{Kind: actOpen, Node: "a"}, renew: "a", message: "opened again"},
		},
		"so is one that could not be replaced": {
			deployed().kill("b", 9).kill("c", 9).see("a", writeOff), expectation{act: act{Kind: actOpen, Node: "a"}, renew: "a"},
		},
		"one that lost what its replicas received is replaced": {
			deployed().see("a", writeOff).see("a", func(o *observation) { o.Executed = transactions(90) }),
			expectation{intent: true, message: "without transactions", state: primaryIs(2, "b")},
		},
		"or stays closed where there is no failover": {
			deployed().with(func(s *scene) { s.cfg.Failover = false }).see("a", func(o *observation) { *o = booted(90) }),
			expectation{renew: "a", message: "without transactions"},
		},
		"an open primary whose semi-sync is off has it enabled": {
			deployed().with(func(s *scene) { s.cfg.SemiSync = &protocol.SemiSync{AckReplicas: 1} }),
			expectation{act: act{Kind: actSemiSyncSource, Node: "a"}, renew: "a"},
		},
		"the looks at a primary that answers by SQL fail when its agent sees no server": {
			deployed().see("a", func(o *observation) { o.Agent, o.FailedLooks = &protocol.NodeState{}, 3 }),
			expectation{intent: true, state: primaryIs(2, "b")},
		},
	}.run(t)
}

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
			failingOver().see("b", func(o *observation) { o.IO, o.ReceivedSince = threadOn, now }).see("c", func(o *observation) { o.IO = threadOff }),
			expectation{message: "until b has read"},
		},
		"until nothing comes any more": {
			failingOver().see("b", func(o *observation) { o.IO = threadOn }).see("c", func(o *observation) { o.IO = threadOff }),
			expectation{act: act{Kind: actStopReceiving, Node: "b"}},
		},
		"or the time to catch up is over": {
			fenced().with(func(s *scene) { s.view.Now = now.Add(10 * time.Second) }).
				see("b", func(o *observation) { o.IO, o.ReceivedSince = threadOn, now.Add(10*time.Second) }),
			expectation{act: act{Kind: actStopReceiving, Node: "b"}},
		},
		"a candidate that has everything applied is noted as such": {
			fenced(), expectation{intent: true, state: appliedIs(true)},
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
			expectation{intent: true, state: appliedIs(false)},
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
			expectation{act: act{Kind: actStop, Node: "c"}, renew: "b", state: func(t *testing.T, s protocol.DirectorState) {
				if f := s.Failovers[0]; !s.Opened || f.PromotedAt != nil || f.Message == "" {
					t.Errorf("opened %v, promoted %v, message %q: a moment nobody saw must be absent", s.Opened, f.PromotedAt, f.Message)
				}
			}},
		},
		"one that died when it may have been opened is a lost primary": {
			candidateGone(applied()), expectation{intent: true, state: func(t *testing.T, s protocol.DirectorState) {
				primaryIs(3, "c")(t, s)
				if len(s.Failovers) != 2 || s.Failovers[1].OldPrimary != "b" {
					t.Errorf("failovers are %+v", s.Failovers)
				}
			}},
		},
		"the others are stopped before they are re-pointed": {promoted().see("c", func(o *observation) { o.IO = threadOff }), expectation{act: act{Kind: actStop, Node: "c"}, renew: "b"}},
		"then they are": {
			promoted().see("c", func(o *observation) { o.SQLRunning = false }),
			expectation{act: attachFrom("c", "b"), renew: "b", state: func(t *testing.T, s protocol.DirectorState) {
				if s.Failovers[0].RepointedAt != nil {
					t.Error("noted as re-pointed before it was")
				}
			}},
		},
		"when all follow it is noted": {
			failedOver().with(func(s *scene) { s.state.Failovers[0].RepointedAt = nil }),
			expectation{renew: "b", state: func(t *testing.T, s protocol.DirectorState) {
				if s.Failovers[0].RepointedAt == nil {
					t.Error("not noted")
				}
				roles(protocol.RoleDown, protocol.RolePrimary, protocol.RoleReplica)(t, s)
			}},
		},
		"a new primary that dies as well is replaced in turn": {
			failedOver().kill("b", 3), expectation{intent: true, state: primaryIs(3, "c")},
		},
		"neither is a replica that is kept apart": {
			failedOver().kill("b", 3).with(func(s *scene) { s.state.Nodes[2].Role = protocol.RoleIsolated }).
				see("c", func(o *observation) { *o = booted(101); o.Source = "a" }),
			expectation{message: "no live replica"},
		},
		"a primary that was rebuilt before is kept apart anew": {
			failedOver().with(func(s *scene) {
				ghosts := int64(3)
				s.state.Nodes[1].Rejoin, s.state.Nodes[1].GhostTransactions = protocol.RejoinDone, &ghosts
			}).kill("b", 3),
			expectation{intent: true, state: func(t *testing.T, s protocol.DirectorState) {
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

func appliedIs(all bool) func(*testing.T, protocol.DirectorState) {
	return func(t *testing.T, s protocol.DirectorState) {
		f := s.Failovers[0]
		if f.AppliedAt == nil || f.RelayApplied != all || (f.Message == "") != all {
			t.Errorf("applied %v all %v, message %q", f.AppliedAt, f.RelayApplied, f.Message)
		}
	}
}

func TestReplicaDecisions(t *testing.T) {
	rows{
		"a replica that restarted is started again": {
			deployed().see("c", func(o *observation) { o.IO, o.SQLRunning = threadOff, false }),
			expectation{act: act{Kind: actStart, Node: "c"}, renew: "a"},
		},
		"also while the primary is away": {
			deployed().kill("a", 1).see("c", func(o *observation) { o.IO, o.SQLRunning = threadOff, false }),
			expectation{act: act{Kind: actStart, Node: "c"}},
		},
		"one whose applier alone stopped as well": {
			deployed().see("c", func(o *observation) { o.SQLRunning = false }), expectation{act: act{Kind: actStart, Node: "c"}, renew: "a"},
		},
		"one that came back empty begins from scratch": {
			deployed().with(func(s *scene) { s.view.Nodes["c"] = booted(0) }), expectation{act: attachFrom("c", "a"), renew: "a"},
		},
		"one that cannot be started does not keep the others waiting": {
			deployed().see("b", func(o *observation) { o.SQLRunning = false }).see("c", func(o *observation) { o.SQLRunning = false }).
				with(func(s *scene) { s.view.Failed = act{Kind: actStart, Node: "b"} }),
			expectation{act: act{Kind: actStart, Node: "c"}, renew: "a"},
		},
		"a lost replica is down, and nothing is done to it": {
			deployed().lose("c", 3), expectation{renew: "a", state: roles(protocol.RolePrimary, protocol.RoleReplica, protocol.RoleDown)},
		},
		"a failed look does not change its role": {
			deployed().lose("c", 1), expectation{renew: "a", state: roles(protocol.RolePrimary, protocol.RoleReplica, protocol.RoleReplica)},
		},
		"nor does it bring back one that is down": {
			deployed().lose("c", 1).with(func(s *scene) { s.state.Nodes[2].Role = protocol.RoleDown }),
			expectation{renew: "a", state: roles(protocol.RolePrimary, protocol.RoleReplica, protocol.RoleDown)},
		},
		"a writable replica is fenced": {
			deployed().see("c", func(o *observation) { o.Writable = true }), expectation{act: act{Kind: actFence, Node: "c"}, renew: "a"},
		},
		"one that was away during a failover and had received more is kept apart": {
			failedOver().see("c", func(o *observation) { *o = booted(101); o.Source = "a" }),
			expectation{renew: "b", state: func(t *testing.T, s protocol.DirectorState) {
				roles(protocol.RoleDown, protocol.RolePrimary, protocol.RoleIsolated)(t, s)
				if g := s.Nodes[2].GhostTransactions; g == nil || *g != 1 {
					t.Errorf("ghosts are %v, want 1", g)
				}
			}},
		},
		"also when it was rebuilt once": {
			failedOver().see("c", func(o *observation) { *o = booted(101); o.Source = "a" }).with(func(s *scene) {
				ghosts := int64(7)
				s.state.Nodes[2].Rejoin, s.state.Nodes[2].GhostTransactions = protocol.RejoinDone, &ghosts
			}),
			expectation{renew: "b", state: func(t *testing.T, s protocol.DirectorState) {
				if n := s.Nodes[2]; n.Rejoin != "" || *n.GhostTransactions != 1 || n.Role != protocol.RoleIsolated {
					t.Errorf("node is %+v", n)
				}
			}},
		},
		"one that was away and had received less is re-pointed": {
			failedOver().see("c", func(o *observation) { *o = booted(90); o.Source = "a" }), expectation{act: attachFrom("c", "b"), renew: "b"},
		},
	}.run(t)
}

func TestRejoinDecisions(t *testing.T) {
	asked := func(state string, run *cloneRun) *scene {
		return returned().with(func(s *scene) { s.state.Nodes[0].Rejoin = state }).see("a", func(o *observation) { o.Clone = run })
	}
	rejoinIs := func(want string) func(*testing.T, protocol.DirectorState) {
		return func(t *testing.T, s protocol.DirectorState) {
			if n := s.Nodes[0]; n.Rejoin != want || n.GhostTransactions == nil || *n.GhostTransactions != 3 {
				t.Errorf("node is %+v, want %s and its 3 ghosts kept", n, want)
			}
		}
	}
	done := &cloneRun{Since: now, Done: true}
	clone := act{Kind: actClone, Node: "a", From: "c"}
	rows{
		"an old primary that returns is kept apart and its ghosts are counted": {
			failedOver().with(func(s *scene) { s.view.Nodes["a"] = booted(103) }),
			expectation{renew: "b", state: func(t *testing.T, s protocol.DirectorState) {
				roles(protocol.RoleIsolated, protocol.RolePrimary, protocol.RoleReplica)(t, s)
				rejoinIs("")(t, s)
			}},
		},
		"one without ghosts is kept apart as well": {
			failedOver().with(func(s *scene) { s.view.Nodes["a"] = booted(60) }),
			expectation{renew: "b", state: func(t *testing.T, s protocol.DirectorState) {
				if n := s.Nodes[0]; n.Role != protocol.RoleIsolated || n.GhostTransactions == nil || *n.GhostTransactions != 0 {
					t.Errorf("node is %+v", n)
				}
			}},
		},
		"one that is still writable is fenced before its ghosts are counted": {
			failedOver().with(func(s *scene) { s.view.Nodes["a"] = booted(103) }).see("a", func(o *observation) { o.Writable = true }),
			expectation{act: act{Kind: actFence, Node: "a"}, renew: "b", state: func(t *testing.T, s protocol.DirectorState) {
				if g := s.Nodes[0].GhostTransactions; g != nil {
					t.Errorf("counted %d", *g)
				}
			}},
		},
		"a request is written down before the clone": {asked(protocol.RejoinRequested, nil), expectation{intent: true, renew: "b", state: rejoinIs(protocol.RejoinCloning)}},
		"the clone is made from a replica that is caught up": {
			asked(protocol.RejoinCloning, nil), expectation{act: clone, renew: "b", state: rejoinIs(protocol.RejoinCloning)},
		},
		"or from the primary where there is none": {
			asked(protocol.RejoinCloning, nil).see("c", func(o *observation) { o.Executed = transactions(80) }),
			expectation{act: act{Kind: actClone, Node: "a", From: "b"}, renew: "b"},
		},
		"a clone that another director began is waited for": {
			asked(protocol.RejoinCloning, nil).see("a", func(o *observation) { o.CloneState = cloneInProgress }), expectation{renew: "b"},
		},
		"one under way is waited for": {asked(protocol.RejoinCloning, &cloneRun{Since: now}), expectation{renew: "b"}},
		"so is the server that restarts after it": {
			asked(protocol.RejoinCloning, done).with(func(s *scene) { s.kill("a", 9).see("a", func(o *observation) { o.Clone = done }) }),
			expectation{renew: "b", state: rejoinIs(protocol.RejoinCloning)},
		},
		"a finished clone is attached": {
			asked(protocol.RejoinCloning, done).see("a", func(o *observation) { o.CloneState, o.Executed, o.Source = cloneCompleted, transactions(100), "b" }),
			expectation{act: attachFrom("a", "b"), renew: "b"},
		},
		"one that replicates is a replica again": {
			asked(protocol.RejoinCloning, done).see("a", func(o *observation) {
				o.Executed, o.Source, o.IO, o.SQLRunning = transactions(100), "b", threadOn, true
			}),
			expectation{renew: "b", state: func(t *testing.T, s protocol.DirectorState) {
				rejoinIs(protocol.RejoinDone)(t, s)
				roles(protocol.RoleReplica, protocol.RolePrimary, protocol.RoleReplica)(t, s)
			}},
		},
		"a clone that was refused has failed": {
			asked(protocol.RejoinCloning, &cloneRun{Since: now, Done: true, Err: errors.New("no donor")}),
			expectation{intent: true, renew: "b", state: func(t *testing.T, s protocol.DirectorState) {
				rejoinIs(protocol.RejoinFailed)(t, s)
				if s.Nodes[0].Why == "" {
					t.Error("it does not say why")
				}
			}},
		},
		"one of which the server says so has failed": {
			asked(protocol.RejoinCloning, done).see("a", func(o *observation) { o.CloneState = cloneFailed }),
			expectation{intent: true, renew: "b", state: rejoinIs(protocol.RejoinFailed)},
		},
		"a clone with transactions that the primary has not is not attached": {
			asked(protocol.RejoinCloning, done).see("a", func(o *observation) { o.CloneState, o.Executed = cloneCompleted, transactions(101) }),
			expectation{intent: true, renew: "b", state: rejoinIs(protocol.RejoinFailed)},
		},
		"what a failed clone left behind does not change the ghosts": {
			asked(protocol.RejoinFailed, nil).see("a", func(o *observation) { o.Executed = transactions(50) }),
			expectation{renew: "b", state: rejoinIs(protocol.RejoinFailed)},
		},
		"one that takes too long has failed": {
			asked(protocol.RejoinCloning, &cloneRun{Since: now.Add(-61 * time.Second)}), expectation{intent: true, renew: "b", state: rejoinIs(protocol.RejoinFailed)},
		},
		"a rebuilt node may become primary": {
			asked(protocol.RejoinDone, nil).with(func(s *scene) { s.state.Nodes[0].Role = protocol.RoleReplica }).kill("b", 3).
				see("a", func(o *observation) { o.Source, o.IO, o.SQLRunning = "b", threadConnecting, true }),
			expectation{intent: true, state: primaryIs(3, "a")},
		},
	}.run(t)
}

func TestAcceptRejoin(t *testing.T) {
	for name, c := range map[string]struct {
		scene *scene
		node  string
		want  error
	}{
		"an isolated node whose ghosts are counted": {returned(), "a", nil},
		"a node whose rebuilding failed":            {returned().with(func(s *scene) { s.state.Nodes[0].Rejoin = protocol.RejoinFailed }), "a", nil},
		"a node that is being rebuilt":              {returned().with(func(s *scene) { s.state.Nodes[0].Rejoin = protocol.RejoinCloning }), "a", nil},
		"a node whose ghosts are not counted":       {returned().with(func(s *scene) { s.state.Nodes[0].GhostTransactions = nil }), "a", errNotNow},
		"an old primary that is not back":           {failedOver(), "a", errNotNow},
		"the primary":                               {returned(), "b", errNotNow},
		"a replica":                                 {returned(), "c", errNotNow},
		"a node that does not exist":                {returned(), "z", errNoSuchNode},
	} {
		t.Run(name, func(t *testing.T) {
			before := c.scene.state.Nodes[0].Rejoin
			state, err := acceptRejoin(c.scene.state, c.node)
			if !errors.Is(err, c.want) {
				t.Fatalf("error is %v, want %v", err, c.want)
			}
			if c.want == nil && state.Nodes[0].Rejoin != protocol.RejoinRequested && state.Nodes[0].Rejoin != protocol.RejoinCloning {
				t.Errorf("rejoin is %q", state.Nodes[0].Rejoin)
			}
			if c.scene.state.Nodes[0].Rejoin != before {
				t.Error("the state that was given was changed")
			}
		})
	}
}

func TestNobodyIsCaughtUpWithAPrimaryThatDoesNotAnswer(t *testing.T) {
	for _, n := range deployed().kill("a", 1).decide().State.Nodes {
		if n.CaughtUp {
			t.Errorf("%s is said to be caught up", n.Name)
		}
	}
}

func TestDecidingChangesNothingThatItWasGiven(t *testing.T) {
	for name, s := range map[string]*scene{"peace": deployed(), "failure": deployed().kill("a", 3), "failover": fenced(), "rejoin": returned()} {
		before := document(s.state)
		first := s.decide()
		if document(s.state) != before {
			t.Errorf("%s: the state that was given was changed", name)
		}
		if second := s.decide(); document(first.State) != document(second.State) || first.Act != second.Act {
			t.Errorf("%s: the same situation was decided in two ways", name)
		}
	}
}

func TestCaughtUpIsSaidOfReplicasAlone(t *testing.T) {
	s := deployed().see("c", func(o *observation) { o.Executed = transactions(99) }).decide().State
	for i, want := range []bool{false, true, false} {
		if s.Nodes[i].CaughtUp != want {
			t.Errorf("%s caught up is %v", s.Nodes[i].Name, s.Nodes[i].CaughtUp)
		}
	}
}
