//go:build e2e

package e2e

import (
	"database/sql"
	"time"

	driver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/wire"
)

// dialect is how the databases of an engine are asked. The queries answer one number each.
type dialect struct {
	port int
	open func(port uint16, user, password string) (*sql.DB, error)
	// content is a digest of every row that a write made or the seed loaded: equal on nodes that hold the same.
	content string
	// primary is 1 where the server takes writes, 0 elsewhere.
	primary string
}

var (
	mysqlDialect = dialect{
		port: mysql.Port, open: openMySQL,
		content: "SELECT COALESCE(SUM(CAST(CRC32(CONCAT_WS('|', id, write_id, first_name, last_name)) AS SIGNED)), 0) FROM users",
		primary: "SELECT 1 - @@read_only",
	}
	postgresDialect = dialect{
		port: postgres.Port, open: openPostgres,
		// A sum of hashes does not fit into the number that is asked for, and what is left of it tells two apart as well.
		content: "SELECT (COALESCE(SUM(hashtextextended(u::text, 0)::numeric), 0) % 9223372036854775807)::bigint FROM users u",
		primary: "SELECT (NOT pg_is_in_recovery())::int",
	}
)

// sqlOf a topology's servers. Its type's default engine is no other than these speak with.
func sqlOf(t v1alpha1.TopologySpec) dialect {
	if t.Engine == v1alpha1.EnginePostgreSQL || t.Type == v1alpha1.TopologyPatroni {
		return postgresDialect
	}
	return mysqlDialect
}

func openMySQL(port uint16, user, password string) (*sql.DB, error) {
	c := driver.NewConfig()
	c.User, c.Passwd, c.Net, c.DBName = user, password, "tcp", wire.Database
	c.Addr = localhost(port)
	c.Timeout, c.ReadTimeout = 10*time.Second, 30*time.Second
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func openPostgres(port uint16, user, password string) (*sql.DB, error) {
	c, err := pgx.ParseConfig("host=127.0.0.1 user=nobody dbname=none sslmode=prefer connect_timeout=10")
	if err != nil {
		return nil, err
	}
	c.Port, c.User, c.Password, c.Database = port, user, password, wire.Database
	for _, f := range c.Fallbacks {
		f.Port = port
	}
	return stdlib.OpenDB(*c), nil
}
