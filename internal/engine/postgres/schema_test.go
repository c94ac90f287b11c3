package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
)

// refusedFor is the SQLSTATE of a statement that an account has no right to.
const refusedFor = "42501"

func TestAccountsMayDoWhatTheyNeedAndNoMore(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	const user = "INSERT INTO users (write_id, first_name, last_name, password) VALUES (1, 'a', 'b', 'c')"
	for account, statements := range map[string]map[string]bool{
		wire.AccountApp: {
			user: true, "SELECT count(*) FROM users": true, "INSERT INTO probe_writes VALUES (1, 'x')": true, "VACUUM (FREEZE, ANALYZE) users": true,
			"SELECT replab_node()": true, "SELECT pg_read_file('/etc/hostname')": false, "CREATE ROLE x": false,
		},
		wire.AccountProbe: {
			"SELECT count(*) FROM users": true, "SELECT count(*) FROM probe_writes": true, "INSERT INTO probe_writes VALUES (2, 'x')": true,
			"SELECT replab_node()": true, "SELECT client_addr FROM pg_stat_replication": true, "SELECT system_identifier FROM pg_control_system()": true,
			user: false, "DELETE FROM probe_writes": false, "SELECT pg_read_file('/etc/hostname')": false, "CREATE TABLE t()": false,
		},
		wire.AccountMonitor: {
			"SELECT 1": true, "SELECT count(*) FROM users": false, "INSERT INTO probe_writes VALUES (3, 'x')": false,
		},
		wire.AccountReplication: {"SELECT count(*) FROM users": false},
	} {
		conn := server.Connect(account, wire.Database)
		for statement, may := range statements {
			_, err := conn.Exec(t.Context(), statement)
			var refused *pgconn.PgError
			if may != (err == nil) || (!may && (!errors.As(err, &refused) || refused.Code != refusedFor)) {
				t.Errorf("%s: %s: %v, and it may: %v", account, statement, err, may)
			}
		}
	}
}

func TestNamesAreInTheSameOrderEverywhere(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	var sorted, upper string
	err := server.Connect(wire.AccountApp, wire.Database).QueryRow(t.Context(),
		"SELECT string_agg(n, ' ' ORDER BY n), upper('жё') FROM (VALUES ('b'), ('B'), ('a'), ('ё'), ('ж')) AS v(n)").Scan(&sorted, &upper)
	if err != nil || sorted != "B a b ж ё" || upper != "ЖЁ" {
		t.Errorf("%q, %q, %v", sorted, upper, err)
	}
}

func TestFirstStatementsHoldPasswordsAsTheyAre(t *testing.T) {
	text, err := postgres.FirstStatements(func(account string) (string, error) { return account + "'s", nil })
	if err != nil || !strings.Contains(text, "CREATE ROLE social LOGIN PASSWORD 'social''s';") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := postgres.FirstStatements(func(string) (string, error) { return "", errors.New("no such file") }); err == nil {
		t.Error("a password that nobody knows is no error")
	}
}
