package mariadb

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"replab.dev/internal/engine"
	names "replab.dev/internal/engine/family/parameters"
)

// TestWhatTheConfigurationSetsIsReservedOrASize: a setting that replab writes for a reason must not be set again below.
func TestWhatTheConfigurationSetsIsReservedOrASize(t *testing.T) {
	free := []string{"skip-name-resolve", "innodb-buffer-pool-size", "innodb-log-file-size", "innodb-log-buffer-size", "max-connections"}
	p := Server{}.Program(engine.Place{}, engine.Settings{SemiSync: &engine.SemiSync{}, Pair: &engine.Pair{}})
	for line := range strings.Lines(p.Config) {
		name, _, set := strings.Cut(line, "=")
		if set && (Server{}).Reserved().Find(names.PlainName(name)) == nil && !slices.Contains(free, name) {
			t.Errorf("%s is written and not reserved", name)
		}
	}
}

func TestRefuseParameters(t *testing.T) {
	for name, says := range map[string]string{
		"sync_binlog": "Set topology.durability", "innodb-flush-log-at-trx-commit": "Set topology.durability", "init_rpl_role": "Set topology.durability",
		"rpl_semi_sync_master_wait_point": "topology.semiSync", "read_only": "which node takes writes", "skip-slave-start": "what is replicated",
		"gtid_domain_id": "what is replicated", "slave_parallel_threads": "what is replicated", "wsrep_on": "what is replicated",
		"replicate_do_db": "what is replicated", "skip-log-bin": "what is replicated", "server_id": "who a node is", "plugin_load_add": "where a node keeps",
		"extra_port": "how a node is reached", "log_warnings": "what a node tells in its log", "silent-startup": "what a node tells in its log",
		"log_error_verbosity": "what a node tells in its log", "skip-grant-tables": "whom a node lets in", "loose-max_connections": "Name the setting max-connections itself",
	} {
		refused := Server{}.RefuseParameters(map[string]string{name: "1"})
		if len(refused) != 1 || !strings.Contains(refused[0].Why, says) {
			t.Errorf("%s: refused with %q, want one sentence with %q", name, refused, says)
		}
	}
	free := map[string]string{"max_connections": "100", "innodb_log_file_size": "64M", "binlog_row_image": "MINIMAL", "innodb_snapshot_isolation": "OFF"}
	if refused := (Server{}).RefuseParameters(free); len(refused) > 0 {
		t.Errorf("refused: %q", refused)
	}
}

func TestIsServer(t *testing.T) {
	argv := []string{"mariadbd", "--defaults-file=/etc/mariadb.cnf"}
	for name, c := range map[string]struct {
		process []string
		want    bool
	}{
		"the server as the wrapper starts it":   {Server{}.Start(argv, engine.StartParams{Ordinal: 2, Identity: 7}).Argv, true},
		"one that makes a data directory":       {append(slices.Clone(argv), "--bootstrap"), false},
		"one that looks for its position":       {append(slices.Clone(argv), "--wsrep-recover"), false},
		"one with another configuration":        {[]string{"mariadbd", "--defaults-file=/etc/other.cnf"}, false},
		"a process without arguments, a zombie": {nil, false},
	} {
		if got := (Server{}).IsServer(argv, c.process); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAServersIDIsItsDatas(t *testing.T) {
	for identity, want := range map[uint32]string{4294967295: "--server-id=4294967295", 0: "--server-id=102"} {
		if got := (Server{}).Start([]string{"mariadbd"}, engine.StartParams{Ordinal: 2, Identity: identity}).Argv; !slices.Contains(got, want) {
			t.Errorf("identity %d: %q", identity, got)
		}
	}
}

func TestACopyGoesOnFromTheDonorsHistory(t *testing.T) {
	file := func(text string) func(string) (string, error) {
		return func(name string) (string, error) {
			if name != positionFiles[0] || text == "" {
				return "", errors.New("no such file")
			}
			return text, nil
		}
	}
	for name, c := range map[string]struct{ history, file, want string }{
		"a donor with a past":     {"0-1-5,0-2-9,1-2-3", "binlog.000002\t345\t0-2-11,1-2-3\n", "0-1-5\n0-2-11\n1-2-3\n"},
		"a donor with nothing":    {"", "binlog.000001\t345\t\n", "-"},
		"no position":             {"0-1-5", "binlog.000001\t345\n", ""},
		"no file":                 {"0-1-5", "", ""},
		"a position that is none": {"0-1-5", "binlog.000001\t345\tx\n", ""},
	} {
		notes, err := Server{}.Notes(engine.CopyRequest{Note: c.history}, file(c.file))
		if (err != nil) != (c.want == "") || strings.TrimSuffix(notes[stateFile], "\n") != strings.Trim(c.want, "-\n") {
			t.Errorf("%s: %q, %v", name, notes, err)
		}
	}
}

func TestHowACopyWent(t *testing.T) {
	for name, c := range map[string]struct {
		request, copied string
		want            engine.CloneState
		why             string
	}{
		"none was asked for":    {"", "", "", ""},
		"one is under way":      {"{} ", "", engine.CloneInProgress, ""},
		"another, after a copy": {"{} ", " ", engine.CloneInProgress, ""},
		"a copy":                {"", " ", engine.CloneCompleted, ""},
		"one that failed":       {"", "no route ", engine.CloneFailed, "no route"},
	} {
		if got, why := cloneState(c.request, c.copied); got != c.want || why != c.why {
			t.Errorf("%s: %q %q", name, got, why)
		}
	}
}
