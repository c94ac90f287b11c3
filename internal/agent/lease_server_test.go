package agent

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

func TestAPausedServerHasNoRoleAndIsFencedWhenItIsBack(t *testing.T) {
	enginetest.Each(t, pausedServerIsFenced)
}

func pausedServerIsFenced(t *testing.T, flavor enginetest.Flavor) {
	s := flavor.Start(t, "node")
	a := serve(t, configOf(t, s))
	a.leads(s, 2000)

	record := a.fault(wire.FaultPause, "hang", -1)
	if !record.Confirmed {
		t.Fatalf("record: %+v", record)
	}
	a.becomes(wire.AgentPathReady, false)
	if a.is(wire.AgentPathPrimary) {
		t.Error("a paused server is the primary")
	}
	if st := a.state(); st.ServerPID == 0 || !slices.Equal(st.Holds, []string{"hang"}) {
		t.Errorf("state of a paused server: %+v", st)
	}
	agenttest.Eventually(t, "the lease is over", func() bool { return !a.held() })
	code, body := a.ask(http.MethodPost, wire.AgentPathLease, wire.Lease{TTLMilliseconds: long}, nil)
	if code != http.StatusConflict {
		t.Errorf("a lease for a server that could not be fenced: %d %s", code, body)
	}
	if code, _ := a.ask(http.MethodPost, wire.AgentPathFence, nil, nil); code != http.StatusServiceUnavailable {
		t.Errorf("fencing a paused server is answered %d", code)
	}

	a.release("hang")
	a.becomes(wire.AgentPathReady, true)
	agenttest.Eventually(t, "it is fenced", func() bool { return readOnly(t, s) })
	a.take(long)
	s.Open()
	a.becomes(wire.AgentPathPrimary, true)
}

func TestAnExpiredLeaseFencesTheServerAndEndsTheAppsConnections(t *testing.T) {
	enginetest.Each(t, expiredLeaseFences)
}

func expiredLeaseFences(t *testing.T, flavor enginetest.Flavor) {
	s := flavor.Start(t, "node")
	a := serve(t, configOf(t, s))
	a.take(long)
	s.Open()
	app, probe := connection(t, s, wire.AccountApp), connection(t, s, wire.AccountProbe)
	if _, err := app.ExecContext(t.Context(), "BEGIN; INSERT INTO probe_writes VALUES (1, 'x')"); err != nil {
		t.Fatal(err)
	}
	longest := time.Duration(0)                             // without a renewal
	for asked, round := time.Now(), 0; round < 5; round++ { // well beyond the first lease's end
		next := time.Now()
		a.take(3000)
		longest, asked = max(longest, time.Since(asked)), next
		agenttest.Eventually(t, "time passes", func() bool { return time.Since(asked) > 700*time.Millisecond })
	}
	if closed := readOnly(t, s); closed && longest < 2*time.Second {
		t.Fatalf("the server was fenced while its lease was renewed, every %s at the latest", longest)
	}
	agenttest.Eventually(t, "it is fenced", func() bool { return readOnly(t, s) })
	if a.held() || a.is(wire.AgentPathPrimary) {
		t.Error("the lease stands after its end")
	}
	agenttest.Eventually(t, "the app's connection is ended", func() bool { return app.PingContext(t.Context()) != nil })
	if err := probe.PingContext(t.Context()); err != nil {
		t.Errorf("the probe's connection was ended as well: %v", err)
	}
	var rows int
	must(t, probe.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM probe_writes").Scan(&rows))
	if rows != 0 {
		t.Error("the open transaction was committed")
	}

	s.Open() // by somebody who has no lease
	agenttest.Eventually(t, "it is fenced again", func() bool { return readOnly(t, s) })
	a.take(long)
	s.Open()
	a.becomes(wire.AgentPathPrimary, true)
	if code, body := a.ask(http.MethodPost, wire.AgentPathFence, nil, nil); code != http.StatusOK || a.held() || !readOnly(t, s) {
		t.Errorf("fence on request: %d %s", code, body)
	}
}

// A commit that waits for a replica's acknowledgement holds fencing up. Its client must not hear of it meanwhile.
func TestFencingEndsClientsWhoseCommitsStillWait(t *testing.T) {
	enginetest.Each(t, fencingEndsClients)
}

func fencingEndsClients(t *testing.T, flavor enginetest.Flavor) {
	s := flavor.Start(t, "node", enginetest.SemiSync(1, 4*time.Second))
	a := serve(t, configOf(t, s))
	a.take(long)
	s.Open()
	s.Exec(flavor.AwaitSQL)
	app := connection(t, s, wire.AccountApp)
	acknowledged := make(chan error, 1)
	go func() {
		_, err := app.ExecContext(context.Background(), "INSERT INTO probe_writes VALUES (1, 'x')")
		acknowledged <- err
	}()
	admin := s.DB(wire.AccountAdmin, "")
	agenttest.Eventually(t, "the commit waits for a replica", func() bool {
		var waiting int
		must(t, admin.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE state LIKE 'Waiting for semi-sync ACK%'").Scan(&waiting))
		return waiting == 1
	})
	_, _ = a.ask(http.MethodPost, wire.AgentPathFence, nil, nil)
	if err := <-acknowledged; err == nil {
		t.Error("the commit was acknowledged to its client after the fence")
	}
	agenttest.Eventually(t, "it is fenced", func() bool { return readOnly(t, s) })
}

func TestALeaseIsForgottenByTheNextAgentAndTheServerFenced(t *testing.T) {
	s := enginetest.Start(t, "node")
	cfg := configOf(t, s)
	const ttl = 2500 * time.Millisecond
	first := serve(t, cfg)
	first.leads(s, ttl.Milliseconds())
	first.take(ttl.Milliseconds())
	first.stop()
	ended := time.Now()

	second := serve(t, cfg)
	second.becomes(wire.AgentPathReady, true)
	if second.held() || second.is(wire.AgentPathPrimary) {
		t.Error("the next agent has the lease of the last")
	}
	agenttest.Eventually(t, "it is fenced", func() bool { return readOnly(t, s) })
	if after := time.Since(ended); after < ttl {
		t.Errorf("fenced %s after the restart, before the holder had its ttl", after)
	}
	second.stop()

	third := serve(t, cfg)
	third.take(long)
	s.Open()
	third.becomes(wire.AgentPathPrimary, true)
}
