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

// admin implements engine.Admin.
type admin struct{ *family.Admin }

// OpenAdmin implements engine.OpenAdmin. It opens no connection yet.
func OpenAdmin(p engine.AdminParams) (engine.Admin, error) {
	a, err := family.NewAdmin(p, dialect.Acts)
	return &admin{a}, err
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

// errNoSupervisor is MySQL's ER_RESTART_SERVER_FAILED: the clone succeeded, and the server ended instead of restarting
// itself, since nobody is known to it who would start it.
const errNoSupervisor = 3707

// Clone implements engine.Admin. A connection that is lost is no error: the restart does that.
//
// A server cannot be cloned while it is super-read-only. It stays read-only meanwhile, which leaves out all but
// administrators, and boots super-read-only.
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
