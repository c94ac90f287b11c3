package family_test

import (
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/wire"
)

// TestWhatAKilledServerKeeps: all that was acknowledged, unless durability is Volatile. Then rows are gone whose transactions
// the server still names as executed, since its binary log was handed to the system: nothing may take its word for them.
func TestWhatAKilledServerKeeps(t *testing.T) { enginetest.Each(t, whatAKilledServerKeeps) }

func whatAKilledServerKeeps(t *testing.T, f familytest.Flavor) {
	const writes = 300
	for _, d := range []engine.Durability{engine.Relaxed, engine.Volatile} {
		s := f.Start(t, "node", func(x *engine.Settings) { x.Durability = d })
		s.Open()
		app := s.DB(wire.AccountApp, wire.Database)
		for i := range writes {
			if _, err := app.Exec("INSERT INTO probe_writes VALUES (?, 'x')", i); err != nil {
				t.Fatal(err)
			}
		}
		s.Kill()
		s.Run()
		var rows int64
		if err := s.DB(wire.AccountAdmin, wire.Database).QueryRow("SELECT COUNT(*) FROM probe_writes").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		n := executed(t, s)
		t.Logf("%s: %d of %d rows, %d transactions", d, rows, writes, n)
		if n != writes || rows > writes || (d == engine.Relaxed && rows < writes) {
			t.Errorf("%s: %d rows and %d transactions of %d acknowledged writes", d, rows, n, writes)
		}
	}
}

// executed is how many transactions a server names as executed.
func executed(t *testing.T, s *familytest.Server) int64 {
	t.Helper()
	a, err := s.Flavor.OpenAdmin(engine.AdminParams{Host: "127.0.0.1", Port: s.Port, AdminPassword: familytest.Password})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	look, err := a.Look(t.Context(), engine.Question{})
	if err != nil {
		t.Fatal(err)
	}
	return look.Executed.Count()
}
