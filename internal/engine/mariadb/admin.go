package mariadb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mariadb/gtid"
)

// admin implements engine.Admin.
type admin struct{ *family.Admin }

// OpenAdmin implements engine.OpenAdmin. It opens no connection yet.
func OpenAdmin(p engine.AdminParams) (engine.Admin, error) {
	a, err := family.NewAdmin(p, dialect.Acts)
	return &admin{a}, err
}

// Look implements engine.Admin. What the server has received it asks after what it has executed, so that the one is never behind
// the other.
func (a *admin) Look(ctx context.Context, q engine.Question) (engine.Look, error) {
	l, executed, err := a.lookAtServer(ctx, q)
	if err != nil {
		return engine.Look{}, err
	}
	row, err := family.QueryOne(ctx, a.DB, "SHOW REPLICA STATUS")
	if err != nil {
		return engine.Look{}, err
	}
	return l, seenAsReplica(&l, executed, row)
}

func (a *admin) lookAtServer(ctx context.Context, q engine.Question) (engine.Look, gtid.State, error) {
	var l engine.Look
	var state, request, copied, figures string
	row := a.DB.QueryRowContext(ctx, a.lookStatement(q))
	if err := row.Scan(&l.Writable, &state, &l.Awaits, &l.Acknowledgers, &request, &copied, &figures); err != nil {
		return l, gtid.State{}, err
	}
	l.Clone, l.CloneError = cloneState(request, copied)
	if l.Clone == engine.CloneCompleted {
		l.Cloned = copyFigures(figures)
	}
	executed, err := gtid.Parse(state)
	l.Executed = engine.PositionOf(executed)
	return l, executed, err
}

// lookStatement takes no lock that an application would wait for. The table of the status variables costs more and is asked only
// when q says so.
func (a *admin) lookStatement(q engine.Question) string {
	awaits, clients, copied := "FALSE", "0", "'', '', ''"
	if a.SemiSync {
		awaits = "@@GLOBAL.rpl_semi_sync_master_enabled"
	}
	if a.SemiSync && q.Acknowledgers {
		clients = "(SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Rpl_semi_sync_master_clients')"
	}
	if q.Clone {
		copied = strings.Join([]string{loadFile(engine.CopyRequestFile), loadFile(engine.CopyStateFile), loadFile(engine.CopyFiguresFile)}, ", ")
	}
	return fmt.Sprintf("SELECT NOT @@GLOBAL.read_only, @@GLOBAL.gtid_binlog_state, %s, %s, %s", awaits, clients, copied)
}

// seenAsReplica adds what SHOW REPLICA STATUS says; a server that is no replica has no row.
func seenAsReplica(l *engine.Look, executed gtid.State, row map[string]string) error {
	l.Receiver, l.Received = engine.ReceiverOff, l.Executed
	if row == nil {
		return nil
	}
	received, err := gtid.Parse(row["Gtid_IO_Pos"])
	if err != nil {
		return err
	}
	l.Received = engine.PositionOf(executed.Union(received))
	l.SourceHost = row["Master_Host"]
	if l.SourcePort, err = strconv.Atoi(row["Master_Port"]); err != nil {
		return fmt.Errorf("the port of the replication source: %w", err)
	}
	switch row["Slave_IO_Running"] {
	case "Yes":
		l.Receiver = engine.ReceiverOn
	case "Connecting", "Preparing":
		l.Receiver = engine.ReceiverConnecting
	}
	l.Applying = row["Slave_SQL_Running"] == "Yes"
	if l.LastError = row["Last_IO_Error"]; l.LastError == "" {
		l.LastError = row["Last_SQL_Error"]
	}
	return nil
}

// Turn implements engine.Replica. A server that starts a thread while neither runs throws away what it has received and not
// applied. So the applying thread is started before the receiving one is stopped, and never alone.
func (a *admin) Turn(ctx context.Context, t engine.Threads) error {
	switch t {
	case engine.StopReceiving:
		return a.Exec(ctx, family.StartApplier, family.StopReceiver)
	case engine.StartApplying:
		return a.startApplying(ctx)
	}
	return a.Admin.Turn(ctx, t)
}

func (a *admin) startApplying(ctx context.Context) error {
	l, err := a.Look(ctx, engine.Question{})
	if err != nil {
		return err
	}
	if l.Receiver == engine.ReceiverOff && !l.Applying && !l.Executed.Contains(l.Received) {
		return errors.New("start the applying thread: neither thread runs, and the server would throw away what it has received")
	}
	return a.Exec(ctx, family.StartApplier)
}
