package social

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/wire"
)

func answersNameTheirServer(t *testing.T, _ *mysqltest.Server, a *api) {
	hostname, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	id := a.register("3000").header.Get(wire.HeaderUserID)
	for _, r := range []reply{
		a.register("3001"), a.ask("GET", wire.SocialPathGet+id, nil), a.ask("GET", wire.SocialPathGet+"999999999", nil),
		a.ask("GET", wire.SocialPathSearch+"?last_name=x", nil), a.ask("PUT", wire.SocialPathProbe+"3002", nil),
		a.ask("POST", wire.SocialPathLogin, wire.LoginRequest{ID: id, Password: "wrong"}),
	} {
		if r.node() != hostname {
			t.Errorf("answer %+v names %q, want %q", r, r.node(), hostname)
		}
	}
}

// nodesAreHidden: behind a proxy that hands each statement to a server of its choice, a name learnt before may be another's.
func nodesAreHidden(t *testing.T, server *mysqltest.Server, a *api) {
	cfg := appConfig(server.Endpoint())
	cfg.HideNodes = true
	hiding := serve(t, cfg, a.store)
	for _, r := range []reply{hiding.register("3100"), hiding.ask("GET", wire.SocialPathGet+"999999999", nil)} {
		if r.node() != "" {
			t.Errorf("answer %+v names a server", r)
		}
	}
}

func registrationIsOneTransaction(t *testing.T, server *mysqltest.Server, a *api) {
	db := server.DB(wire.AccountAdmin, "")
	const writes = 5
	executed := func() (set string) {
		if err := db.QueryRow("SELECT @@GLOBAL.gtid_executed").Scan(&set); err != nil {
			t.Fatal(err)
		}
		return set
	}
	before := executed()
	for i := range writes {
		if r := a.register(fmt.Sprint(4000 + i)); r.status != http.StatusOK {
			t.Fatalf("answered %+v", r)
		}
	}
	var added string
	if err := db.QueryRow("SELECT SUBSTRING_INDEX(GTID_SUBTRACT(?, ?), ':', -1)", executed(), before).Scan(&added); err != nil {
		t.Fatal(err)
	}
	var first, last int
	if _, err := fmt.Sscanf(added, "%d-%d", &first, &last); err != nil || last-first+1 != writes {
		t.Fatalf("%d writes made the transactions %s", writes, added)
	}
}

func metricsShow(t *testing.T, _ *mysqltest.Server, a *api) {
	a.register("5000")
	body := a.ask("GET", wire.SocialPathMetrics, nil).body
	for _, want := range []string{
		`replab_social_requests_total{code="200",operation="register"}`, `replab_social_request_duration_seconds_bucket{operation="register"`,
		`go_sql_open_connections{db_name="writes"}`, `go_sql_max_open_connections{db_name="reads"} 4`, "replab_social_requests_in_flight 0",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	for _, path := range []string{wire.SocialPathHealth, wire.SocialPathReady, wire.SocialPathResources} {
		if r := a.ask("GET", path, nil); r.status != 200 {
			t.Errorf("%s answered %+v", path, r)
		}
	}
}

func readOnlyServer(t *testing.T, server *mysqltest.Server, a *api) {
	server.Exec("SET GLOBAL super_read_only=ON")
	defer server.Open()
	r := a.register("6000")
	if r.status != 503 || r.rejected() != wire.RejectedReadOnly || r.node() == "" {
		t.Fatalf("answered %+v", r)
	}
	if n := count(t, server, "write_id = 6000"); n != 0 {
		t.Fatalf("a rejected write has %d rows", n)
	}
}
