package mysql

import (
	"slices"
	"strconv"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

// replicating are settings that servers rely on which form no group.
var replicating = []wire.Setting{
	{Name: "enforce_gtid_consistency", Value: "ON"},
	{Name: "gtid_mode", Value: "ON"},
	{Name: "log_bin", Value: "ON"},
	{Name: "log_replica_updates", Value: "ON"},
	{Name: "relay_log_recovery", Value: "ON"},
	{Name: "replica_exec_mode", Value: "STRICT"},
	{Name: "replica_skip_errors", Value: "OFF"},
}

// Expected implements engine.Server. What depends on a node's role is not in it.
func (Server) Expected(s engine.Settings) []wire.Setting {
	d := family.Durabilities[s.Durability]
	flushed := []wire.Setting{
		{Name: "innodb_flush_log_at_trx_commit", Value: d.FlushAtCommit},
		{Name: "sync_binlog", Value: d.SyncBinlog},
	}
	if s.Group != nil {
		return slices.Concat(family.Relied(), flushed, groupExpected(*s.Group), family.Parameters(s.Parameters))
	}
	list := append(family.Relied(replicating...), flushed...)
	if s.SemiSync != nil {
		list = append(list,
			wire.Setting{Name: "rpl_semi_sync_source_timeout", Value: strconv.FormatInt(s.SemiSync.TimeoutMilliseconds, 10)},
			wire.Setting{Name: "rpl_semi_sync_source_wait_for_replica_count", Value: strconv.Itoa(s.SemiSync.AckReplicas)},
			wire.Setting{Name: "rpl_semi_sync_source_wait_point", Value: family.WaitPoint(*s.SemiSync)})
	}
	return append(list, family.Parameters(s.Parameters)...)
}
