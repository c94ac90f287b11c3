package social

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/wire"
)

func TestAPI(t *testing.T) {
	server := mysqltest.Start(t, "primary")
	server.Open()
	a := startApp(t, server.Endpoint())
	for name, test := range map[string]func(*testing.T, *mysqltest.Server, *api){
		"a registered user is found with every value":       registeredUserIsFound,
		"a registration without extras has no birthdate":    registrationWithoutExtras,
		"a write id is stored, and NULL without one":        writeIDIsStored,
		"a write id that was delivered before stays open":   repeatedWriteIDStaysOpen,
		"login tells right, wrong and unknown apart":        loginTellsApart,
		"an update changes one row, or finds none":          updateChanges,
		"search takes wildcards for what they are":          searchEscapes,
		"search answers at most 100, by id":                 searchIsBounded,
		"search reads no more than the names that begin so": searchUsesTheIndex,
		"a probe writes one row":                            probeWrites,
		"bad requests are refused with a reason":            badRequests,
		"every answered query names its server":             answersNameTheirServer,
		"no server is named where it is not known":          nodesAreHidden,
		"a registration is one transaction":                 registrationIsOneTransaction,
		"metrics show operations and pools":                 metricsShow,
		"a server that turned read-only rejects":            readOnlyServer,
	} {
		t.Run(name, func(t *testing.T) {
			a.t = t
			test(t, server, a)
		})
	}
}

func registeredUserIsFound(t *testing.T, _ *mysqltest.Server, a *api) {
	user := wire.RegisterRequest{
		FirstName: "Зоя", LastName: "Щукина-Найтли 🙂", Birthdate: "1990-02-28", Biography: "О'Нил \\ \"x\" %_|\n", City: "Йошкар-Ола", Password: "тайна",
	}
	r := a.ask("POST", wire.SocialPathRegister, user)
	var registered wire.RegisterResponse
	r.decode(t, &registered)
	if r.status != 200 || registered.UserID == "" || r.header.Get(wire.HeaderUserID) != registered.UserID {
		t.Fatalf("register answered %+v", r)
	}
	want := wire.Profile{ID: registered.UserID, FirstName: user.FirstName, LastName: user.LastName, Birthdate: user.Birthdate, Biography: user.Biography, City: user.City}

	var got wire.Profile
	a.ask("GET", wire.SocialPathGet+registered.UserID, nil).decode(t, &got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("profile (-want +got):\n%s", diff)
	}
	var found []wire.Profile
	a.ask("GET", wire.SocialPathSearch+"?first_name=%D0%97%D0%BE&last_name=%D0%A9%D1%83", nil).decode(t, &found)
	if diff := cmp.Diff([]wire.Profile{want}, found); diff != "" {
		t.Fatalf("search (-want +got):\n%s", diff)
	}
}

func registrationWithoutExtras(t *testing.T, server *mysqltest.Server, a *api) {
	id := a.register("1000").header.Get(wire.HeaderUserID)
	if n := count(t, server, "birthdate IS NULL AND biography = '' AND city = '' AND id = "+id); n != 1 {
		t.Fatalf("%d such rows", n)
	}
	if body := a.ask("GET", wire.SocialPathGet+id, nil).body; strings.Contains(body, "birthdate") || strings.Contains(body, "pass") {
		t.Fatalf("profile is %s", body)
	}
}

func writeIDIsStored(t *testing.T, server *mysqltest.Server, a *api) {
	const largest = "18446744073709551615"
	id := a.register(largest).header.Get(wire.HeaderUserID)
	if n := count(t, server, "write_id = "+largest+" AND id = "+id); n != 1 {
		t.Fatalf("%d rows with the write id", n)
	}
	id = a.register("").header.Get(wire.HeaderUserID)
	if n := count(t, server, "write_id IS NULL AND id = "+id); n != 1 {
		t.Fatalf("%d rows without a write id", n)
	}
}

func repeatedWriteIDStaysOpen(t *testing.T, server *mysqltest.Server, a *api) {
	if r := a.register("77"); r.status != 200 {
		t.Fatalf("answered %+v", r)
	}
	r := a.register("77")
	if r.status < 500 || r.rejected() != "" || r.node() == "" {
		t.Fatalf("answered %+v: a write that is in the table must not be called rejected", r)
	}
	if n := count(t, server, "write_id = 77"); n != 1 {
		t.Fatalf("%d rows", n)
	}
}

