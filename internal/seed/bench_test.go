package seed

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/dataset"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
)

// TestBenchBesideBareLoadData measures how long 1,000,000 users take beside a bare LOAD DATA of a file with the same rows,
// on one server. It asserts only that all rows arrive.
func TestBenchBesideBareLoadData(t *testing.T) {
	benchmark.Skip(t)
	const users, pairs = 1_000_000, 3
	server := mysqltest.Start(t, "primary",
		mysqltest.Parameter("innodb-redo-log-capacity", "268435456"), mysqltest.Parameter("innodb-buffer-pool-size", "134217728"))
	server.Open()
	s, err := newSeeder(config(t, server, users), Opens(mysql.NewLoader))
	if err != nil {
		t.Fatal(err)
	}
	defer s.loader.Close()
	file := writeFile(t, s.data, users, "")
	seeded, bare := benchmark.Pairs(pairs,
		func() time.Duration { return timed(t, server, func() error { return s.run(t.Context()) }) },
		func() time.Duration {
			return timed(t, server, func() error { return loadFile(t.Context(), server, s, file, users) })
		})
	speed := func(took time.Duration) float64 { return users / took.Seconds() }
	benchmark.OfPairs(fmt.Sprintf("seed of %d users beside a bare LOAD DATA", users), benchmark.Both(seeded, "seed", bare, "bare", speed, "/s"),
		benchmark.Ratios(seeded, bare, speed), benchmark.AtLeast(0.5)).Print()
}

// timed returns how long load takes on an empty table.
func timed(t *testing.T, server *mysqltest.Server, load func() error) time.Duration {
	t.Helper()
	server.Exec("TRUNCATE social.users")
	start := time.Now()
	if err := load(); err != nil {
		t.Fatal(err)
	}
	return time.Since(start)
}

// writeFile writes the rows of users, each with more at its end, and returns the file's path.
func writeFile(t *testing.T, d *dataset.Dataset, users int64, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users.tsv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for id := int64(1); id <= users; id++ {
		row := bytes.TrimSuffix(appendRow(w.AvailableBuffer(), id, d.User(id)), []byte("\n"))
		if _, err := w.Write(append(append(row, more...), '\n')); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return path
}

func loadFile(ctx context.Context, server *mysqltest.Server, s *seeder, path string, users int64) error {
	driver.RegisterLocalFile(path)
	defer driver.DeregisterLocalFile(path)
	_, err := server.DB(wire.AccountApp, wire.Database).ExecContext(ctx, "LOAD DATA LOCAL INFILE '"+path+"' INTO TABLE users CHARACTER SET utf8mb4 ("+
		columns+") SET password = '"+s.passwordHash+"'")
	if err != nil {
		return err
	}
	return verify(ctx, s.loader, users)
}

// copied is how long a bare COPY took, and how long with what the seeding does once all users are there.
type copied struct{ bare, finished time.Duration }

// TestBenchBesideBareCopy measures how long 1,000,000 users take beside a bare COPY of a file with the same rows by psql, on one
// server, and beside one after which the rows are counted and the table is cleaned up, as the seeding does. It asserts only that all
// rows arrive.
func TestBenchBesideBareCopy(t *testing.T) {
	benchmark.Skip(t)
	const users, pairs = 1_000_000, 3
	server := postgrestest.Start(t, "primary", postgrestest.Parameter("shared_buffers", "128MB"))
	s, err := newSeeder(wire.SeedConfig{
		Engine: "PostgreSQL", Writes: server.Endpoint(), SecretDir: secrettest.SecretDir(t), Users: users, Seed: 1, Locale: "ru",
		PasswordHash: v1alpha1.PasswordSHA256,
	}, Opens(postgres.NewLoader))
	if err != nil {
		t.Fatal(err)
	}
	defer s.loader.Close()
	file := writeFile(t, s.data, users, "\t"+s.passwordHash)
	seededIn, copies := benchmark.Pairs(pairs, func() copied {
		server.Exec("TRUNCATE " + wire.UsersTable)
		began := time.Now()
		if err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		return copied{took, took}
	}, func() copied {
		server.Exec("TRUNCATE " + wire.UsersTable)
		return copyFile(t, server, s, file, users)
	})
	for _, c := range []struct {
		what, beside string
		took         func(copied) time.Duration
		target       benchmark.Target
	}{
		{fmt.Sprintf("seed of %d users beside a bare COPY", users), "bare", func(c copied) time.Duration { return c.bare }, benchmark.AtLeast(0.5)},
		{"  beside one with count and clean-up", "COPY", func(c copied) time.Duration { return c.finished }, benchmark.Target{}},
	} {
		speed := func(measured copied) float64 { return users / c.took(measured).Seconds() }
		benchmark.OfPairs(c.what, benchmark.Both(seededIn, "seed", copies, c.beside, speed, "/s"),
			benchmark.Ratios(seededIn, copies, speed), c.target).Print()
	}
}

func copyFile(t *testing.T, server *postgrestest.Server, s *seeder, path string, users int64) copied {
	t.Helper()
	text, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	psql := postgrestest.Command(t, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c",
		"COPY "+wire.UsersTable+" ("+columns+", password) FROM STDIN")
	psql.Env = append(psql.Env, "PGHOST="+server.Endpoint().Host, fmt.Sprintf("PGPORT=%d", server.Port), "PGUSER="+wire.AccountApp,
		"PGPASSWORD="+postgrestest.Password, "PGDATABASE="+wire.Database)
	psql.Stdin = text
	began := time.Now()
	if out, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	bare := time.Since(began)
	if err := verify(t.Context(), s.loader, users); err != nil {
		t.Fatal(err)
	}
	return copied{bare, time.Since(began)}
}
