package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"k8s.io/utils/ptr"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
)

// open is a store on a server, with so many connections for writes and for reads.
func openStore(t *testing.T, s *postgrestest.Server, connections int) store {
	t.Helper()
	opened, err := postgres.NewStore(wire.SocialConfig{
		Writes: s.Endpoint(), Reads: s.Endpoint(), MaxConnections: connections, RequestTimeoutMilliseconds: 20_000,
	}, postgrestest.Password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return store{opened, t}
}

// user is a registration with some last name.
func user(last string) engine.NewUser {
	return engine.NewUser{FirstName: "Ada", LastName: last, PasswordHash: []byte("$2a$04$hash")}
}

// one asks for a value on a server.
func one[T any](t *testing.T, s *postgrestest.Server, query string) (value T) {
	t.Helper()
	conn := s.Connect(wire.AccountAdmin, wire.Database)
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(t.Context(), query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// await returns once a query is true on a server.
func await(t *testing.T, s *postgrestest.Server, query string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) { // between two looks
		if one[bool](t, s, query) {
			return
		}
	}
	t.Fatalf("waited two minutes in vain until %s", query)
}

func TestStore(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	s := openStore(t, server, 4)
	for name, test := range map[string]func(*testing.T, *postgrestest.Server, store){
		"a user is what was registered":            usersAreKept,
		"values that do not fit are rejected":      valuesThatDoNotFit,
		"a second delivery of a write is open":     secondDeliveries,
		"an update changes one row, or finds none": updates,
		"probes": probes,
		"searches take patterns for what they are":   searchesEscape,
		"searches are bounded, and by id":            searchesAreBounded,
		"searches by a last name use its index":      searchesUseTheIndex,
		"who is not there is told from who answered": nobodyThere,
	} {
		t.Run(name, func(t *testing.T) { test(t, server, store{s.Store, t}) })
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func usersAreKept(t *testing.T, server *postgrestest.Server, s store) {
	u := engine.NewUser{
		WriteID: ptr.To[uint64](1 << 40), FirstName: "Анна", LastName: `O'Neil \ "x"`, Birthdate: "1984-02-29", Biography: "line\nline\ttab", City: "Köln",
		PasswordHash: []byte("$2a$04$hash"),
	}
	id, node, err := s.Register(t.Context(), u)
	if err != nil || node != "a-db-0" {
		t.Fatalf("answered by %q: %v", node, err)
	}
	got, node, err := s.Profile(t.Context(), id)
	want := wire.Profile{ID: fmt.Sprint(id), FirstName: u.FirstName, LastName: u.LastName, Birthdate: u.Birthdate, Biography: u.Biography, City: u.City}
	if diff := cmp.Diff(want, got); diff != "" || node != "a-db-0" || err != nil {
		t.Errorf("answered by %q: %v\n%s", node, err, diff)
	}
	if hash, _, err := s.PasswordHash(t.Context(), id); string(hash) != string(u.PasswordHash) || err != nil {
		t.Errorf("hash %q: %v", hash, err)
	}
	if n := one[int64](t, server, "SELECT write_id FROM users WHERE id = "+fmt.Sprint(id)); n != 1<<40 {
		t.Errorf("write id %d", n)
	}
	bare, _, err := s.Register(t.Context(), user("Bare"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := s.Profile(t.Context(), bare); got.Birthdate != "" || got.City != "" {
		t.Errorf("%+v", got)
	}
	if !one[bool](t, server, "SELECT birthdate IS NULL AND write_id IS NULL FROM users WHERE id = "+fmt.Sprint(bare)) {
		t.Error("what was not said is not NULL")
	}
}

func valuesThatDoNotFit(t *testing.T, server *postgrestest.Server, s store) {
	before := one[int64](t, server, "SELECT count(*) FROM users")
	for name, change := range map[string]func(*engine.NewUser){
		"a long name":     func(u *engine.NewUser) { u.LastName = strings.Repeat("я", 257) },
		"no date":         func(u *engine.NewUser) { u.Birthdate = "2001-02-30" },
		"a large id":      func(u *engine.NewUser) { u.WriteID = ptr.To[uint64](1 << 63) },
		"a zero byte":     func(u *engine.NewUser) { u.City = "a\x00b" },
		"no text at all":  func(u *engine.NewUser) { u.City = "a\xffb" },
		"a long hash":     func(u *engine.NewUser) { u.PasswordHash = []byte(strings.Repeat("x", 101)) },
		"a long birthday": func(u *engine.NewUser) { u.Birthdate = "99999999-01-01" },
	} {
		u := user("Fit")
		change(&u)
		_, node, err := s.Register(t.Context(), u)
		if o := outcomeOf(err); o != wire.RejectedValidation || node != "a-db-0" {
			t.Errorf("%s is %q, told by %q: %v", name, o, node, err)
		}
	}
	if after := one[int64](t, server, "SELECT count(*) FROM users"); after != before {
		t.Errorf("%d rows are there nevertheless", after-before)
	}
}

func secondDeliveries(t *testing.T, server *postgrestest.Server, s store) {
	u := user("Twice")
	u.WriteID = ptr.To[uint64](77)
	for i, want := range []string{"", open} {
		if _, node, err := s.Register(t.Context(), u); outcomeOf(err) != want || node != "a-db-0" {
			t.Errorf("delivery %d, answered by %q: %v", i+1, node, err)
		}
	}
	if n := one[int64](t, server, "SELECT count(*) FROM users WHERE write_id = 77"); n != 1 {
		t.Errorf("%d rows", n)
	}
}

func updates(t *testing.T, server *postgrestest.Server, s store) {
	id, _, err := s.Register(t.Context(), user("Changed"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second one changes nothing
		if node, err := s.Update(t.Context(), id, "new"); err != nil || node != "a-db-0" {
			t.Errorf("answered by %q: %v", node, err)
		}
	}
	if n := one[int64](t, server, "SELECT count(*) FROM users WHERE biography = 'new'"); n != 1 {
		t.Errorf("%d rows have the new biography", n)
	}
	if node, err := s.Update(t.Context(), 1<<40, "new"); !errors.Is(err, engine.ErrNoUser) || node != "a-db-0" {
		t.Errorf("an update of nobody was answered by %q: %v", node, err)
	}
}

func probes(t *testing.T, server *postgrestest.Server, s store) {
	for id, payload := range map[uint64][]byte{41: []byte("pay\x00load"), 42: nil} {
		if node, err := s.Probe(t.Context(), id, payload); err != nil || node != "a-db-0" {
			t.Errorf("answered by %q: %v", node, err)
		}
	}
	if _, err := s.Probe(t.Context(), 41, nil); outcomeOf(err) != open {
		t.Errorf("the second one is %v", err)
	}
	if got := one[string](t, server, "SELECT string_agg(id || '=' || encode(payload, 'hex'), ' ' ORDER BY id) FROM probe_writes"); got != "41=706179006c6f6164 42=" {
		t.Errorf("the rows are %s", got)
	}
}

func searchesEscape(t *testing.T, _ *postgrestest.Server, s store) {
	for _, last := range []string{"%ok", "_ok", "|ok", `\ok`, "Plain"} {
		if _, _, err := s.Register(t.Context(), user(last)); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string]string{"%": "%ok", "_": "_ok", "|": "|ok", `\`: `\ok`, "Pla": "Plain"} {
		found, node, err := s.Search(t.Context(), "Ad", prefix)
		if err != nil || node != "a-db-0" || len(found) != 1 || found[0].LastName != want {
			t.Errorf("%s found %+v: %v", prefix, found, err)
		}
	}
	if found, _, err := s.Search(t.Context(), "", "nobody"); err != nil || found == nil || len(found) != 0 {
		t.Errorf("nobody is %+v: %v", found, err)
	}
	if found, _, err := s.Search(t.Context(), "Ada", ""); err != nil || len(found) == 0 {
		t.Errorf("without a last name: %+v: %v", found, err)
	}
}

func searchesAreBounded(t *testing.T, server *postgrestest.Server, s store) {
	server.Exec("INSERT INTO users (first_name, last_name, password) SELECT 'Many', 'Same' || 999 - i, '' FROM generate_series(1, 150) i")
	found, _, err := s.Search(t.Context(), "Man", "Sa")
	if err != nil || len(found) != wire.SearchLimit {
		t.Fatalf("found %d: %v", len(found), err)
	}
	for i, p := range found { // names run against the ids, so that no index yields this order by chance
		if p.LastName != fmt.Sprintf("Same%d", 998-i) {
			t.Fatalf("result %d is %+v: not by id", i, p)
		}
	}
}

// The whole table must not be read for a name, whatever the statistics say.
func searchesUseTheIndex(t *testing.T, server *postgrestest.Server, _ store) {
	server.Exec("INSERT INTO users (first_name, last_name, password) SELECT 'Full', 'Table' || i % 10, '' FROM generate_series(1, 20000) i")
	server.Exec("ANALYZE users")
	conn := server.Connect(wire.AccountApp, wire.Database)
	rows, err := conn.Query(t.Context(), "EXPLAIN "+postgres.Search("T"), pgx.QueryExecModeExec, "Zzz%", "x%", 100)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if text := strings.Join(plan, "\n"); err != nil || !strings.Contains(text, "users_name") || strings.Contains(text, "Seq Scan on users") {
		t.Errorf("%v\n%s", err, text)
	}
}

func nobodyThere(t *testing.T, _ *postgrestest.Server, s store) {
	if _, node, err := s.Profile(t.Context(), 1<<50); !errors.Is(err, engine.ErrNoUser) || node != "a-db-0" {
		t.Errorf("answered by %q: %v", node, err)
	}
	if _, node, err := s.PasswordHash(t.Context(), 1<<50); !errors.Is(err, engine.ErrNoUser) || node != "a-db-0" {
		t.Errorf("answered by %q: %v", node, err)
	}
}

func TestAStandbyTakesNoWritesAndAnswersReads(t *testing.T) {
	primary := postgrestest.Start(t, "a-db-0")
	standby := primary.Standby("a-db-1")
	id, _, err := openStore(t, primary, 1).Register(t.Context(), user("Stone"))
	if err != nil {
		t.Fatal(err)
	}
	standby.CatchUp(primary)
	s := openStore(t, standby, 1)
	if _, node, err := s.Register(t.Context(), user("Stone")); outcomeOf(err) != wire.RejectedReadOnly || node != "a-db-1" {
		t.Errorf("the write is answered by %q: %v", node, err)
	}
	await(t, standby, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'replab-social'")
	if got, node, err := s.Profile(t.Context(), id); err != nil || node != "a-db-1" || got.LastName != "Stone" {
		t.Errorf("the read is answered by %q: %v", node, err)
	}
	primary.Kill()
	standby.Promote()
	if _, node, err := s.Register(t.Context(), user("Stone")); err != nil || node != "a-db-1" {
		t.Errorf("the promoted server's answer, of %q: %v", node, err)
	}
}
