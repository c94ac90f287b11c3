package mariadb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mariadb/gtid"
	"replab.dev/internal/wire"
)

var (
	stopReplica  = family.Step{What: "stop replication", SQL: "STOP REPLICA"}
	startReplica = family.Step{What: "start replication", SQL: "START REPLICA"}
	forgetSource = family.Step{What: "forget the replication source", SQL: "RESET REPLICA ALL"}
	startApplier = family.Step{What: "start the applying thread", SQL: "START REPLICA SQL_THREAD"}
	awaitOn      = family.Step{What: "enable the master's side of semi-sync", SQL: "SET GLOBAL rpl_semi_sync_master_enabled = ON"}
	makeWritable = family.Step{What: "make the server writable", SQL: "SET GLOBAL read_only = OFF"}
	makeReadOnly = family.Step{What: "make the server read-only", SQL: "SET GLOBAL read_only = ON"}
)

// Open implements engine.Gate.
func (a *admin) Open(ctx context.Context) error { return a.Exec(ctx, makeWritable) }

// Shut implements engine.Gate.
func (a *admin) Shut(ctx context.Context) error { return a.Exec(ctx, makeReadOnly) }

// AwaitReplicas implements engine.Gate.
func (a *admin) AwaitReplicas(ctx context.Context) error {
	if !a.SemiSync {
		return nil
	}
	return a.Exec(ctx, awaitOn)
}

// Attach implements engine.Replica. It goes on from the end of the server's binary log, which has everything that the server
// executed, be it as a replica or as a primary.
func (a *admin) Attach(ctx context.Context, source engine.Source) error {
	steps := []family.Step{stopReplica, forgetSource}
	if a.SemiSync {
		steps = append(steps,
			family.Step{What: "disable the master's side of semi-sync", SQL: "SET GLOBAL rpl_semi_sync_master_enabled = OFF"},
			family.Step{What: "enable the slave's side of semi-sync", SQL: "SET GLOBAL rpl_semi_sync_slave_enabled = ON"})
	}
	// The replica reconnects each second, and hears of a silent source each second.
	return a.Exec(ctx, append(steps,
		family.Step{What: "set where replication goes on", SQL: "SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos"},
		family.Step{
			What: "set the replication source",
			SQL: `CHANGE MASTER TO MASTER_HOST = ?, MASTER_PORT = ?, MASTER_USER = ?, MASTER_PASSWORD = ?, MASTER_USE_GTID = slave_pos,
 MASTER_SSL = 0, MASTER_CONNECT_RETRY = 1, MASTER_HEARTBEAT_PERIOD = 1`,
			Args: []any{source.Host, source.Port, wire.AccountReplication, a.ReplicationPassword},
		}, startReplica)...)
}

// Detach implements engine.Replica.
func (a *admin) Detach(ctx context.Context) error { return a.Exec(ctx, stopReplica, forgetSource) }

// Turn implements engine.Replica. A server that starts a thread while neither runs throws away what it has received and not
// applied. So the applying thread is started before the receiving one is stopped, and never alone.
func (a *admin) Turn(ctx context.Context, t engine.Threads) error {
	switch t {
	case engine.StartBoth:
		return a.Exec(ctx, startReplica)
	case engine.StopBoth:
		return a.Exec(ctx, stopReplica)
	case engine.StopReceiving:
		return a.Exec(ctx, startApplier, family.Step{What: "stop the receiving thread", SQL: "STOP REPLICA IO_THREAD"})
	case engine.StartApplying:
		return a.startApplying(ctx)
	}
	return fmt.Errorf("the threads cannot be told to %s", t)
}

func (a *admin) startApplying(ctx context.Context) error {
	l, err := a.Look(ctx, engine.Question{})
	if err != nil {
		return err
	}
	if l.Receiver == engine.ReceiverOff && !l.Applying && !l.Executed.Contains(l.Received) {
		return errors.New("start the applying thread: neither thread runs, and the server would throw away what it has received")
	}
	return a.Exec(ctx, startApplier)
}

// CatchUp implements engine.Replica.
func (a *admin) CatchUp(ctx context.Context, received engine.Position, limit time.Duration) error {
	state, err := gtid.Parse(received.String())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit+family.StatementTimeout)
	defer cancel()
	var timedOut int
	err = a.DB.QueryRowContext(ctx, "SELECT MASTER_GTID_WAIT(?, ?)", state.Position(), limit.Seconds()).Scan(&timedOut)
	if err != nil {
		return fmt.Errorf("wait until the received transactions are applied: %w", err)
	}
	return nil
}
