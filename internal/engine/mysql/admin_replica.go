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
	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

var (
	stopReplica      = family.Step{What: "stop replication", SQL: "STOP REPLICA"}
	startReplica     = family.Step{What: "start replication", SQL: "START REPLICA"}
	forgetSource     = family.Step{What: "forget the replication source", SQL: "RESET REPLICA ALL"}
	semiSyncSourceOn = family.Step{What: "enable the source side of semi-sync", SQL: "SET GLOBAL rpl_semi_sync_source_enabled = ON"}
	makeWritable     = family.Step{What: "make the server writable", SQL: "SET GLOBAL read_only = OFF"} // super_read_only with it
	makeReadOnly     = family.Step{What: "make the server read-only", SQL: "SET GLOBAL super_read_only = ON"}
)

var turns = map[engine.Threads]family.Step{
	engine.StartBoth:     startReplica,
	engine.StopBoth:      stopReplica,
	engine.StopReceiving: {What: "stop the receiving thread", SQL: "STOP REPLICA IO_THREAD"},
	engine.StartApplying: {What: "start the applying thread", SQL: "START REPLICA SQL_THREAD"},
}

// Open implements engine.Gate.
func (a *admin) Open(ctx context.Context) error { return a.Exec(ctx, makeWritable) }

// Shut implements engine.Gate.
func (a *admin) Shut(ctx context.Context) error { return a.Exec(ctx, makeReadOnly) }

// AwaitReplicas implements engine.Gate.
func (a *admin) AwaitReplicas(ctx context.Context) error {
	if !a.SemiSync {
		return nil
	}
	return a.Exec(ctx, semiSyncSourceOn)
}

// Attach implements engine.Replica.
func (a *admin) Attach(ctx context.Context, source engine.Source) error {
	steps := []family.Step{stopReplica, forgetSource}
	if a.SemiSync {
		steps = append(steps,
			family.Step{What: "disable the source side of semi-sync", SQL: "SET GLOBAL rpl_semi_sync_source_enabled = OFF"},
			family.Step{What: "enable the replica side of semi-sync", SQL: "SET GLOBAL rpl_semi_sync_replica_enabled = ON"})
	}
	// The replica reconnects each second for as long as the experiment lasts, and hears of a silent source each second.
	change := family.Step{
		What: "set the replication source",
		SQL: `CHANGE REPLICATION SOURCE TO SOURCE_HOST = ?, SOURCE_PORT = ?, SOURCE_USER = ?, SOURCE_PASSWORD = ?,
 SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 1000000, SOURCE_HEARTBEAT_PERIOD = 1`,
		Args: []any{source.Host, source.Port, wire.AccountReplication, a.ReplicationPassword},
	}
	return a.Exec(ctx, append(steps, change, startReplica)...)
}

// Detach implements engine.Replica.
func (a *admin) Detach(ctx context.Context) error { return a.Exec(ctx, stopReplica, forgetSource) }

// Turn implements engine.Replica.
func (a *admin) Turn(ctx context.Context, t engine.Threads) error { return a.Exec(ctx, turns[t]) }

// CatchUp implements engine.Replica.
func (a *admin) CatchUp(ctx context.Context, received engine.Position, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit+family.StatementTimeout)
	defer cancel()
	var timedOut int
	err := a.DB.QueryRowContext(ctx, "SELECT WAIT_FOR_EXECUTED_GTID_SET(?, ?)", received.String(), limit.Seconds()).Scan(&timedOut)
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
