package mysql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

var (
	stopReplica      = step{what: "stop replication", sql: "STOP REPLICA"}
	startReplica     = step{what: "start replication", sql: "START REPLICA"}
	forgetSource     = step{what: "forget the replication source", sql: "RESET REPLICA ALL"}
	semiSyncSourceOn = step{what: "enable the source side of semi-sync", sql: "SET GLOBAL rpl_semi_sync_source_enabled = ON"}
	makeWritable     = step{what: "make the server writable", sql: "SET GLOBAL read_only = OFF"} // super_read_only with it
	makeReadOnly     = step{what: "make the server read-only", sql: "SET GLOBAL super_read_only = ON"}
)

var turns = map[engine.Threads]step{
	engine.StartBoth:     startReplica,
	engine.StopBoth:      stopReplica,
	engine.StopReceiving: {what: "stop the receiving thread", sql: "STOP REPLICA IO_THREAD"},
	engine.StartApplying: {what: "start the applying thread", sql: "START REPLICA SQL_THREAD"},
}

// Open implements engine.Gate.
func (a *admin) Open(ctx context.Context) error { return a.exec(ctx, makeWritable) }

// Shut implements engine.Gate.
func (a *admin) Shut(ctx context.Context) error { return a.exec(ctx, makeReadOnly) }

// AwaitReplicas implements engine.Gate.
func (a *admin) AwaitReplicas(ctx context.Context) error {
	if !a.SemiSync {
		return nil
	}
	return a.exec(ctx, semiSyncSourceOn)
}

// Attach implements engine.Replica.
func (a *admin) Attach(ctx context.Context, source engine.Source) error {
	steps := []step{stopReplica, forgetSource}
	if a.SemiSync {
		steps = append(steps,
			step{what: "disable the source side of semi-sync", sql: "SET GLOBAL rpl_semi_sync_source_enabled = OFF"},
			step{what: "enable the replica side of semi-sync", sql: "SET GLOBAL rpl_semi_sync_replica_enabled = ON"})
	}
	// The replica reconnects each second for as long as the experiment lasts, and hears of a silent source each second.
	change := step{
		what: "set the replication source",
		sql: `CHANGE REPLICATION SOURCE TO SOURCE_HOST = ?, SOURCE_PORT = ?, SOURCE_USER = ?, SOURCE_PASSWORD = ?,
 SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 1000000, SOURCE_HEARTBEAT_PERIOD = 1`,
		args: []any{source.Host, source.Port, wire.AccountReplication, a.ReplicationPassword},
	}
	return a.exec(ctx, append(steps, change, startReplica)...)
}

// Detach implements engine.Replica.
func (a *admin) Detach(ctx context.Context) error { return a.exec(ctx, stopReplica, forgetSource) }

// Turn implements engine.Replica.
func (a *admin) Turn(ctx context.Context, t engine.Threads) error { return a.exec(ctx, turns[t]) }

// CatchUp implements engine.Replica.
func (a *admin) CatchUp(ctx context.Context, received engine.Position, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit+statementTimeout)
	defer cancel()
	var timedOut int
	err := a.db.QueryRowContext(ctx, "SELECT WAIT_FOR_EXECUTED_GTID_SET(?, ?)", received.String(), limit.Seconds()).Scan(&timedOut)
	if err != nil {
		return fmt.Errorf("wait until the received transactions are applied: %w", err)
	}
	return nil
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
	err := a.exec(ctx,
		step{what: "allow the donor", sql: "SET GLOBAL clone_valid_donor_list = ?", args: []any{address}},
		step{what: "allow the clone", sql: "SET GLOBAL super_read_only = OFF"})
	if err != nil {
		return err
	}
	// The donor's port is no string literal, so it cannot be a parameter.
	statement := fmt.Sprintf("CLONE INSTANCE FROM ?@?:%d IDENTIFIED BY ?", donor.Port)
	_, err = a.db.ExecContext(ctx, statement, wire.AccountReplication, donor.Host, a.ReplicationPassword)
	var refused *driver.MySQLError
	if errors.As(err, &refused) && refused.Number != errNoSupervisor {
		failed := fmt.Errorf("clone from %s: %w", donor.Name, a.withoutSecret(err))
		return errors.Join(failed, a.Shut(ctx))
	}
	return ctx.Err()
}
