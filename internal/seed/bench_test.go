package seed

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/dataset"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
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
	file := writeFile(t, s.data, users)
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

func writeFile(t *testing.T, d *dataset.Dataset, users int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users.tsv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for id := int64(1); id <= users; id++ {
		if _, err := w.Write(appendRow(w.AvailableBuffer(), id, d.User(id))); err != nil {
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
