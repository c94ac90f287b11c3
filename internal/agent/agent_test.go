package agent

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

// long is a lease that does not expire in a test.
const long = 600_000

func TestRolesOfAPair(t *testing.T) { enginetest.Each(t, rolesOfAPair) }

func rolesOfAPair(t *testing.T, flavor enginetest.Flavor) {
	primary, replica := flavor.Start(t, "primary"), flavor.Start(t, "replica")
	p, r := serve(t, configOf(t, primary)), serve(t, configOf(t, replica))
	p.becomes(wire.AgentPathReady, true)
	if p.is(wire.AgentPathPrimary) || p.is(wire.AgentPathReplica) {
		t.Error("a server that boots has a role already")
	}
	primary.Open()
	agenttest.Eventually(t, "it is seen to be writable", func() bool { return strings.Contains(p.why(wire.AgentPathPrimary), "no lease stands") })
	p.take(long)
	p.becomes(wire.AgentPathPrimary, true)

	replica.Replicate(primary)
	r.becomes(wire.AgentPathReplica, true)
	if s := r.state(); s.PodUID != agenttest.PodUID || s.ServerPID != int64(replica.Process().Pid) || len(s.Holds) > 0 {
		t.Errorf("state of the replica: %+v", s)
	}

	replica.Exec("STOP REPLICA SQL_THREAD")
	r.becomes(wire.AgentPathReplica, false)
	replica.Exec("START REPLICA SQL_THREAD")
	r.becomes(wire.AgentPathReplica, true)

	primary.Kill()
	p.becomes(wire.AgentPathReady, false)
	if s := p.state(); s.ServerPID != 0 {
		t.Errorf("state of a dead server: %+v", s)
	}
	if code, _ := p.ask(http.MethodGet, wire.AgentPathResources, nil, nil); code != http.StatusServiceUnavailable {
		t.Errorf("resources of a dead server are answered %d", code)
	}
	connected := replica.DB(wire.AccountAdmin, "")
	agenttest.Eventually(t, "the replica notices that its source is gone", func() bool {
		var state string
		must(t, connected.QueryRow(flavor.ReceiverSQL).Scan(&state))
		return state != "ON" && state != "Yes"
	})
	r.becomes(wire.AgentPathReplica, true) // it still serves reads
}

func TestWhereThereAreNoLeasesTheServerAloneDecides(t *testing.T) {
	s := enginetest.Start(t, "node")
	cfg := configOf(t, s)
	cfg.Leases = false
	a := serve(t, cfg)
	a.becomes(wire.AgentPathReady, true)
	if a.is(wire.AgentPathPrimary) {
		t.Error("a server that is read-only is a primary")
	}
	s.Open()
	a.becomes(wire.AgentPathPrimary, true)
	for _, path := range []string{wire.AgentPathLease, wire.AgentPathFence} {
		if code, _ := a.ask(http.MethodPost, path, wire.Lease{TTLMilliseconds: 1}, nil); code != http.StatusNotFound {
			t.Errorf("POST %s is answered %d, want 404", path, code)
		}
	}
	if readOnly(t, s) {
		t.Error("it was fenced")
	}
}

func TestKilledAndHeldUnderTheRealWrapper(t *testing.T) {
	n := agenttest.NewNode(t).WithData()
	w := n.Wrapper()
	n.Ready(w)
	a := serve(t, n.Agent)
	a.becomes(wire.AgentPathReady, true)
	before := a.state()
	record := a.fault(wire.FaultKill, "crash", -1)
	if !record.Confirmed || !strings.Contains(record.Evidence, "is gone") {
		t.Fatalf("record: %+v", record)
	}
	if code := w.Wait(t); code != 137 {
		t.Errorf("the wrapper exits with %d, want 137", code)
	}
	next := n.Wrapper() // by the kubelet
	agenttest.Eventually(t, "it waits", func() bool { return strings.Contains(next.Output(t), "fault crash until it is released") })
	if s := a.state(); s.ServerPID != 0 || !slices.Equal(s.Holds, []string{"crash"}) {
		t.Errorf("state while held: %+v", s)
	}
	if r := a.release("crash"); r.ReleasedAt == nil {
		t.Errorf("record: %+v", r)
	}
	a.becomes(wire.AgentPathReady, true)
	s := a.state()
	if s.ServerPID == before.ServerPID || len(s.Holds) > 0 || !readOnly(t, n.Server) {
		t.Errorf("state after: %+v, before: %+v", s, before)
	}
	if again := a.fault(wire.FaultKill, "crash", -1); !again.InjectedAt.Equal(record.InjectedAt) || a.state().ServerPID != s.ServerPID {
		t.Error("the same request again was carried out again")
	}

	timed := a.fault(wire.FaultKill, "short", 1500)
	next.Wait(t)
	third := n.Wrapper()
	n.Ready(third)
	started := startedAt(t, n)
	if timed.HeldUntil.Sub(timed.InjectedAt.Time) != 1500*time.Millisecond || started.Add(10*time.Millisecond).Before(timed.HeldUntil.Time) {
		t.Errorf("held until %s, and started at %s", timed.HeldUntil, started)
	}
}

// startedAt is when the node's server began.
func startedAt(t *testing.T, n *agenttest.Node) time.Time {
	t.Helper()
	p, err := proc.NewFinder(n.Agent.Process, func(argv []string) bool { return n.Server.Flavor.Roles.IsServer(n.Agent.Server, argv) }).Find()
	must(t, err)
	at, err := p.StartedAt()
	must(t, err)
	return at
}

func readOnly(t *testing.T, s *enginetest.Server) bool {
	t.Helper()
	var on bool
	db := s.DB(wire.AccountAdmin, "")
	defer db.Close()
	must(t, db.QueryRow(s.Flavor.ClosedSQL).Scan(&on))
	return on
}
