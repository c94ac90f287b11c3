package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mysql/gtid"
	"replab.dev/internal/wire"
)

// Client implements engine.Local, and engine.Member for servers of a group.
func (Server) Client(socket, password string) (engine.Client, error) {
	c, err := family.NewClient(socket, password, family.ClientWords{
		Writable:    "SELECT NOT (@@GLOBAL.read_only OR @@GLOBAL.super_read_only)",
		Replication: "SHOW REPLICA STATUS", Applies: "Replica_SQL_Running",
		Fence: "SET GLOBAL super_read_only=ON",
	})
	return family.NewMember(c, family.MemberWords{
		Before:  "SET SESSION wsrep_sync_wait=0", // the server makes a query of SHOW STATUS
		Members: "SELECT HOST_NAME AS NAME, UUID FROM performance_schema.pxc_cluster_view",
		Take:    "SET GLOBAL wsrep_provider_options='pc.bootstrap=true'",
	}), err
}

// NewStore returns the app's queries, with a pool for each endpoint of cfg. It opens no connection yet.
func NewStore(cfg wire.SocialConfig, password string) (*family.Store, error) {
	return family.NewStore(cfg, password, refusals)
}

// NewLoader returns a loader through a write endpoint. It opens no connection yet.
func NewLoader(endpoint wire.Endpoint, password string) (*family.Loader, error) {
	return family.NewLoader(endpoint, password, localOff)
}

// localOff is the error of a server that takes no LOAD DATA LOCAL.
const localOff = 3948

// refusals are the errors after which a single autocommitted INSERT certainly left nothing behind; any other leaves it open. Numbers are from
// MySQL 8.4's Server Error Message Reference, effects from ha_commit_trans (sql/handler.cc), the hook before_commit (sql/binlog.cc) and
// convert_error_code_to_mysql (ha_innodb.cc).
//
// Not listed on purpose, beside those that the family leaves out:
//
//	3024 execution time exceeded: may arrive once the commit was logged
//	1180 error during COMMIT, 1047 not prepared: a Galera member that is cut off may give them amid a commit (wsrep_override_error, sql/wsrep_thd.h)
var refusals = family.NewRefusals(family.Refusals{
	3100: wire.RejectedReadOnly, // the before_commit hook refused (a group without majority): rolled back
	3101: wire.RejectedDeadlock, // group certification: the transaction is rolled back
})

// NewInspector implements engine.OpenInspector.
func NewInspector(password string) engine.Inspector {
	return family.Inspector{
		Password: password, Variables: "performance_schema.global_variables", Identity: "server_uuid",
		Options: family.ProviderVariable, Group: "wsrep_provider",
	}
}

// NewCounters returns the counters of one node's commits. It connects to nothing yet. The server calls its semi-sync plugin once for
// all commits that it flushed together (call_after_sync_hook in sql/binlog.cc of MySQL 8.4), so a wait may be that of many.
func NewCounters(host, password string) (*family.Counted[engine.Commits], error) {
	return family.NewCounters(host, password, family.CounterWords{
		Table: "performance_schema.global_status", Acknowledged: "Rpl_semi_sync_source_yes_tx", Unacknowledged: "Rpl_semi_sync_source_no_tx",
		// MYSQL_BIN_LOG::process_after_commit_stage_queue of sql/binlog.cc has each transaction of a group wait after its commit, call_after_sync_hook
		// the last one alone.
		EachWaits: "@@GLOBAL.rpl_semi_sync_source_wait_point = 'AFTER_COMMIT'",
		Executed:  "SELECT @@GLOBAL.gtid_executed",
		Count: func(executed string) (int64, error) {
			set, err := gtid.Parse(executed)
			return set.Count(), err
		},
	})
}

// NewGroupCounters returns the counters of one member of a group. It connects to nothing yet.
func NewGroupCounters(host, password string) (*family.Counted[engine.GroupCounts], error) {
	return family.NewGroupCounters(host, password)
}

// Reader reads one node for the audit, by one connection.
type Reader struct{ *family.Reader }

// OpenReader connects to a node, which has answered a query then. host may name a port.
func OpenReader(ctx context.Context, host, password string) (Reader, error) {
	r, err := family.OpenReader(ctx, host, password, dialect.Reader)
	return Reader{r}, err
}

// isMember is a query of whether the server is a member of a group. Most servers have no such variable.
const isMember = "EXISTS (SELECT 1 FROM performance_schema.global_variables WHERE VARIABLE_NAME = 'wsrep_provider' AND VARIABLE_VALUE NOT IN ('', 'none'))"

// Own does as audit.History says: a server gets its UUID with its data directory.
func (r Reader) Own(ctx context.Context) (bool, error) {
	var uuid, executed string
	var member bool
	if err := r.Row(ctx, "SELECT @@GLOBAL.server_uuid, @@GLOBAL.gtid_executed, "+isMember, nil, &uuid, &executed, &member); err != nil {
		return false, err
	}
	if member {
		return false, family.ErrMembersNames
	}
	set, err := gtid.Parse(executed)
	return set.From(uuid).Count() > 0, err
}

