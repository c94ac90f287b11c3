package lag

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
	"replab.dev/test/halt"
)

func address(s *enginetest.Server) string { return fmt.Sprintf("127.0.0.1:%d", s.Port) }

func TestAPausedReplicaCompletesItsSamplesWhenItContinues(t *testing.T) {
	enginetest.Each(t, aPausedReplicaCompletesItsSamplesWhenItContinues)
}

func aPausedReplicaCompletesItsSamplesWhenItContinues(t *testing.T, flavor enginetest.Flavor) {
	s := followOn(t, flavor, "a", "b")
	p := start(t, configure(t, s[0].Endpoint(), s...))
	p.until("20 samples", func(r wire.LagResult) bool { return r.Samples >= 20 })
	halt.Process(t, s[1].Process().Pid)
	// Longer than the sessions' timeouts, so that they are opened again.
	p.until("180 unseen", func(r wire.LagResult) bool { return r.Unseen >= 180 })
	if latest := p.Latest(); latest[1] < 3_000_000 {
		t.Errorf("latest %v while 180 writes are unseen", latest)
	}
	if err := s[1].Process().Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.until("all seen", func(r wire.LagResult) bool { return r.Samples >= 220 && r.Unseen == 0 })
	r := p.stop()
	t.Log(describe(r))
	if r.Samples != r.Acknowledged || *r.MaxMicroseconds < 3_000_000 {
		t.Errorf("%d writes, %d samples, largest lag %d µs", r.Acknowledged, r.Samples, *r.MaxMicroseconds)
	}
}

// promote makes a replica the primary and the others its replicas, as the director does.
func promote(s *enginetest.Server, others ...*enginetest.Server) {
	s.Exec("STOP REPLICA; RESET REPLICA ALL")
	for _, o := range others {
		o.Exec("STOP REPLICA; RESET REPLICA ALL")
		o.Replicate(s)
	}
	s.Open()
}

func TestTheWriterFollowsAFailoverAndLostWritesAreSetApart(t *testing.T) {
	enginetest.Each(t, theWriterFollowsAFailoverAndLostWritesAreSetApart)
}

func theWriterFollowsAFailoverAndLostWritesAreSetApart(t *testing.T, flavor enginetest.Flavor) {
	s := followOn(t, flavor, "a", "b", "c")
	f := newForwarder(t, address(s[0]))
	p := start(t, configure(t, f.endpoint(), s...))
	p.until("20 samples on each", func(r wire.LagResult) bool { return r.Nodes[1].Samples >= 20 && r.Nodes[2].Samples >= 20 })

	// What follows is acknowledged, and lost with the primary. The next one is last: nobody may have received more than it.
	s[2].Exec("STOP REPLICA IO_THREAD")
	s[1].Exec("STOP REPLICA IO_THREAD")
	p.until("30 unseen on each", func(r wire.LagResult) bool { return r.Nodes[1].Unseen >= 30 && r.Nodes[2].Unseen >= 30 })
	s[0].Kill()
	p.until("the failure is noticed", func(r wire.LagResult) bool { return r.Missed > 10 })
	before := p.Result()
	f.move(address(s[1])) // read-only as yet: no write may be begun there
	p.until("no write for a while", func(r wire.LagResult) bool { return r.Missed > before.Missed+50 })
	promote(s[1], s[2])
	p.until("writes on b, seen on c", func(r wire.LagResult) bool { return r.Nodes[2].Samples >= before.Nodes[2].Samples+30 })
	p.Latest()
	p.until("30 more", func(r wire.LagResult) bool { return r.Nodes[2].Samples >= before.Nodes[2].Samples+60 })
	latest := p.Latest()
	r := p.stop()
	t.Log(describe(r))

	for _, n := range r.Nodes[1:] {
		if n.Lost < 30 || n.Unseen != n.Lost || n.OldestUnseenMicroseconds != nil {
			t.Errorf("%s: %d unseen, %d lost, want at least 30 and both the same", n.Name, n.Unseen, n.Lost)
		}
	}
	if r.Nodes[1].Samples != before.Nodes[1].Samples {
		t.Errorf("the new primary has %d samples, %d before it took the writes", r.Nodes[1].Samples, before.Nodes[1].Samples)
	}
	if r.Nodes[2].Samples+r.Nodes[2].Lost != r.Acknowledged {
		t.Errorf("%d writes, on c %d samples and %d lost", r.Acknowledged, r.Nodes[2].Samples, r.Nodes[2].Lost)
	}
	// The dead primary lacks the first write of the new one, and every lost write is older than that.
	if latest[1] != -1 || latest[2] >= latest[0] || latest[0] < 500_000 {
		t.Errorf("latest %v: lost writes must not age, those that the dead node lacks must", latest)
	}
	if r.Discarded > 1 {
		t.Errorf("%d writes discarded, want at most the one that the crash cut off: none may be begun on a read-only server", r.Discarded)
	}
	if r.Nodes[0].Samples != 0 || r.Nodes[0].Away != r.Acknowledged-before.Acknowledged {
		t.Errorf("the dead primary has %d samples and was away for %d, of %d writes since", r.Nodes[0].Samples, r.Nodes[0].Away, r.Acknowledged-before.Acknowledged)
	}
}

