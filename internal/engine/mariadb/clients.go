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
	"replab.dev/internal/wire"
)

// Client implements engine.Local, and engine.Member for servers of a group.
func (Server) Client(socket, password string) (engine.Client, error) {
	c, err := family.NewClient(socket, password, family.ClientWords{
		Writable:    "SELECT NOT @@GLOBAL.read_only",
		Replication: "SHOW REPLICA STATUS", Applies: "Slave_SQL_Running",
		Fence: "SET GLOBAL read_only=ON",
	})
	return family.NewMember(c, family.MemberWords{
		Members: "SELECT NAME, UUID FROM information_schema.WSREP_MEMBERSHIP", Take: "SET GLOBAL wsrep_provider_pc_bootstrap=ON",
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
const localOff = 4166

// refusals are the errors after which a single autocommitted INSERT certainly left nothing behind; any other leaves it open. Numbers are from
// sql/share/errmsg-utf8.txt of MariaDB 11.8, effects from ha_commit_trans (sql/handler.cc) and convert_error_code_to_mysql (ha_innodb.cc).
//
// Not listed on purpose, beside those that the family leaves out:
//
//	1927 connection killed, 1969 statement time exceeded: may arrive once the commit was logged
//	1950 out of order in strict mode: by definition in the midst of it
//	1180 error during COMMIT, 1047 not prepared: a Galera member that is cut off gives them for writes that its peers have
//	1020 record has changed: no single INSERT reads a row first
var refusals = family.NewRefusals(nil)

// NewInspector implements engine.OpenInspector. A server is known by its id, which is its data's: see Start.
func NewInspector(password string) engine.Inspector {
	return family.Inspector{
		Password: password, Variables: "information_schema.GLOBAL_VARIABLES", Identity: "server_id",
		Options: family.ProviderVariable, Group: "wsrep_on",
	}
}

// NewCounters returns the counters of one node's commits. It connects to nothing yet. A server that is not told of
// semi-synchronous replication has the counters all the same, and counts nothing.
func NewCounters(host, password string) (*family.Counted[engine.Commits], error) {
	return family.NewCounters(host, password, family.CounterWords{
		Table: "information_schema.GLOBAL_STATUS", Acknowledged: "Rpl_semi_sync_master_yes_tx", Unacknowledged: "Rpl_semi_sync_master_no_tx",
		EachWaits: "TRUE", // trx_group_commit_leader in sql/log.cc of MariaDB 11.8 has each transaction of a group wait
		Executed:  "SELECT @@GLOBAL.gtid_binlog_state",
		Count: func(executed string) (int64, error) {
			state, err := gtid.Parse(executed)
			return state.Beyond(gtid.State{}), err
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

// Own does as audit.History says: a server's id is that of its data.
func (r Reader) Own(ctx context.Context) (bool, error) {
	var id uint32
	var executed string
	var member bool
	if err := r.Row(ctx, "SELECT @@GLOBAL.server_id, @@GLOBAL.gtid_binlog_state, @@GLOBAL.wsrep_on", nil, &id, &executed, &member); err != nil {
		return false, err
	}
	if member {
		return false, family.ErrMembersNames
	}
	state, err := gtid.Parse(executed)
	return state.MadeBy(id), err
}

// Unexecuted does as audit.History says.
func (r Reader) Unexecuted(ctx context.Context, others string) (int64, error) {
	other, err := gtid.Parse(others)
	if err != nil {
		return 0, err
	}
	executed, err := r.Executed(ctx)
	if err != nil {
		return 0, err
	}
	own, err := gtid.Parse(executed)
	return other.Beyond(own), err
}

// OpenRows implements engine.RowOpener. A server that runs alone may have no binary log, so it is asked for its position.
func (Server) OpenRows(ctx context.Context, socket, password string) (engine.Rows, error) {
	return family.OpenSocketReader(ctx, socket, password, family.ReaderWords{Executed: "SELECT @@GLOBAL.gtid_current_pos"})
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
	state, err := gtid.Parse(text)
	return engine.PositionOf(state), err
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
	executed := "@@GLOBAL.gtid_binlog_state"
	if a.Pair { // what it has replicated need not be in its log
		executed = "CONCAT_WS(',', NULLIF(@@GLOBAL.gtid_binlog_state, ''), NULLIF(@@GLOBAL.gtid_slave_pos, ''))"
	}
	return fmt.Sprintf("SELECT NOT @@GLOBAL.read_only, %s, %s, %s, %s", executed, awaits, clients, copied)
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
