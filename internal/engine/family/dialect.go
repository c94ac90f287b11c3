package family

import (
	"fmt"
	"slices"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// Dialect is what an engine of the family says in its own words where the shape is the same.
type Dialect struct {
	// Server is the program, the stem of its files, and its section of the configuration.
	Server string
	// ConfigFile is the name of its configuration file.
	ConfigFile string
	Lines      ConfigLists
	Settings   ExpectedLists
	Acts       Acts
	Lag        LagWords
	Reader     ReaderWords
}

// ConfigLists are lines of a configuration.
type ConfigLists struct {
	First, Network, More []string
	// Replicating are of servers that form no group: at the beginning, and NoGroup at the end.
	Replicating, NoGroup []string
	Sizes                []string // of memory and logs
	SemiSync             func(engine.SemiSync) []string
	Group                func(g engine.Group, runDir string) []string
}

// ExpectedLists are settings that servers report.
type ExpectedLists struct {
	Replicating []wire.Setting // of servers that form no group
	SemiSync    func(engine.SemiSync) []wire.Setting
	Group       func(engine.Group) []wire.Setting
	// MembersLog tells that members of a group keep a binary log.
	MembersLog bool
}

// Program is engine.Server's. It has no port for copies.
func (d *Dialect) Program(place engine.Place, s engine.Settings) engine.Program {
	socket := place.RunDir + "/" + d.Server + ".sock"
	return engine.Program{
		Argv: []string{d.Server, "--defaults-file=" + place.ConfigDir + "/" + d.ConfigFile}, Process: d.Server, Socket: socket,
		ConfigFile: d.ConfigFile, Config: d.config(place, socket, s),
	}
}

// config renders the configuration file. The server id is not in it, since it differs by node: the start wrapper passes it as an
// argument. Each node boots read-only and with its replication stopped: the director alone opens one or starts it.
//
// Sizes are for small nodes that share a machine; parameters come last and so win.
func (d *Dialect) config(place engine.Place, socket string, s engine.Settings) string {
	flush := Durabilities[s.Durability]
	lines := slices.Concat([]string{"[" + d.Server + "]"}, d.Lines.First, []string{
		"datadir=" + place.DataDir,
		"socket=" + socket,
		"tmpdir=" + place.TmpDir,
		"pid-file=" + place.RunDir + "/" + d.Server + ".pid",
		fmt.Sprintf("port=%d", place.Port),
	}, d.Lines.Network, []string{"skip-name-resolve=ON"})
	if s.Group == nil {
		lines = append(lines, d.Lines.Replicating...)
	}
	lines = append(lines, "innodb-flush-log-at-trx-commit="+flush.FlushAtCommit, "sync-binlog="+flush.SyncBinlog)
	lines = slices.Concat(lines, d.Lines.Sizes, []string{"innodb-log-buffer-size=8388608", "max-connections=500", "local-infile=ON"}, d.Lines.More)
	if s.Group == nil {
		lines = append(lines, d.Lines.NoGroup...)
	} else {
		lines = append(lines, d.Lines.Group(*s.Group, place.RunDir)...)
	}
	if s.SemiSync != nil {
		lines = append(lines, d.Lines.SemiSync(*s.SemiSync)...)
	}
	return strings.Join(append(lines, ConfigLines(s.Parameters)...), "\n") + "\n"
}

// Expected is engine.Server's. What depends on a node's role is not in it.
func (d *Dialect) Expected(s engine.Settings) []wire.Setting {
	flush := Durabilities[s.Durability]
	flushed := []wire.Setting{{Name: "innodb_flush_log_at_trx_commit", Value: flush.FlushAtCommit}}
	if s.Group == nil || d.Settings.MembersLog {
		flushed = append(flushed, wire.Setting{Name: "sync_binlog", Value: flush.SyncBinlog})
	}
	var list []wire.Setting
	if s.Group != nil {
		list = slices.Concat(Relied(), flushed, d.Settings.Group(*s.Group))
	} else {
		list = append(Relied(d.Settings.Replicating...), flushed...)
	}
	if s.Group == nil && s.SemiSync != nil {
		list = append(list, d.Settings.SemiSync(*s.SemiSync)...)
	}
	return append(list, Parameters(s.Parameters)...)
}
