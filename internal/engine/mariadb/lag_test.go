package mariadb_test

import (
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mariadb/mariadbtest"
	"replab.dev/internal/wire"
)

// TestAWriteThatComesLateIsNotTakenForTheNext: its session was given up while the server had not carried it out. It then gets the number that
// is foreseen for the next session's first write, and a node that shows it does not show that one.
func TestAWriteThatComesLateIsNotTakenForTheNext(t *testing.T) {
	server := mariadbtest.Start(t, "primary")
	server.Open()
	l := mariadb.NewLag(engine.LagTarget{Writes: server.Endpoint(), Password: familytest.Password, PayloadBytes: []int64{10}, LongestWait: time.Second})
	open := func() *mariadb.LagWriter {
		t.Helper()
		w, err := l.OpenWriter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Close() })
		return w
	}
	write := func(w *mariadb.LagWriter, seq uint64) error {
		t.Helper()
		if err := w.Write(seq, seq, 0); err != nil {
			t.Fatal(err)
		}
		return w.Confirm(seq)
	}

	first := open()
	if err := write(first, 1); err != nil {
		t.Fatal(err)
	}
	db := server.DB(wire.AccountAdmin, wire.Database)
	locks, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer locks.Close()
	if _, err := locks.ExecContext(t.Context(), "LOCK TABLES "+wire.ProbeTable+" WRITE"); err != nil {
		t.Fatal(err)
	}
	late := make(chan error, 1)
	go func() { late <- first.Write(2, 2, 0) }()
	for waits := 0; waits == 0; {
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table%'").Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	second := open() // it learns which number is next before the late write has it
	if _, err := locks.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
	if err := <-late; err != nil {
		t.Fatal(err)
	}
	if err := write(second, 3); err == nil {
		t.Error("the write is taken for one that came before it")
	}
	third := open()
	for seq := range uint64(2) {
		if err := write(third, 4+seq); err != nil {
			t.Error(err)
		}
	}
}
