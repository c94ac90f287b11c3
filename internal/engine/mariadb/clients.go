package mariadb

import (
	"context"

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

// refusals are the errors after which a single autocommitted INSERT certainly left nothing behind. An error that is
// not listed leaves it open.
//
// Sources: number and meaning are from sql/share/errmsg-utf8.txt of MariaDB 11.8. Whether anything can be left behind is from the
// server's source: ha_commit_trans in sql/handler.cc asks once more for read-only before it prepares, and rolls back then;
// convert_error_code_to_mysql in storage/innobase/handler/ha_innodb.cc says what InnoDB rolls back.
//
// Not listed on purpose, beside what the family leaves out:
//
//	1927 connection killed, 1969 statement time exceeded: may arrive once the commit was logged
//	1950 out of order in strict mode: by definition in the midst of it
//	1180 error during COMMIT: a Galera member that is cut off answers it for writes that its peers have
//	1047 not prepared (Galera): a member that is cut off in the midst of a commit says so too
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