func loginTellsApart(t *testing.T, _ *mysqltest.Server, a *api) {
	id := a.register("2000").header.Get(wire.HeaderUserID)
	tokens := map[string]bool{}
	for range 2 {
		r := a.ask("POST", wire.SocialPathLogin, wire.LoginRequest{ID: id, Password: "pw"})
		var login wire.LoginResponse
		r.decode(t, &login)
		tokens[login.Token] = true
		if r.status != 200 || len(login.Token) < 20 {
			t.Fatalf("login answered %+v", r)
		}
	}
	if len(tokens) != 2 {
		t.Fatal("two logins got the same token")
	}
	for _, c := range []struct {
		id, password string
		want         int
	}{{id, "wrong", 401}, {id, strings.Repeat("x", 100), 401}, {"999999999", "pw", 404}, {"x", "pw", 400}} {
		r := a.ask("POST", wire.SocialPathLogin, wire.LoginRequest{ID: c.id, Password: c.password})
		if r.status != c.want || r.rejected() != "" {
			t.Errorf("login as %s with %s answered %+v, want %d", c.id, c.password, r, c.want)
		}
	}
}

func updateChanges(t *testing.T, server *mysqltest.Server, a *api) {
	id := a.register("2100").header.Get(wire.HeaderUserID)
	biography := strings.Repeat("я", 1024)
	for range 2 { // the second one changes nothing
		if r := a.ask("PUT", wire.SocialPathUpdate+id, wire.UpdateRequest{Biography: biography}); r.status != 204 || r.node() == "" {
			t.Fatalf("update answered %+v", r)
		}
	}
	if n := count(t, server, "biography = '"+biography+"'"); n != 1 {
		t.Errorf("%d rows have the new biography", n)
	}
	for _, c := range []struct {
		id, biography string
		want          int
	}{{"999999999", "x", 404}, {"x", "x", 400}, {id, biography + "x", 400}} {
		if r := a.ask("PUT", wire.SocialPathUpdate+c.id, wire.UpdateRequest{Biography: c.biography}); r.status != c.want {
			t.Errorf("update of %s answered %+v, want %d", c.id, r, c.want)
		}
	}
}

func searchEscapes(t *testing.T, _ *mysqltest.Server, a *api) {
	for _, last := range []string{"%ok", "_ok", "|ok", `\ok`, "plain"} {
		r := a.ask("POST", wire.SocialPathRegister, wire.RegisterRequest{FirstName: "Wild", LastName: last, Password: "pw"})
		if r.status != 200 {
			t.Fatalf("register answered %+v", r)
		}
	}
	for query, want := range map[string]string{"%25": "%ok", "_": "_ok", "%7C": "|ok", "%5C": `\ok`, "pl": "plain"} {
		var found []wire.Profile
		a.ask("GET", wire.SocialPathSearch+"?first_name=Wild&last_name="+query, nil).decode(t, &found)
		if len(found) != 1 || found[0].LastName != want {
			t.Errorf("search for %s found %+v, want %s alone", query, found, want)
		}
	}
	if body := a.ask("GET", wire.SocialPathSearch+"?last_name=nobody", nil).body; strings.TrimSpace(body) != "[]" {
		t.Errorf("a search without results answered %q, want an empty list", body)
	}
}

func searchIsBounded(t *testing.T, server *mysqltest.Server, a *api) {
	server.Exec(`INSERT INTO social.users (first_name, last_name, password)
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) SELECT 'Many', CONCAT('Same', 999 - i), '' FROM n`)
	var found []wire.Profile
	r := a.ask("GET", wire.SocialPathSearch+"?first_name=Man&last_name=Sa", nil)
	r.decode(t, &found)
	if len(found) != wire.SearchLimit || r.header.Get("Content-Length") != strconv.Itoa(len(r.body)) {
		t.Fatalf("found %d, want %d; header %v", len(found), wire.SearchLimit, r.header)
	}
	for i, p := range found { // names run against the ids, so that no index yields this order by chance
		if p.LastName != fmt.Sprintf("Same%d", 998-i) {
			t.Fatalf("result %d is %+v: not by id", i, p)
		}
	}
}

