package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql/gtid"
	"replab.dev/internal/wire"
)

// statementTimeout bounds one statement of an act, so that a server that hangs in the middle is given up.
const statementTimeout = 5 * time.Second

// admin implements engine.Admin.
type admin struct {
	engine.AdminParams
	db *sql.DB
}

// OpenAdmin implements engine.OpenAdmin. It opens no connection yet. A look and an act may each hold one; one is kept.
func OpenAdmin(p engine.AdminParams) (engine.Admin, error) {
	a := account{name: wire.AccountAdmin, password: p.AdminPassword, address: net.JoinHostPort(p.Host, strconv.Itoa(p.Port))}
	connector, err := a.connector(func(c *driver.Config) {
		c.InterpolateParams = true // statements like CHANGE REPLICATION SOURCE cannot be prepared
	})
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(3)
	db.SetMaxIdleConns(1)
	return &admin{AdminParams: p, db: db}, nil
}

// Close implements engine.Admin.
func (a *admin) Close() error { return a.db.Close() }

// Look implements engine.Admin, in one statement.
func (a *admin) Look(ctx context.Context, q engine.Question) (engine.Look, error) {
	var l engine.Look
	var executed, retrieved, ioError, applierError, applier string
	row := a.db.QueryRowContext(ctx, a.lookStatement(q))
	err := row.Scan(&l.Writable, &executed, &l.SourceHost, &l.SourcePort, &l.Receiver, &retrieved, &applier, &ioError, &applierError,
		&l.Awaits, &l.Acknowledgers, &l.Clone, &l.CloneError)
	if err != nil {
		return engine.Look{}, err
	}
	has, err := gtid.Parse(executed)
	if err != nil {
		return engine.Look{}, err
	}
	relay, err := gtid.Parse(retrieved)
	if err != nil {
		return engine.Look{}, err
	}
	l.Executed, l.Received = Position(has), Position(has.Union(relay))
	l.Applying = applier == "ON"
	if l.LastError = ioError; l.LastError == "" {
		l.LastError = applierError
	}
	return l, nil
}

// lookStatement selects one row from performance_schema's few replication rows; it takes no lock that an application
// would wait for. SHOW GLOBAL STATUS and its table cost more and are asked only when q says so.
func (a *admin) lookStatement(q engine.Question) string {
	source, clients, cloned := "FALSE", "0", "'', ''"
	if a.SemiSync {
		source = "@@GLOBAL.rpl_semi_sync_source_enabled"
	}
	if a.SemiSync && q.Acknowledgers {
		clients = "COALESCE((SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Rpl_semi_sync_source_clients'), 0)"
	}
	from := ""
	if q.Clone {
		cloned = "COALESCE(k.STATE, ''), COALESCE(k.ERROR_MESSAGE, '')"
		from = "LEFT JOIN performance_schema.clone_status k ON TRUE"
	}
	return fmt.Sprintf(`SELECT NOT (@@GLOBAL.read_only OR @@GLOBAL.super_read_only), @@GLOBAL.gtid_executed,
 COALESCE(c.HOST, ''), COALESCE(c.PORT, 0), COALESCE(i.SERVICE_STATE, 'OFF'), COALESCE(i.RECEIVED_TRANSACTION_SET, ''),
 COALESCE(a.SERVICE_STATE, 'OFF'), COALESCE(i.LAST_ERROR_MESSAGE, ''),
 COALESCE((SELECT w.LAST_ERROR_MESSAGE FROM performance_schema.replication_applier_status_by_worker w WHERE w.LAST_ERROR_NUMBER <> 0 LIMIT 1), ''),
 %s, %s, %s
FROM (SELECT 1) one
LEFT JOIN performance_schema.replication_connection_configuration c ON c.CHANNEL_NAME = ''
LEFT JOIN performance_schema.replication_connection_status i ON i.CHANNEL_NAME = ''
LEFT JOIN performance_schema.replication_applier_status a ON a.CHANNEL_NAME = ''
%s`, source, clients, cloned, from)
}

// exec runs statements one after the other, each within statementTimeout. Errors name the step, never the statement: it
// may hold a password.
func (a *admin) exec(ctx context.Context, steps ...step) error {
	for _, st := range steps {
		ctx, cancel := context.WithTimeout(ctx, statementTimeout)
		_, err := a.db.ExecContext(ctx, st.sql, st.args...)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", st.what, a.withoutSecret(err))
		}
	}
	return nil
}

// step is a statement and what it is for.
type step struct {
	what string
	sql  string
	args []any
}

// withoutSecret takes the password out of an error's text: a server quotes the part of a statement that it could not read.
func (a *admin) withoutSecret(err error) error {
	if text := err.Error(); a.ReplicationPassword != "" && strings.Contains(text, a.ReplicationPassword) {
		return errors.New(strings.ReplaceAll(text, a.ReplicationPassword, "(password)"))
	}
	return err
}
