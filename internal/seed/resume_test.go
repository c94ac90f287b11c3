package seed

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/wire"
)

// A row that another transaction has inserted and not committed makes the seeding wait in its sixth chunk.
func blockSixthChunk(t *testing.T, server *mysqltest.Server) *sql.Tx {
	t.Helper()
	server.Exec("TRUNCATE social.users")
	tx, err := server.DB(wire.AccountAdmin, wire.Database).Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO users (id, first_name, last_name, password) VALUES (5500, '', '', '')"); err != nil {
		t.Fatal(err)
	}
	return tx
}

func stoppedRunGoesOn(t *testing.T, primary, _ *mysqltest.Server) {
	tx := blockSixthChunk(t, primary)
	s := seeder1(t, primary, 8_500)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx) }()
	awaitRows(t, primary, 5_000)
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("a run that was stopped returned %v", err)
	}
	_ = tx.Rollback()
	if err := seeder1(t, primary, 8_500).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, primary, "SELECT COUNT(*) FROM users WHERE id BETWEEN 1 AND 8500"); n != 8_500 {
		t.Fatalf("%d rows", n)
	}
}

func awaitRows(t *testing.T, server *mysqltest.Server, rows int) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for value[int](t, server, "SELECT COUNT(*) FROM users") != rows {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not %d rows within a minute", rows)
		}
	}
}

func killedServer(t *testing.T, primary, _ *mysqltest.Server) {
	blockSixthChunk(t, primary)
	s := seeder1(t, primary, 8_500)
	s.retry = 10 * time.Millisecond
	ended := make(chan error, 1)
	go func() { ended <- s.run(t.Context()) }()
	awaitRows(t, primary, 5_000)
	primary.Kill()
	primary.Run()
	primary.Open()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, primary, "SELECT COUNT(*) FROM users WHERE id BETWEEN 1 AND 8500"); n != 8_500 {
		t.Fatalf("%d rows", n)
	}
}
