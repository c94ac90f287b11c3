package mariadb

import (
	"slices"
	"strconv"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

// relied are settings that every experiment relies on.
var relied = []wire.Setting{
	{Name: "autocommit", Value: "ON"},
	{Name: "binlog_format", Value: "ROW"},
	{Name: "default_storage_engine", Value: "InnoDB"},
	{Name: "init_connect", Value: ""},
	{Name: "innodb_doublewrite", Value: "ON"},
	{Name: "innodb_flush_log_at_timeout", Value: "1"},
	{Name: "innodb_force_recovery", Value: "0"},
}

// replicating are settings that servers rely on which form no group.
var replicating = []wire.Setting{
	{Name: "gtid_domain_id", Value: "0"},
	{Name: "gtid_strict_mode", Value: "ON"},
	{Name: "log_bin", Value: "ON"},
	{Name: "log_slave_updates", Value: "ON"},
	{Name: "slave_exec_mode", Value: "STRICT"},
	{Name: "slave_parallel_threads", Value: "0"},
	{Name: "slave_skip_errors", Value: "OFF"},
}

// Expected implements engine.Server. What depends on a node's role is not in it.
func (Server) Expected(s engine.Settings) []wire.Setting {
	d := durabilities[s.Durability]
	flush := wire.Setting{Name: "innodb_flush_log_at_trx_commit", Value: d.flushAtCommit}
	if s.Group != nil {
		return slices.Concat(relied, []wire.Setting{flush}, groupExpected(*s.Group), family.Parameters(s.Parameters))
	}
	list := slices.Concat(relied, replicating)
	slices.SortFunc(list, func(a, b wire.Setting) int { return strings.Compare(a.Name, b.Name) })
	list = append(list, flush, wire.Setting{Name: "sync_binlog", Value: d.syncBinlog})
	if s.SemiSync != nil {
		list = append(list,
			wire.Setting{Name: "rpl_semi_sync_slave_enabled", Value: "ON"},
			wire.Setting{Name: "rpl_semi_sync_master_timeout", Value: strconv.FormatInt(s.SemiSync.TimeoutMilliseconds, 10)},
			wire.Setting{Name: "rpl_semi_sync_master_wait_no_slave", Value: "ON"},
			wire.Setting{Name: "rpl_semi_sync_master_wait_point", Value: waitPoint(*s.SemiSync)})
	}
	return append(list, family.Parameters(s.Parameters)...)
}
