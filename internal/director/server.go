package director

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine/mysql/gtid"
	"replab.dev/internal/wire"
)

// statementTimeout bounds one statement of an act, so that a node that hangs in the middle is given up.
const statementTimeout = 5 * time.Second

// server speaks SQL with a node's server as its administrator.
type server struct {
	address
	db *sql.DB
	// replicationPassword lets the server replicate from and be cloned from another.
	replicationPassword string
	semiSync            bool // the semi-sync plugins are loaded
}

// newServer opens no connection yet. A look and an act may each hold one; one is kept.
func newServer(a address, s secrets, semiSync bool) (*server, error) {
	c := driver.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr = wire.AccountAdmin, s.admin, "tcp", a.hostPort()
	c.Logger = &driver.NopLogger{} // every error is returned as well
	c.InterpolateParams = true     // statements like CHANGE REPLICATION SOURCE cannot be prepared
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("connect to the server of %s: %w", a.Name, err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(3)
	db.SetMaxIdleConns(1)
	return &server{address: a, db: db, replicationPassword: s.replication, semiSync: semiSync}, nil
}

// question says what a look asks beside what it always asks.
type question struct {
	semiSyncClients bool
	clone           bool
}

// look asks the server everything a decision needs, in one statement. names maps host:port to node names.
func (s *server) look(ctx context.Context, q question, names map[string]string) (observation, error) {
	var o observation
	var uuid, executed, retrieved, host, io, applier, ioError, applierError string
	var port int
	row := s.db.QueryRowContext(ctx, s.lookStatement(q))
	err := row.Scan(&uuid, &o.Writable, &executed, &host, &port, &io, &retrieved, &applier, &ioError, &applierError,
		&o.SemiSyncSource, &o.SemiSyncClients, &o.CloneState, &o.CloneError)
	if err != nil {
		return observation{}, err
	}
	if o.Executed, err = gtid.Parse(executed); err != nil {
		return observation{}, err
	}
	relay, err := gtid.Parse(retrieved)
	if err != nil {
		return observation{}, err
	}
	o.Answers, o.Received = true, o.Executed.Union(relay)
	o.IO, o.SQLRunning = threadState(io), applier == "ON"
	o.LastError = firstOf(ioError, applierError)
	if host != "" {
		o.Source = address{Host: host, Port: port}.hostPort()
		o.Source = firstOf(names[o.Source], o.Source)
	}
	return o, nil
}

// lookStatement selects one row from performance_schema's few replication rows; it takes no lock that an application
// would wait for. SHOW GLOBAL STATUS and its table cost more and are asked only when q says so.
func (s *server) lookStatement(q question) string {
	source, clients, cloned := "FALSE", "0", "'', ''"
	if s.semiSync {
		source = "@@GLOBAL.rpl_semi_sync_source_enabled"
	}
	if s.semiSync && q.semiSyncClients {
		clients = "COALESCE((SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Rpl_semi_sync_source_clients'), 0)"
	}
	from := ""
	if q.clone {
		cloned = "COALESCE(k.STATE, ''), COALESCE(k.ERROR_MESSAGE, '')"
		from = "LEFT JOIN performance_schema.clone_status k ON TRUE"
	}
	return fmt.Sprintf(`SELECT @@server_uuid, NOT (@@GLOBAL.read_only OR @@GLOBAL.super_read_only), @@GLOBAL.gtid_executed,
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
func (s *server) exec(ctx context.Context, steps ...step) error {
	for _, st := range steps {
		ctx, cancel := context.WithTimeout(ctx, statementTimeout)
		_, err := s.db.ExecContext(ctx, st.sql, st.args...)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", st.what, s.withoutSecret(err))
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
func (s *server) withoutSecret(err error) error {
	if text := err.Error(); s.replicationPassword != "" && strings.Contains(text, s.replicationPassword) {
		return errors.New(strings.ReplaceAll(text, s.replicationPassword, "(password)"))
	}
	return err
}