// The whole table must not be read for a name, whatever the optimizer's statistics say.
func searchUsesTheIndex(t *testing.T, server *mysqltest.Server, a *api) {
	server.Exec(`INSERT INTO social.users (first_name, last_name, password)
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT 'Full', 'Table', '' FROM n`)
	read := func() (rows int) {
		const query = `SELECT SUM_ROWS_EXAMINED FROM performance_schema.events_statements_summary_by_digest
WHERE DIGEST_TEXT LIKE 'SELECT%FORCE INDEX%LIKE%' AND SCHEMA_NAME = 'social'`
		if err := server.DB(wire.AccountAdmin, "").QueryRow(query).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	a.ask("GET", wire.SocialPathSearch+"?first_name=x&last_name=Zzz", nil)
	before := read()
	a.ask("GET", wire.SocialPathSearch+"?first_name=x&last_name=Zzz", nil)
	if examined := read() - before; examined != 0 {
		t.Fatalf("a search for a name that nobody has read %d rows", examined)
	}
}

func probeWrites(t *testing.T, server *mysqltest.Server, a *api) {
	if r := a.ask("PUT", wire.SocialPathProbe+"41", "payload"); r.status != 204 || r.node() == "" {
		t.Fatalf("answered %+v", r)
	}
	if r := a.ask("PUT", wire.SocialPathProbe+"42", nil); r.status != 204 {
		t.Fatalf("without a payload answered %+v", r)
	}
	var rows string
	db := server.DB(wire.AccountProbe, wire.Database)
	if err := db.QueryRow("SELECT GROUP_CONCAT(id, '=', payload ORDER BY id) FROM probe_writes WHERE id IN (41, 42)").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if rows != "41=payload,42=" {
		t.Fatalf("rows are %s", rows)
	}
}

func badRequests(t *testing.T, server *mysqltest.Server, a *api) {
	before := count(t, server, "TRUE")
	long := `{"first_name":"a","second_name":"b","password":"c","biography":"` + strings.Repeat("x", 16<<10) + `"}`
	for _, c := range []struct {
		name, method, path string
		body               any
		headers            []string
		status             int
		rejected, contains string
	}{
		{"malformed JSON", "POST", "/user/register", "{", nil, 400, "validation", "JSON"},
		{"two documents", "POST", "/user/register", `{}{}`, nil, 400, "validation", "more than one"},
		{"a value of another type", "POST", "/user/register", `{"first_name":1}`, nil, 400, "validation", "first_name"},
		{"missing names", "POST", "/user/register", `{"password":"x"}`, nil, 400, "validation", "second_name is needed"},
		{"a body that is too large", "POST", "/user/register", long, nil, 413, "validation", "16384"},
		{"a write id that is none", "POST", "/user/register", `{}`, []string{wire.HeaderWriteID, "-1"}, 400, "validation", wire.HeaderWriteID},
		{"another method", "GET", "/user/register", nil, nil, 405, "validation", "POST"},
		{"another method of a read", "POST", "/user/search", nil, nil, 405, "", "GET"},
		{"an id that is none", "GET", "/user/get/abc", nil, nil, 400, "", "whole number"},
		{"an id without a user", "GET", "/user/get/999999999", nil, nil, 404, "", "no such user"},
		{"a search for nothing", "GET", "/user/search", nil, nil, 400, "", "first_name or last_name"},
		{"a search for too much", "GET", "/user/search?last_name=" + strings.Repeat("x", 257), nil, nil, 400, "", "257"},
		{"a probe without an id", "PUT", "/probe/x", nil, nil, 400, "validation", "whole number"},
		{"a probe that is too large", "PUT", "/probe/1", strings.Repeat("x", 16<<10+1), nil, 413, "validation", "16384"},
		{"an unknown path", "GET", "/users", nil, nil, 404, "", "/users"},
	} {
		r := a.ask(c.method, c.path, c.body, c.headers...)
		var e wire.ErrorResponse
		r.decode(t, &e)
		if r.status != c.status || r.rejected() != c.rejected || !strings.Contains(e.Error, c.contains) {
			t.Errorf("%s: answered %+v, want %d %q with %q", c.name, r, c.status, c.rejected, c.contains)
		}
	}
	if after := count(t, server, "TRUE"); after != before {
		t.Errorf("%d rows became %d", before, after)
	}
}
