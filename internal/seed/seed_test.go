package seed

import (
	"strings"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/dataset"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/password"
	"replab.dev/internal/wire"
)

func config(t *testing.T, server *mysqltest.Server, users int64) wire.SeedConfig {
	return wire.SeedConfig{
		Engine: "MySQL", Writes: server.Endpoint(), SecretDir: secrettest.SecretDir(t), Users: users, Seed: 1, Locale: "ru",
		PasswordHash: v1alpha1.PasswordSHA256,
	}
}

// value asks server for one value.
func value[T any](t *testing.T, server *mysqltest.Server, query string) (v T) {
	t.Helper()
	if err := server.DB(wire.AccountAdmin, wire.Database).QueryRow(query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func TestSeed(t *testing.T) {
	primary, replica := mysqltest.Start(t, "primary"), mysqltest.Start(t, "replica")
	replica.Replicate(primary)
	for _, c := range []struct {
		name string
		test func(t *testing.T, primary, replica *mysqltest.Server)
	}{
		{"a server that takes no writes is waited for", readOnlyIsWaitedFor},
		{"the rows are the dataset's", rowsAreTheDatasets},
		{"a second run changes nothing", secondRunChangesNothing},
		{"more users are added to those that are there", moreUsersAreAdded},
		{"another seed is refused", anotherSeedIsRefused},
		{"a missing row is found", missingRowIsFound},
		{"a run that was stopped goes on where it was", stoppedRunGoesOn},
		{"a server that is killed is seeded to the end when it is back", killedServer},
		{"ids count on after the users, on a promoted replica too", idsCountOn},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, primary, replica) })
	}
}

func readOnlyIsWaitedFor(t *testing.T, primary, _ *mysqltest.Server) {
	s := seeder1(t, primary, 10)
	s.stall = 0
	if err := s.run(t.Context()); err == nil || !strings.Contains(err.Error(), "1290") || !strings.Contains(err.Error(), "after user 0") {
		t.Fatalf("a server that stays read-only: %v", err)
	}
	s.stall, s.retry = time.Minute, time.Millisecond
	ended := make(chan error, 1)
	go func() { ended <- s.run(t.Context()) }()
	primary.Open()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// seeder1 seeds in chunks of 1,000.
func seeder1(t *testing.T, server *mysqltest.Server, users int64) *seeder {
	t.Helper()
	s, err := newSeeder(config(t, server, users), Opens(mysql.NewLoader))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.loader.Close() })
	s.chunkRows = 1_000
	return s
}

func rowsAreTheDatasets(t *testing.T, primary, _ *mysqltest.Server) {
	primary.Exec("TRUNCATE social.users")
	const users = 2_500
	if err := seeder1(t, primary, users).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.New(1, "ru")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := primary.DB(wire.AccountProbe, wire.Database).Query(
		"SELECT id, first_name, last_name, birthdate, biography, city FROM users WHERE write_id IS NULL ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	want := int64(1)
	for ; rows.Next(); want++ {
		var id int64
		var u dataset.User
		if err := rows.Scan(&id, &u.FirstName, &u.LastName, &u.Birthdate, &u.Biography, &u.City); err != nil {
			t.Fatal(err)
		}
		if id != want || u != d.User(id) {
			t.Fatalf("row %d is %d %+v", want, id, u)
		}
	}
	if err := rows.Err(); err != nil || want != users+1 {
		t.Fatalf("%d rows, %v", want-1, err)
	}
	if n := value[int](t, primary, "SELECT COUNT(DISTINCT password) FROM users"); n != 1 {
		t.Fatalf("%d different hashes", n)
	}
	hash := value[string](t, primary, "SELECT MIN(password) FROM users")
	if right, err := password.Matches([]byte(hash), wire.SeededPassword); !right || err != nil {
		t.Fatalf("hash %s: %v", hash, err)
	}
}

func secondRunChangesNothing(t *testing.T, primary, _ *mysqltest.Server) {
	const executed = "SELECT @@GLOBAL.gtid_executed"
	before := value[string](t, primary, executed)
	if err := Run(t.Context(), config(t, primary, 2_500), Opens(mysql.NewLoader)); err != nil {
		t.Fatal(err)
	}
	if after := value[string](t, primary, executed); after != before {
		t.Fatalf("transactions %s became %s", before, after)
	}
}

func moreUsersAreAdded(t *testing.T, primary, _ *mysqltest.Server) {
	primary.Exec("INSERT INTO social.users (id, write_id, first_name, last_name, password) VALUES (900000, 1, '', '', '')") // the load's
	defer primary.Exec("DELETE FROM social.users WHERE id = 900000")
	if err := seeder1(t, primary, 3_700).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, primary, "SELECT COUNT(*) FROM users WHERE id <= 3700"); n != 3_700 {
		t.Fatalf("%d rows", n)
	}
}

func anotherSeedIsRefused(t *testing.T, primary, _ *mysqltest.Server) {
	cfg := config(t, primary, 5_000)
	cfg.Seed = 2
	if err := Run(t.Context(), cfg, Opens(mysql.NewLoader)); err == nil || !strings.Contains(err.Error(), "filled otherwise") {
		t.Fatalf("error is %v", err)
	}
	if n := value[int](t, primary, "SELECT COUNT(*) FROM users"); n != 3_700 {
		t.Fatalf("%d rows", n)
	}
}

func missingRowIsFound(t *testing.T, primary, _ *mysqltest.Server) {
	primary.Exec("DELETE FROM social.users WHERE id = 5")
	if err := Run(t.Context(), config(t, primary, 3_700), Opens(mysql.NewLoader)); err == nil || !strings.Contains(err.Error(), "holds 3699 of the users 1 to 3700") {
		t.Fatalf("error is %v", err)
	}
	primary.Exec("TRUNCATE social.users")
}

func idsCountOn(t *testing.T, primary, replica *mysqltest.Server) {
	replica.CatchUp(primary)
	replica.Exec("STOP REPLICA")
	replica.Open()
	for _, server := range []*mysqltest.Server{primary, replica} {
		server.Exec("INSERT INTO social.users (first_name, last_name, password) VALUES ('', '', '')")
		if id := value[int64](t, server, "SELECT MAX(id) FROM users"); id != 8_501 {
			t.Fatalf("%s gave the id %d", server.Name, id)
		}
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	good := wire.SeedConfig{Engine: "MySQL", Locale: "en", SecretDir: secrettest.SecretDir(t), PasswordHash: v1alpha1.PasswordSHA256}
	for want, change := range map[string]func(*wire.SeedConfig){
		"negative": func(c *wire.SeedConfig) { c.Users = -1 },
		"locale":   func(c *wire.SeedConfig) { c.Locale = "de" },
		"secret":   func(c *wire.SeedConfig) { c.SecretDir = t.TempDir() },
	} {
		bad := good
		change(&bad)
		if err := Run(t.Context(), bad, Opens(mysql.NewLoader)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one about %s", err, want)
		}
	}
}
