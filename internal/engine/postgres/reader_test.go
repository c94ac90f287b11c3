package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
)

// content is what a reader tells of users.
type content struct {
	ids      []uint64
	nulls    int64
	rows     int64
	checksum string
}

func read(t *testing.T, s *postgrestest.Server) (c content) {
	t.Helper()
	r, err := postgres.OpenReader(t.Context(), fmt.Sprintf("%s:%d", s.Endpoint().Host, s.Port), postgrestest.Password)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = r.IDs(t.Context(), wire.UsersTable, "write_id", func(id uint64, null bool) error {
		if null {
			c.nulls++
		} else {
			c.ids = append(c.ids, id)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(c.ids)
	if c.rows, err = r.Count(t.Context(), wire.UsersTable); err != nil {
		t.Fatal(err)
	}
	if c.checksum, err = r.Checksum(t.Context(), wire.UsersTable); err != nil {
		t.Fatal(err)
	}
	return c
}

// writeRows makes rows with these write ids.
func writeRows(s *postgrestest.Server, ids ...string) {
	for _, id := range ids {
		s.Exec("INSERT INTO users (write_id, first_name, last_name, birthdate, password) VALUES (" + id + ", 'a', 'b', '1990-01-01', 'c')")
	}
}

func TestReaderFindsEveryIDOnEveryNode(t *testing.T) {
	primary := postgrestest.Start(t, "a-db-0")
	standby := primary.Standby("a-db-1")
	if c := read(t, primary); c.rows != 0 || c.ids != nil || c.nulls != 0 || c.checksum != "0" {
		t.Errorf("an empty table is %+v", c)
	}
	writeRows(primary, "0", "62", "63", "64", "126", "127", "128", "9223372036854775807", "9223372036854775744", "NULL", "NULL")
	primary.Exec("INSERT INTO users (write_id, first_name, last_name, password) SELECT i, 'a', 'b', 'c' FROM generate_series(1000, 1999) i") // whole blocks
	standby.CatchUp(primary)
	want := []uint64{0, 62, 63, 64, 126, 127, 128}
	for id := uint64(1000); id < 2000; id++ {
		want = append(want, id)
	}
	want = append(want, 1<<63-64, 1<<63-1)
	var checksums []string
	for _, s := range []*postgrestest.Server{primary, standby} {
		c := read(t, s)
		if !slices.Equal(c.ids, want) || c.nulls != 2 || c.rows != int64(len(want))+2 {
			t.Errorf("%s has %v, %d without an id, %d in all", s.Name, c.ids, c.nulls, c.rows)
		}
		checksums = append(checksums, c.checksum)
	}
	if checksums[0] != checksums[1] {
		t.Errorf("the checksums differ: %v", checksums)
	}
	for _, change := range []string{
		"UPDATE users SET biography = 'x' WHERE write_id = 64", "UPDATE users SET birthdate = '1990-01-02' WHERE write_id = 64",
		"UPDATE users SET first_name = 'a,b', last_name = '' WHERE write_id = 64", "UPDATE users SET first_name = 'a', last_name = 'b,' WHERE write_id = 64",
	} {
		primary.Exec(change)
		if now := read(t, primary).checksum; slices.Contains(checksums, now) {
			t.Errorf("after %s the checksum is one of before", change)
		} else {
			checksums = append(checksums, now)
		}
	}
}

func TestReaderFindsDuplicatesAndWhatIsNone(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	server.Exec("DROP INDEX users_write_id")
	server.Exec("ALTER TABLE users DROP CONSTRAINT users_write_id_check")
	writeRows(server, "5", "5", "63", "63", "63", "64", "9223372036854775807", "9223372036854775807", "-1", "-9223372036854775808")
	c := read(t, server)
	if want := []uint64{5, 5, 63, 63, 63, 64, 1<<63 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1}; !slices.Equal(c.ids, want) {
		t.Errorf("%v, want %v", c.ids, want)
	}
}

// TestWorkersHelpAReader: whatever the server believes of the ids, which after the seeding is that there are none.
func TestWorkersHelpAReader(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	const insert = "INSERT INTO users (write_id, first_name, last_name, password) SELECT %s, 'a', 'b', 'c' FROM generate_series(1, %d) i; ANALYZE users"
	for _, c := range []struct{ believed, statement string }{
		{"that there are none", fmt.Sprintf(insert, "NULL", 200_000)},
		{"that each is there once", fmt.Sprintf(insert, "i", 400_000)},
	} {
		server.Exec(c.statement)
		plan := one[string](t, server, "EXPLAIN (FORMAT JSON) "+postgres.BlocksQuery(wire.UsersTable, "write_id"))
		if !strings.Contains(plan, `"Workers Planned"`) || !strings.Contains(plan, `"Partial Mode": "Partial"`) {
			t.Errorf("the server believes %s:\n%s", c.believed, plan)
		}
	}
	if c := read(t, server); len(c.ids) != 400_000 || c.nulls != 200_000 || c.rows != 600_000 {
		t.Errorf("%d ids, %d rows without one, %d rows", len(c.ids), c.nulls, c.rows)
	}
}

func TestReaderReadsOneMomentWhateverTheServersLimits(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	limits := []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"}
	for _, limit := range limits {
		server.Exec("ALTER ROLE " + wire.AccountProbe + " SET " + limit + " = '1h'")
	}
	r, err := postgres.OpenReader(t.Context(), fmt.Sprintf("%s:%d", server.Endpoint().Host, server.Port), postgrestest.Password)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, limit := range limits {
		if value, err := r.Show(t.Context(), limit); value != "0" || err != nil {
			t.Errorf("%s is %q: %v", limit, value, err)
		}
	}
	server.Exec("INSERT INTO users (write_id, first_name, last_name, password) SELECT i, 'a', 'b', 'c' FROM generate_series(1, 100000) i")
	if n, err := r.Count(t.Context(), wire.UsersTable); n != 0 || err != nil {
		t.Errorf("%d rows came after the snapshot: %v", n, err)
	}
	if err := r.Ping(t.Context()); err != nil {
		t.Errorf("its connection stands: %v", err)
	}
	stop := errors.New("stop")
	if err := r.IDs(t.Context(), wire.ProbeTable, "payload", func(uint64, bool) error { return nil }); err == nil {
		t.Error("a column without ids was read")
	}
	if err := r.IDs(t.Context(), wire.UsersTable, "write_id", func(uint64, bool) error { return stop }); err != nil {
		t.Errorf("nothing was there to visit: %v", err)
	}
	server.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'replab-audit'")
	if _, err := r.Count(t.Context(), wire.UsersTable); err == nil || r.Ping(t.Context()) == nil {
		t.Errorf("its connection was ended: %v", err)
	}
	if c := read(t, server); c.rows != 100_000 || len(c.ids) != 100_000 {
		t.Errorf("%d rows, %d ids", c.rows, len(c.ids))
	}
}