// Unexecuted does as audit.History says. The server subtracts: it knows its own notation best.
func (r Reader) Unexecuted(ctx context.Context, others string) (int64, error) {
	var text string
	err := r.Row(ctx, "SELECT GTID_SUBTRACT(?, @@GLOBAL.gtid_executed)", []any{others}, &text)
	if err != nil {
		return 0, err
	}
	set, err := gtid.Parse(text)
	return set.Count(), err
}

// OpenRows implements engine.RowOpener.
func (Server) OpenRows(ctx context.Context, socket, password string) (engine.Rows, error) {
	r, err := family.OpenSocketReader(ctx, socket, password, dialect.Reader)
	if err != nil {
		return nil, err
	}
	return Reader{r}, nil
}

// admin implements engine.Admin.
type admin struct{ *family.Admin }

// OpenAdmin implements engine.OpenAdmin. It opens no connection yet.
func OpenAdmin(p engine.AdminParams) (engine.Admin, error) {
	a, err := family.NewAdmin(p, dialect.Acts)
	return &admin{a}, err
}

// Admin implements engine.Paired.
func (Server) Admin(p engine.AdminParams) (engine.Admin, error) { return OpenAdmin(p) }

// Position implements engine.Paired.
func (Server) Position(text string) (engine.Position, error) {
	set, err := gtid.Parse(text)
	return engine.PositionOf(set), err
}

// Look implements engine.Admin, in one statement.
func (a *admin) Look(ctx context.Context, q engine.Question) (engine.Look, error) {
	var l engine.Look
	var executed, retrieved, ioError, applierError, applier string
	var milliseconds, bytes sql.NullInt64
	row := a.DB.QueryRowContext(ctx, a.lookStatement(q))
	err := row.Scan(&l.Writable, &executed, &l.SourceHost, &l.SourcePort, &l.Receiver, &retrieved, &applier, &ioError, &applierError,
		&l.Awaits, &l.Acknowledgers, &l.Clone, &l.CloneError, &milliseconds, &bytes)
	if err != nil {
		return engine.Look{}, err
	}
	if l.Clone == engine.CloneCompleted && milliseconds.Valid && bytes.Valid {
		l.Cloned = &engine.CopyFigures{Milliseconds: milliseconds.Int64, ReceivedBytes: bytes.Int64}
	}
	has, err := gtid.Parse(executed)
	if err != nil {
		return engine.Look{}, err
	}
	relay, err := gtid.Parse(retrieved)
	if err != nil {
		return engine.Look{}, err
	}
	l.Executed, l.Received = engine.PositionOf(has), engine.PositionOf(has.Union(relay))
	l.Applying = applier == "ON"
	if l.LastError = ioError; l.LastError == "" {
		l.LastError = applierError
	}
	return l, nil
}

// lookStatement selects one row from performance_schema's few replication rows; it takes no lock that an application
// would wait for. SHOW GLOBAL STATUS and its table cost more and are asked only when q says so.
func (a *admin) lookStatement(q engine.Question) string {
	source, clients, cloned := "FALSE", "0", "'', '', NULL, NULL"
	if a.SemiSync {
		source = "@@GLOBAL.rpl_semi_sync_source_enabled"
	}
	if a.SemiSync && q.Acknowledgers {
		clients = "COALESCE((SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Rpl_semi_sync_source_clients'), 0)"
	}
	from := ""
	if q.Clone {
		cloned = `COALESCE(k.STATE, ''), COALESCE(k.ERROR_MESSAGE, ''), TIMESTAMPDIFF(MICROSECOND, k.BEGIN_TIME, k.END_TIME) DIV 1000,
 (SELECT CAST(SUM(p.NETWORK) AS SIGNED) FROM performance_schema.clone_progress p)`
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

// errNoSupervisor is ER_RESTART_SERVER_FAILED: the clone succeeded, and the server ended instead of restarting, since it has no supervisor.
const errNoSupervisor = 3707

// Clone implements engine.Admin. A lost connection is no error: the restart ends it. A super-read-only server cannot be cloned, so it is only
// read-only meanwhile, which keeps the app out; it boots super-read-only.
func (a *admin) Clone(ctx context.Context, donor engine.Source) error {
	address := net.JoinHostPort(donor.Host, strconv.Itoa(donor.Port))
	err := a.Exec(ctx,
		family.Step{What: "allow the donor", SQL: "SET GLOBAL clone_valid_donor_list = ?", Args: []any{address}},
		family.Step{What: "allow the clone", SQL: "SET GLOBAL super_read_only = OFF"})
	if err != nil {
		return err
	}
	// The donor's port is no string literal, so it cannot be a parameter.
	statement := fmt.Sprintf("CLONE INSTANCE FROM ?@?:%d IDENTIFIED BY ?", donor.Port)
	_, err = a.DB.ExecContext(ctx, statement, wire.AccountReplication, donor.Host, a.ReplicationPassword)
	var refused *driver.MySQLError
	if errors.As(err, &refused) && refused.Number != errNoSupervisor {
		failed := fmt.Errorf("clone from %s: %w", donor.Name, a.WithoutSecret(err))
		return errors.Join(failed, a.Shut(ctx))
	}
	return ctx.Err()
}