func TestAnOldPrimaryIsAReplicaOnceItIsRepointed(t *testing.T) {
	enginetest.Each(t, anOldPrimaryIsAReplicaOnceItIsRepointed)
}

func anOldPrimaryIsAReplicaOnceItIsRepointed(t *testing.T, flavor enginetest.Flavor) {
	s := followOn(t, flavor, "a", "b")
	f := newForwarder(t, address(s[0]))
	p := start(t, configure(t, f.endpoint(), s...))
	p.until("20 samples", func(r wire.LagResult) bool { return r.Samples >= 20 })
	before := p.Result()
	f.move(address(s[1]))
	s[0].Exec("SET GLOBAL read_only = ON") // waits for a write that is under way: a could not follow b with one that b lacks
	s[1].CatchUp(s[0])
	promote(s[1])
	p.until("writes on b that nobody is to show", func(r wire.LagResult) bool { return r.Unwatched >= 20 })
	if r := p.Result(); len(p.FormerPrimaries()) != 1 || len(r.LowerBounds) == 0 {
		t.Errorf("a follows nobody yet: %s", describe(r))
	}
	s[0].Replicate(s[1])
	p.until("20 samples on a", func(r wire.LagResult) bool { return r.Nodes[0].Samples >= 20 })
	if got := p.FormerPrimaries(); len(got) > 0 {
		t.Errorf("%v follows b", got)
	}
	s[0].Exec("STOP REPLICA")
	p.until("30 unseen on a", func(r wire.LagResult) bool { return r.Unseen >= 30 })
	r := p.stop()
	t.Log(describe(r))
	if r.Samples < before.Samples+20 || r.Nodes[0].FormerPrimary || r.Nodes[0].Away < 20 {
		t.Errorf("%+v, of all %+v", r.Nodes[0], r.LagDistribution)
	}
}

// A second primary that had not yet received what the first took: nothing is lost, it comes later.
func TestWritesThatTheSecondPrimaryReceivesLateBecomeSamples(t *testing.T) {
	s := follow(t, "a", "b")
	f := newForwarder(t, address(s[0]))
	p := start(t, configure(t, f.endpoint(), s...))
	p.until("20 samples", func(r wire.LagResult) bool { return r.Samples >= 20 })
	s[1].Exec("STOP REPLICA SQL_THREAD")
	p.until("30 unseen", func(r wire.LagResult) bool { return r.Nodes[1].Unseen >= 30 })
	s[1].Open()
	f.move(address(s[1]))
	p.until("lost as it seems", func(r wire.LagResult) bool { return r.Nodes[1].Lost >= 30 })
	s[1].Exec("START REPLICA SQL_THREAD")
	p.until("all seen after all", func(r wire.LagResult) bool { return r.Nodes[1].Unseen == 0 && r.Nodes[1].Samples >= 50 })
	r := p.stop()
	t.Log(describe(r))
	if *r.Nodes[1].MaxMicroseconds < int64(30*20*time.Millisecond/time.Microsecond) {
		t.Errorf("largest lag %d µs, want the time that 30 writes took", *r.Nodes[1].MaxMicroseconds)
	}
}
