package family_test

import (
	"errors"
	"strings"
	"testing"

	"replab.dev/internal/dataset"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/family/familytest"
)

const columns = "id, first_name, last_name, birthdate, biography, city"

func openLoader(t *testing.T, server *familytest.Server) *family.Loader {
	t.Helper()
	l, err := server.Flavor.NewLoader(server.Endpoint(), familytest.Password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func load(t *testing.T, l *family.Loader, text string, rows int64) error {
	return l.Load(t.Context(), columns, strings.NewReader(text), rows, "hash")
}

func TestLoader(t *testing.T) { enginetest.Each(t, loads) }

func loads(t *testing.T, f familytest.Flavor) {
	server := f.Start(t, "primary")
	l := openLoader(t, server)
	const row = "1\ta\tb\t1990-01-01\t\tc\n"

	if err := load(t, l, row, 1); err == nil || !strings.Contains(err.Error(), "1290") || errors.Is(err, engine.ErrPermanent) {
		t.Fatalf("a server that takes no writes: %v, want an error that trying again may cure", err)
	}
	server.Open()
	if last, user, err := l.Last(t.Context(), 10); err != nil || last != 0 || user != (dataset.User{}) {
		t.Fatalf("the last user of an empty table is %d %+v, %v", last, user, err)
	}
	for text, c := range map[string]struct {
		want      string
		permanent bool
	}{
		row + row:                        {"1062", false}, // LOCAL skips it with a warning; it may be what an earlier attempt committed
		row + "2\ta\tb\tnonsense\t\tc\n": {"birthdate", true},
		row:                              {"took 1 rows of 2", true},
	} {
		err := load(t, l, text, 2)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, engine.ErrPermanent) != c.permanent {
			t.Errorf("loading %q: %v, want %q, permanent: %v", text, err, c.want, c.permanent)
		}
		if n := count(t, server, "TRUE"); n != 0 {
			t.Fatalf("after %q: %d rows", text, n)
		}
	}
	if err := load(t, l, row+"3\td\te\t1991-02-03\tf\tg\n", 2); err != nil {
		t.Fatal(err)
	}
	server.Exec("INSERT INTO social.users (id, write_id, first_name, last_name, password) VALUES (11, 1, '', '', '')") // the load's
	want := dataset.User{FirstName: "d", LastName: "e", Birthdate: "1991-02-03", Biography: "f", City: "g"}
	if last, user, err := l.Last(t.Context(), 10); err != nil || last != 3 || user != want {
		t.Errorf("the last user is %d %+v, %v, want 3 %+v", last, user, err, want)
	}
	if n, err := l.Count(t.Context(), 10); err != nil || n != 2 {
		t.Errorf("%d users, %v, want 2", n, err)
	}
	if n := count(t, server, "password = 'hash' AND write_id IS NULL"); n != 2 {
		t.Errorf("%d rows have the password and no write id, want 2", n)
	}
	server.Exec("DROP TABLE social.users")
	if err := load(t, l, row, 1); !errors.Is(err, engine.ErrPermanent) {
		t.Errorf("without a table: %v, want an error that is permanent", err)
	}
	if _, err := l.Count(t.Context(), 10); !errors.Is(err, engine.ErrPermanent) {
		t.Errorf("without a table: %v, want an error that is permanent", err)
	}
}
