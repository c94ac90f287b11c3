package mysql

import (
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mysql/gtid"
)

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
