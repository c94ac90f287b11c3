package postgres_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/parameters"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
)

// reported is a setting as a server reports it.
type reported struct {
	value string
	kind  postgres.Kind
}

// settingsOf are all settings that an account sees.
func settingsOf(t *testing.T, s *postgrestest.Server, account string) map[string]reported {
	t.Helper()
	rows, err := s.Connect(account, wire.Database).Query(t.Context(), "SELECT name, current_setting(name), coalesce(unit, ''), vartype FROM pg_settings")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]reported{}
	for rows.Next() {
		var name string
		var r reported
		if err := rows.Scan(&name, &r.value, &r.kind.Unit, &r.kind.Type); err != nil {
			t.Fatal(err)
		}
		all[name] = r
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// spelled are values in other words than a server reports them in.
var spelled = map[string]string{
	"shared_buffers":                      "4096", // of 8 kB
	"work_mem":                            "1.5MB",
	"maintenance_work_mem":                "0x10000", // kB
	"temp_buffers":                        "1004kB",  // 125.5 of 8 kB
	"wal_buffers":                         "-1",
	"checkpoint_timeout":                  "0.1h",
	"commit_delay":                        "010", // octal, µs
	"deadlock_timeout":                    "1500",
	"vacuum_cost_delay":                   "0.5",
	"random_page_cost":                    "1.10",
	"checkpoint_completion_target":        "9e-1",
	"enable_seqscan":                      "ye",
	"autovacuum":                          "OFF",
	"backend_flush_after":                 "1MB",
	"wal_compression":                     "ON",
	"log_statement":                       "Mod",
	"default_statistics_target":           "50",
	"log_min_messages":                    "debug",
	"log_line_prefix":                     "%m #",
	"max_slot_wal_keep_size":              "1TB",
	"idle_in_transaction_session_timeout": "1d",
}

func TestEverySettingThatIsWrittenIsReadBack(t *testing.T) {
	for durability, commits := range map[engine.Durability]string{
		"": "on, flushed: on", engine.Full: "on, flushed: on", engine.Relaxed: "on, flushed: off", engine.Volatile: "off, flushed: on",
	} {
		t.Run("durability "+string(durability), func(t *testing.T) {
			settings := engine.Settings{Durability: durability, Parameters: maps.Clone(spelled)}
			server := postgrestest.Start(t, "a-db-0", func(s *engine.Settings) { *s = settings })
			all := settingsOf(t, server, wire.AccountProbe)
			if got := all["synchronous_commit"].value + ", flushed: " + all["fsync"].value; got != commits || all["full_page_writes"].value != "on" {
				t.Errorf("commits wait: %s, want %s", got, commits)
			}
			for name, value := range postgres.Parameters(settings) {
				if got, ok := all[name]; !ok || !got.kind.Same(name, value, got.value) {
					t.Errorf("%s was written as %q and is reported as %+v", name, value, got)
				}
			}
			for _, want := range (postgres.Server{}).Expected(settings) {
				got, ok := all[want.Name]
				if !ok || (!want.AnyValue && !got.kind.Same(want.Name, want.Value, got.value)) {
					t.Errorf("%+v is expected, and %+v is reported", want, got)
				}
			}
		})
	}
}

func TestWhatAServerReportsIsNoOtherValue(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0", func(s *engine.Settings) { s.Parameters = maps.Clone(spelled) })
	all := settingsOf(t, server, wire.AccountProbe)
	for name, other := range map[string]string{
		"shared_buffers": "32768", "work_mem": "1.6MB", "maintenance_work_mem": "10000", "temp_buffers": "1000kB", "checkpoint_timeout": "5min",
		"commit_delay": "10", "deadlock_timeout": "1s", "vacuum_cost_delay": "1", "random_page_cost": "1.11", "checkpoint_completion_target": "0.8",
		"enable_seqscan": "off", "autovacuum": "on", "backend_flush_after": "1kB", "wal_compression": "lz4", "log_min_messages": "debug1", "log_statement": "ddl",
		"default_statistics_target": "100", "log_line_prefix": "%m", "fsync": "", "wal_level": "logical", "max_wal_size": "1", "port": "x",
	} {
		if got, ok := all[name]; !ok || got.kind.Same(name, other, got.value) {
			t.Errorf("%s is reported as %+v, which is taken for %q", name, got, other)
		}
	}
}

func TestExpectedNamesEachSettingOnce(t *testing.T) {
	list := postgres.Server{}.Expected(engine.Settings{Parameters: map[string]string{
		"autovacuum": "off", "max_wal_size": "2GB", "max_connections": "50", "work_mem": "8MB",
	}})
	byName := map[string]wire.Setting{}
	for _, s := range list {
		if _, twice := byName[s.Name]; twice {
			t.Errorf("%s is there twice", s.Name)
		}
		byName[s.Name] = s
	}
	for name, value := range map[string]string{
		"autovacuum": "off", "max_wal_size": "2GB", "max_connections": "50", "work_mem": "8MB", "fsync": "on", "wal_level": "replica", "shared_buffers": "128MB",
	} {
		if got := byName[name]; got.Value != value || got.AnyValue {
			t.Errorf("%s: %+v is expected, want %s", name, got, value)
		}
	}
	if got := byName["wal_sync_method"]; !got.AnyValue {
		t.Errorf("wal_sync_method: %+v, want it stated whatever it is", got)
	}
	if _, is := byName["synchronous_standby_names"]; is {
		t.Error("synchronous_standby_names is expected to stay, and Patroni changes it")
	}
}

func TestParametersThatAreNotAnExperimentsToChoose(t *testing.T) {
	for parameter, words := range map[string]string{
		"fsync=off": "topology.durability", "synchronous_commit=local": "topology.durability", "Full-Page-Writes=off": "topology.durability",
		"synchronous_standby_names=*": "topology.patroni", "recovery_target_time=now": "topology.patroni", "archive_mode=on": "topology.patroni",
		"default_transaction_read_only=on": "takes writes", "cluster_name=x": "who a node is", "shared_preload_libraries=x": "what it loads",
		"unix_socket_directories=/x": "files", "include_dir=x": "files", "ssl_cert_file=x": "reached", "port=1": "reached",
		"password_encryption=md5": "lets in", "search_path=x": "statements mean",
		"shared-buffers=1GB": "invalid parameter name", "Work_mem=1": "invalid parameter name", "pg_stat_statements.max=1": "invalid parameter name",
		"work_mem=": "empty", "work_mem=1\n2": "one line", "work_mem= 1": "spaces", "timezone='UTC'": "quotes", `log_line_prefix=\x`: "quotes",
		"log_line_prefix=@secret:replab_admin@": "filled in",
	} {
		name, value, _ := strings.Cut(parameter, "=")
		got := postgres.Server{}.RefuseParameters(map[string]string{name: value, "work_mem_": "1"})
		if len(got) != 1 || got[0].Name != name || !strings.Contains(got[0].Why, words) {
			t.Errorf("%q: %q, want one with %q", parameter, got, words)
		}
	}
	allowed := map[string]string{
		"shared_buffers": "1GB", "work_mem": "8MB", "max_connections": "50", "wal_keep_size": "1GB", "track_commit_timestamp": "on", "jit": "on",
		"commit_delay": "1000", "wal_sync_method": "open_datasync", "autovacuum": "off", "log_line_prefix": "%m#", "authentication_timeout": "30s",
	}
	if got := (postgres.Server{}).RefuseParameters(allowed); got != nil {
		t.Errorf("refused: %q", got)
	}
}

// TestReservedSettingsAreSettings finds names that are misspelled: what is reserved under a wrong name is not.
func TestReservedSettingsAreSettings(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	all := settingsOf(t, server, wire.AccountAdmin)
	elsewhere := []string{ // not in pg_settings, or of other versions
		"role", "session_authorization", "db_user_namespace", "promote_trigger_file", "stats_temp_directory",
	}
	names, prefixes, suffixes := parameters.Reserved()
	for _, name := range names {
		if _, is := all[name]; !is && !slices.Contains(elsewhere, name) {
			t.Errorf("no setting is called %s", name)
		}
	}
	for _, part := range slices.Concat(prefixes, suffixes) {
		found := slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(name string) bool {
			return strings.HasPrefix(name, part) || strings.HasSuffix(name, part)
		})
		if !found && part != "include" {
			t.Errorf("no setting's name begins or ends with %s", part)
		}
	}
}

