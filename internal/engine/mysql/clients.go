package mysql

import (
	"context"

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

// refusals are the errors after which a single autocommitted INSERT certainly left nothing behind. An error that is
// not listed leaves it open.
//
// Sources: number and meaning are from MySQL 8.4's Server Error Message Reference. Whether anything can be left behind is
// from the server's source: ha_commit_trans in sql/handler.cc asks once more for read-only before it prepares, the hook
// before_commit runs in sql/binlog.cc before the transaction is written to the log, and convert_error_code_to_mysql in
// storage/innobase/handler/ha_innodb.cc says what InnoDB rolls back.
//
// Not listed on purpose, beside what the family leaves out:
//
//	3024 execution time exceeded: may arrive once the commit was logged
//	1180 error during COMMIT, 1047 not prepared (Percona XtraDB Cluster): a member that is cut off may say so in the midst of a commit, as one
//	of MariaDB was seen to. Both take what wsrep-lib answers for the same errors: wsrep_override_error in sql/wsrep_thd.h of 8.0
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
