package mariadb

import (
	"slices"
	"strconv"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

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
	d := family.Durabilities[s.Durability]
	flush := wire.Setting{Name: "innodb_flush_log_at_trx_commit", Value: d.FlushAtCommit}
	if s.Group != nil {
		return slices.Concat(family.Relied(), []wire.Setting{flush}, groupExpected(*s.Group), family.Parameters(s.Parameters))
	}
	list := append(family.Relied(replicating...), flush, wire.Setting{Name: "sync_binlog", Value: d.SyncBinlog})
	if s.SemiSync != nil {
		list = append(list,
			wire.Setting{Name: "rpl_semi_sync_slave_enabled", Value: "ON"},
			wire.Setting{Name: "rpl_semi_sync_master_timeout", Value: strconv.FormatInt(s.SemiSync.TimeoutMilliseconds, 10)},
			wire.Setting{Name: "rpl_semi_sync_master_wait_no_slave", Value: "ON"},
			wire.Setting{Name: "rpl_semi_sync_master_wait_point", Value: family.WaitPoint(*s.SemiSync)})
	}
	return append(list, family.Parameters(s.Parameters)...)
}
