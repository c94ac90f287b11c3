package mariadb_test

import (
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mariadb/gtid"
	"replab.dev/internal/engine/mariadb/mariadbtest"
	"replab.dev/internal/wire"
)

// TestWhatAKilledServerKeeps: all that was acknowledged, unless durability is Volatile. Then rows are gone whose transactions
// the server still names as executed, since its binary log was handed to the system: nothing may take its word for them.
func TestWhatAKilledServerKeeps(t *testing.T) {
	const writes = 300
	for _, d := range []engine.Durability{engine.Relaxed, engine.Volatile} {
		s := mariadbtest.Start(t, "node", func(x *engine.Settings) { x.Durability = d })
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
		var executed string
		row := s.DB(wire.AccountAdmin, wire.Database).QueryRow("SELECT COUNT(*), @@GLOBAL.gtid_binlog_state FROM probe_writes")
		if err := row.Scan(&rows, &executed); err != nil {
			t.Fatal(err)
		}
		state, err := gtid.Parse(executed)
		if err != nil {
			t.Fatal(err)
		}
		n := state.Beyond(gtid.State{})
		t.Logf("%s: %d of %d rows, %d transactions", d, rows, writes, n)
		if n != writes || rows > writes || (d == engine.Relaxed && rows < writes) {
			t.Errorf("%s: %d rows and %d transactions of %d acknowledged writes", d, rows, n, writes)
		}
	}
}
