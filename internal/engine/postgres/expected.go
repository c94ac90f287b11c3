package postgres

import (
	"maps"
	"slices"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// relied are settings that every experiment relies on, whatever it says of them: those of durability are RefuseParameters' to keep.
var relied = []string{
	"autovacuum", "data_checksums", "fsync", "full_page_writes", "hot_standby", "max_connections", "shared_buffers", "synchronous_commit",
	"wal_level", "wal_log_hints",
}

// stated are settings that nobody need choose and that decide on figures.
var stated = []string{
	"checkpoint_timeout", "commit_delay", "max_wal_size", "recovery_min_apply_delay", "server_encoding", "wal_buffers", "wal_keep_size",
	"wal_receiver_timeout", "wal_sync_method",
}

// Expected implements engine.Server. synchronous_standby_names is not in it: Patroni changes it.
func (Server) Expected(s engine.Settings) []wire.Setting {
	all := Parameters(s)
	all["autovacuum"], all["data_checksums"], all["hot_standby"] = "on", "on", "on"
	maps.Copy(all, s.Parameters)
	values := map[string]wire.Setting{}
	for _, name := range stated {
		values[name] = wire.Setting{Name: name, AnyValue: true}
	}
	for _, name := range slices.Concat(relied, slices.Collect(maps.Keys(s.Parameters))) {
		values[name] = wire.Setting{Name: name, Value: all[name]}
	}
	var list []wire.Setting
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, values[name])
	}
	return list
}
