package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/dataset"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
)

const seededColumns = "id, first_name, last_name, birthdate, biography, city"

func TestLoader(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	l, err := postgres.NewLoader(server.Endpoint(), postgrestest.Password)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	load := func(rows int64, text string) error {
		return l.Load(t.Context(), seededColumns, strings.NewReader(text), rows, "$2a$04$hash")
	}
	if id, _, err := l.Last(t.Context(), 10); id != 0 || err != nil {
		t.Errorf("the last of an empty table is %d: %v", id, err)
	}
	if err := load(2, "1\tAda\tStone\t1984-02-29\ta\\nb\\tc\\\\d\tK\u00f6ln\n2\tАнна\tБелова\t2001-12-31\t\t\n"); err != nil {
		t.Fatal(err)
	}
	id, got, err := l.Last(t.Context(), 10)
	if diff := cmp.Diff(dataset.User{FirstName: "Анна", LastName: "Белова", Birthdate: "2001-12-31"}, got); id != 2 || err != nil || diff != "" {
		t.Errorf("the last is %d: %v\n%s", id, err, diff)
	}
	if text := one[string](t, server, "SELECT biography || '|' || city || '|' || password FROM users WHERE id = 1"); text != "a\nb\tc\\d|Köln|$2a$04$hash" {
		t.Errorf("the first has %q", text)
	}
	const third = "3\tA\tB\t1990-01-01\t\t\n"
	for name, c := range map[string]struct {
		err       error
		permanent bool
	}{
		"an id that is there":              {load(2, third+"2\tA\tB\t1990-01-01\t\t\n"), false},
		"no date":                          {load(1, "3\tA\tB\tnever\t\t\n"), true},
		"a column too few":                 {load(1, "3\tA\tB\t1990-01-01\t\n"), true},
		"a name that is too long":          {load(1, "3\tA\t"+strings.Repeat("x", 257)+"\t1990-01-01\t\t\n"), true},
		"other rows than said":             {load(2, third), true},
		"a hash that would need an escape": {l.Load(t.Context(), seededColumns, strings.NewReader(third), 1, "a\tb"), true},
		"a text that breaks off":           {l.Load(t.Context(), seededColumns, &torn{text: third}, 1, "x"), false},
	} {
		if c.err == nil || errors.Is(c.err, engine.ErrPermanent) != c.permanent {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if n, err := l.Count(t.Context(), 10); n != 2 || err != nil {
		t.Errorf("%d users are there after what failed: %v", n, err)
	}
	if err := load(1, third); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Count(t.Context(), 3); n != 3 || err != nil {
		t.Errorf("%d users: %v", n, err)
	}
	if !one[bool](t, server, "SELECT last_vacuum IS NOT NULL AND last_analyze IS NOT NULL FROM pg_stat_user_tables WHERE relname = 'users'") {
		t.Error("the full table was not cleaned up")
	}
	if id, _, err := openStore(t, server, 1).Register(t.Context(), user("Stone")); id != 4 || err != nil {
		t.Errorf("the next user has id %d: %v", id, err)
	}
}

// torn is a text that breaks off.
type torn struct{ text string }

var errTorn = errors.New("torn")

func (r *torn) Read(into []byte) (int, error) {
	if r.text == "" {
		return 0, errTorn
	}
	n := copy(into, r.text)
	r.text = r.text[n:]
	return n, nil
}

func TestALoaderThatIsRefusedSaysWhetherToTryAgain(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	l, err := postgres.NewLoader(server.Endpoint(), "wrong")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Count(t.Context(), 1); !errors.Is(err, engine.ErrPermanent) {
		t.Errorf("a wrong password: %v", err)
	}
	server.Stop()
	if _, err := l.Count(t.Context(), 1); err == nil || errors.Is(err, engine.ErrPermanent) {
		t.Errorf("no server: %v", err)
	}
}
