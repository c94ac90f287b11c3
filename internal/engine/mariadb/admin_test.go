package mariadb_test

import (
	"fmt"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mariadb/mariadbtest"
)

func openAdmin(t *testing.T, s *familytest.Server) engine.Admin {
	t.Helper()
	a, err := mariadb.OpenAdmin(engine.AdminParams{
		Host: "127.0.0.1", Port: s.Port, AdminPassword: familytest.Password, ReplicationPassword: familytest.Password,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// TestWhatWasReceivedIsNotThrownAway: a server that starts a thread while neither runs forgets what it has received.
func TestWhatWasReceivedIsNotThrownAway(t *testing.T) {
	primary, one, other := mariadbtest.Start(t, "primary"), mariadbtest.Start(t, "one"), mariadbtest.Start(t, "other")
	primary.Open()
	primary.Exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
	a, b := received(t, primary, one), received(t, primary, other)
	for i := range 5 {
		primary.Exec(fmt.Sprintf("INSERT INTO social.probe_writes VALUES (%d, 'x')", 10+i))
	}
	for _, x := range []engine.Admin{a, b} {
		l := look(t, x)
		for deadline := time.Now().Add(time.Minute); l.Received.Count() != 6 && time.Now().Before(deadline); l = look(t, x) {
			time.Sleep(10 * time.Millisecond) // between two looks
		}
		if l.Received.Count() != 6 || l.Executed.Count() != 1 || l.Applying || l.Receiver != engine.ReceiverOn {
			t.Fatalf("received %s, executed %s, %+v", l.Received, l.Executed, l)
		}
	}
	primary.Kill()

	if err := a.Turn(t.Context(), engine.StopReceiving); err != nil {
		t.Fatal(err)
	}
	if err := a.CatchUp(t.Context(), look(t, a).Received, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	if l := look(t, a); l.Executed.Count() != 6 || l.Receiver != engine.ReceiverOff {
		t.Errorf("executed %s, receiver %s: what had been received must be applied", l.Executed, l.Receiver)
	}

	other.Exec("STOP REPLICA IO_THREAD") // by somebody else: now neither runs
	if err := b.Turn(t.Context(), engine.StartApplying); err == nil {
		t.Error("the applying thread was started while neither ran")
	}
	if l := look(t, b); l.Received.Count() != 6 {
		t.Errorf("received %s: what had been received is gone", l.Received)
	}
	other.Exec("START REPLICA SQL_THREAD") // what is refused above
	if l := look(t, b); l.Received.Count() != 1 {
		t.Errorf("started alone, the server has received %s: it no longer throws that away, and need not be kept from it", l.Received)
	}
}

// received makes a server a replica that receives and does not apply.
func received(t *testing.T, primary, replica *familytest.Server) engine.Admin {
	t.Helper()
	a := openAdmin(t, replica)
	if err := a.Attach(t.Context(), engine.Source{Name: "primary", Host: "127.0.0.1", Port: primary.Port}); err != nil {
		t.Fatal(err)
	}
	replica.CatchUp(primary)
	replica.Exec("STOP REPLICA SQL_THREAD")
	return a
}

func look(t *testing.T, a engine.Admin) engine.Look {
	t.Helper()
	l, err := a.Look(t.Context(), engine.Question{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}