func TestMemory(t *testing.T) {
	const beside = 256 << 20
	for value, want := range map[string]int64{
		"1GB": 1 << 30, "128MB": 128 << 20, "16384": 128 << 20, "1.5GB": 3 << 29, "2TB": 2 << 40, "many": 0, "": 0, "-1": 0, "1e300": 1 << 62,
	} {
		got := postgres.Server{}.Memory(map[string]string{"shared_buffers": value, "work_mem": "9GB"})
		if got.Bytes/(1<<20) != (want+beside)/(1<<20) || got.Setting != "shared_buffers" {
			t.Errorf("shared_buffers=%s: %+v, want %d bytes and what a node needs beside", value, got, want)
		}
	}
	if got := (postgres.Server{}).Memory(nil); got.Bytes != 384<<20 {
		t.Errorf("%+v without a word of its buffers, want 384 MiB", got)
	}
}

func TestLogSize(t *testing.T) {
	for _, c := range []struct {
		parameters map[string]string
		mebibytes  int64
		setting    string
	}{
		{nil, 1024, "max_wal_size"},
		{map[string]string{"max_wal_size": "8GB"}, 8192, "max_wal_size"},
		{map[string]string{"max_wal_size": "256"}, 256, "max_wal_size"},
		{map[string]string{"max_wal_size": "0.5GB", "shared_buffers": "9GB"}, 512, "max_wal_size"},
		{map[string]string{"wal_keep_size": "512MB"}, 1024, "max_wal_size"},
		{map[string]string{"wal_keep_size": "4GB"}, 4096, "wal_keep_size"},
		{map[string]string{"max_wal_size": "many"}, 0, "max_wal_size"},
		{map[string]string{"max_wal_size": "1e300"}, 1 << 42, "max_wal_size"},
	} {
		if got := (postgres.Server{}).LogSize(c.parameters); got != (validation.Need{Bytes: c.mebibytes << 20, Setting: c.setting}) {
			t.Errorf("%v: %+v, want %d MiB by %s", c.parameters, got, c.mebibytes, c.setting)
		}
	}
}
