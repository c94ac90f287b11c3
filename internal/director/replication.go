package director

import (
	"context"
	"errors"
	"fmt"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine/mysql/gtid"
	"replab.dev/internal/wire"
)

var (
	stopReplica      = step{what: "stop replication", sql: "STOP REPLICA"}
	stopReceiver     = step{what: "stop the receiving thread", sql: "STOP REPLICA IO_THREAD"}
	startReplica     = step{what: "start replication", sql: "START REPLICA"}
	startApplier     = step{what: "start the applying thread", sql: "START REPLICA SQL_THREAD"}
	forgetSource     = step{what: "forget the replication source", sql: "RESET REPLICA ALL"}
	semiSyncSourceOn = step{what: "enable the source side of semi-sync", sql: "SET GLOBAL rpl_semi_sync_source_enabled = ON"}
	makeWritable     = step{what: "make the server writable", sql: "SET GLOBAL read_only = OFF"} // super_read_only with it
	makeReadOnly     = step{what: "make the server read-only", sql: "SET GLOBAL super_read_only = ON"}
)

// attach makes the server a replica of source from scratch: by its GTIDs it fetches what it has not executed. What waits
// in its relay log is thrown away and fetched again.
func (s *server) attach(ctx context.Context, source address) error {
	steps := []step{stopReplica, forgetSource}
	if s.semiSync {
		steps = append(steps,
			step{what: "disable the source side of semi-sync", sql: "SET GLOBAL rpl_semi_sync_source_enabled = OFF"},
			step{what: "enable the replica side of semi-sync", sql: "SET GLOBAL rpl_semi_sync_replica_enabled = ON"})
	}
	// The replica reconnects each second for as long as the experiment lasts, and hears of a silent source each second.
	change := step{
		what: "set the replication source",
		sql: `CHANGE REPLICATION SOURCE TO SOURCE_HOST = ?, SOURCE_PORT = ?, SOURCE_USER = ?, SOURCE_PASSWORD = ?,
 SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 1000000, SOURCE_HEARTBEAT_PERIOD = 1`,
		args: []any{source.Host, source.Port, wire.AccountReplication, s.replicationPassword},
	}
	return s.exec(ctx, append(steps, change, startReplica)...)
}

// endReplication makes the server a replica of nobody. Its relay log is gone after that.
func (s *server) endReplication(ctx context.Context) error {
	return s.exec(ctx, stopReplica, forgetSource)
}

// enableSemiSync lets commits wait for acknowledgements; it does nothing where the plugins are not loaded.
func (s *server) enableSemiSync(ctx context.Context) error {
	if !s.semiSync {
		return nil
	}
	return s.exec(ctx, semiSyncSourceOn)
}

// catchUp returns once the server has executed received, or after limit.
func (s *server) catchUp(ctx context.Context, received gtid.Set, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit+statementTimeout)
	defer cancel()
	var timedOut int
	err := s.db.QueryRowContext(ctx, "SELECT WAIT_FOR_EXECUTED_GTID_SET(?, ?)", received.String(), limit.Seconds()).Scan(&timedOut)
	if err != nil {
		return fmt.Errorf("wait until the received transactions are applied: %w", err)
	}
	return nil
}

// errNoSupervisor is MySQL's ER_RESTART_SERVER_FAILED: the clone succeeded, and the server ended instead of restarting
// itself, since nobody is known to it who would start it.
const errNoSupervisor = 3707

// clone replaces everything the server has by a copy of donor. It returns when the copy is made and the server restarts.
// A connection that is lost is no error: the restart does that, and the server then tells itself how the clone went.
//
// A server cannot be cloned while it is super-read-only. It stays read-only meanwhile, which leaves out all but
// administrators, and boots super-read-only.
func (s *server) clone(ctx context.Context, donor address) error {
	err := s.exec(ctx,
		step{what: "allow the donor", sql: "SET GLOBAL clone_valid_donor_list = ?", args: []any{donor.hostPort()}},
		step{what: "allow the clone", sql: "SET GLOBAL super_read_only = OFF"})
	if err != nil {
		return err
	}
	// The donor's port is no string literal, so it cannot be a parameter.
	statement := fmt.Sprintf("CLONE INSTANCE FROM ?@?:%d IDENTIFIED BY ?", donor.Port)
	_, err = s.db.ExecContext(ctx, statement, wire.AccountReplication, donor.Host, s.replicationPassword)
	var refused *driver.MySQLError
	if errors.As(err, &refused) && refused.Number != errNoSupervisor {
		failed := fmt.Errorf("clone from %s: %w", donor.Name, s.withoutSecret(err))
		return errors.Join(failed, s.exec(ctx, makeReadOnly))
	}
	return ctx.Err()
}
