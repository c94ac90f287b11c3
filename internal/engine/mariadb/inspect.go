package mariadb

import (
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mariadb/gtid"
)

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
