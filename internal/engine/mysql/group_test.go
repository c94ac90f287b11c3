package mysql

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	names "replab.dev/internal/engine/family/parameters"
	"replab.dev/internal/wire"
)

func place() engine.Place {
	return engine.Place{ConfigDir: "/etc/replab", DataDir: "/data", RunDir: "/run/replab", TmpDir: "/tmp", Port: 3306}
}

var member = engine.Settings{Durability: engine.Full, Group: &engine.Group{Name: "ns/a", SyncWait: 1, SuspectMilliseconds: 1500}}

// TestAMemberIsConfigured as MariaDB's members are, where the image would have it otherwise.
func TestAMemberIsConfigured(t *testing.T) {
	lines := strings.Split(Server{}.Program(place(), member).Config, "\n")
	for _, line := range []string{
		"innodb-flush-log-at-trx-commit=1", "sync-binlog=1", "pxc-strict-mode=DISABLED", "pxc-encrypt-cluster-traffic=OFF", "wsrep-retry-autocommit=0",
		"innodb-autoinc-lock-mode=2", "binlog-format=ROW", "wsrep-cluster-name=ns/a", "wsrep-sync-wait=1", "wsrep-provider=/usr/lib64/galera4/libgalera_smm.so",
		"gtid-mode=OFF", "log-bin=binlog", "log-error-verbosity=3", "!include /run/replab/member.cnf",
	} {
		if !slices.Contains(lines, line) {
			t.Errorf("no line %q in %q", line, lines)
		}
	}
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "=")
		if slices.Contains([]string{"read-only", "super-read-only", "wsrep-on", "wsrep-sst-auth", "relay-log", "plugin-load-add"}, name) {
			t.Errorf("a member has the line %q", line)
		}
	}
}

// TestOthersHaveNothingOfAGroup: most servers would not start with a setting that they do not know.
func TestOthersHaveNothingOfAGroup(t *testing.T) {
	p := Server{}.Program(place(), engine.Settings{SemiSync: &engine.SemiSync{AckReplicas: 1}})
	if strings.Contains(p.Config, "wsrep") || strings.Contains(p.Config, "pxc") || strings.Contains(p.Config, "!include") {
		t.Errorf("the configuration of a server without a group:\n%s", p.Config)
	}
	for _, e := range (Server{}).Expected(engine.Settings{}) {
		if strings.HasPrefix(e.Name, "wsrep") || strings.HasPrefix(e.Name, "pxc") {
			t.Errorf("a server without a group is expected to have %s", e.Name)
		}
	}
}

// TestWhatAMemberIsToldIsExpected of it, apart from what no variable tells or what is the machine's.
func TestWhatAMemberIsToldIsExpected(t *testing.T) {
	expected := map[string]wire.Setting{}
	for _, e := range (Server{}).Expected(member) {
		expected[e.Name] = e
	}
	for name, want := range map[string]string{
		"log_bin": "ON", "gtid_mode": "OFF", "sync_binlog": "1", "innodb_flush_log_at_trx_commit": "1", "pxc_strict_mode": "DISABLED",
		"pxc_encrypt_cluster_traffic": "OFF", "wsrep_cluster_name": "ns/a", "wsrep_sync_wait": "1", "wsrep_retry_autocommit": "0",
		"wsrep_provider": "/usr/lib64/galera4/libgalera_smm.so", "wsrep_provider_options.evs.suspect_timeout": "PT1.5S", "binlog_format": "ROW",
	} {
		if e, ok := expected[name]; !ok || e.Value != want || e.AnyValue {
			t.Errorf("expected is %s %+v, want %s", name, e, want)
		}
	}
	for _, name := range []string{"wsrep_on", "enforce_gtid_consistency", "relay_log_recovery"} {
		if e, ok := expected[name]; ok {
			t.Errorf("a member is expected to have %+v", e)
		}
	}
}

func TestAMembersFileHasNoSecret(t *testing.T) {
	file, err := Server{}.Private(engine.MemberParams{
		Name: "a-db-1", Address: "10.0.0.2", Peers: []string{"10.0.0.1"}, Donors: []string{"a-db-2"},
		Password: func(string) (string, error) { return "", errors.New("nobody is asked") },
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(file.Content, "[mysqld]\n") || !strings.Contains(file.Content, "\nwsrep-cluster-address=gcomm://10.0.0.1,10.0.0.2\n") {
		t.Errorf("the member's file:\n%s", file.Content)
	}
	if program := (Server{}).Program(place(), member); !strings.Contains(program.Config, "!include /run/replab/"+file.Name+"\n") {
		t.Error("the configuration does not include the member's file")
	}
}

// TestHowAMemberIsStarted: to find its position, to be read, and as a member. Whatever comes before a member's start has its binary log:
// it decides about what is prepared.
func TestHowAMemberIsStarted(t *testing.T) {
	argv, params := []string{"mysqld", "--defaults-file=/etc/replab/my.cnf"}, engine.StartParams{Ordinal: 2, Socket: "/run/alone.sock"}
	recovery := Server{}.Recovery(argv)
	alone := Server{}.Alone(argv, params)
	enters := Server{}.Enter(argv, params, engine.Entry{Position: wire.GroupPosition{History: "h", Sequence: 7}})
	for name, c := range map[string]struct{ got, want []string }{
		"recovered": {recovery.Argv, []string{"--wsrep-recover", "--log-error-verbosity=3"}},
		"alone":     {alone.Argv, []string{"--wsrep-provider=none", "--skip-networking", "--super-read-only=ON", "--socket=/run/alone.sock"}},
		"enters":    {enters.Argv, []string{"--server-id=102", "--wsrep-start-position=h:7"}},
	} {
		for _, argument := range append([]string{argv[1]}, c.want...) {
			if !slices.Contains(c.got, argument) {
				t.Errorf("%s: no %s in %q", name, argument, c.got)
			}
		}
		if slices.ContainsFunc(c.got, func(a string) bool { return strings.Contains(a, "log-bin") || strings.Contains(a, "wsrep-on") }) {
			t.Errorf("%s: started as %q", name, c.got)
		}
	}
	if !slices.Contains(alone.Remove, "/run/alone.sock.lock") || !slices.Equal(recovery.Unfinished, []string{"sst_in_progress"}) {
		t.Errorf("alone it has %q removed; unfinished is what has %q", alone.Remove, recovery.Unfinished)
	}
	for name, c := range map[string]struct {
		process []string
		want    bool
	}{
		"a member":                           {enters.Argv, true},
		"one that looks for its position":    {recovery.Argv, false},
		"one that runs alone":                {alone.Argv, false},
		"one that a transfer's program runs": {append(slices.Clone(argv), "--skip-networking", "--datadir=/data", "--wsrep_provider=none"), false},
	} {
		if got := (Server{}).IsServer(argv, c.process); got != c.want {
			t.Errorf("%s is the node's server: %t", name, got)
		}
	}
}

// TestWhatAServerNotedAtItsEnd counts only where its data were closed.
func TestWhatAServerNotedAtItsEnd(t *testing.T) {
	const history, other = "0a4cb285-e632-11f1-a0c6-e227f02faf27", "1a4cb285-e632-11f1-a0c6-e227f02faf27"
	told := "[Note] [MY-000000] [WSREP] Recovered position: " + history + ":603\n"
	crashed := "[Note] [MY-012551] [InnoDB] Database was not shutdown normally!\n" + told
	note := func(history, sequence string) string {
		return "# GALERA saved state\nversion: 2.1\nuuid:    " + history + "\nseqno:   " + sequence + "\nsafe_to_bootstrap: 0\n"
	}
	for name, c := range map[string]struct {
		output, note string
		want         int64
	}{
		"closed in order":                 {told, note(history, "604"), 604},
		"closed, and noted as it is":      {told, note(history, "603"), 603},
		"closed, with a note of before":   {told, note(history, "600"), 603},
		"of another history":              {told, note(other, "604"), 603},
		"killed":                          {crashed, note(history, "-1"), 603},
		"killed, with a note of a moment": {crashed, note(history, "604"), 603},
		"without a note":                  {told, "", 603},
	} {
		got, err := Server{}.Recovery(nil).Position(c.output, c.note)
		if want := (wire.GroupPosition{History: history, Sequence: c.want}); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
	if got, err := (Server{}).Recovery(nil).Position("[ERROR] Aborting", note(history, "604")); err == nil {
		t.Errorf("a recovery that did not come to its end gave %v", got)
	}
	nowhere := "[Note] [MY-000000] [WSREP] Recovered position: 00000000-0000-0000-0000-000000000000:-1\n"
	if got, err := (Server{}).Recovery(nil).Position(nowhere, note(history, "604")); err != nil || got != (wire.GroupPosition{}) {
		t.Errorf("data that never were in a group: %v, %v", got, err)
	}
}

func TestReadTransfer(t *testing.T) {
	const stamp = "2026-10-06T01:44:30.673582Z 0 "
	at := time.Date(2026, 10, 6, 1, 44, 30, 673582000, time.UTC)
	for line, want := range map[string]engine.TransferNote{
		"[Note] [MY-000000] [WSREP] Initiating SST/IST transfer on JOINER side (wsrep_sst_xtrabackup-v2 --role 'joiner' --address '10.0.0.2' ": {At: at, Kind: v1alpha1.ResyncSST},
		"[Note] [MY-000000] [WSREP-SST] xtrabackup_ist received from donor: Running IST":                                                       {At: at, Event: engine.TransferIs, Kind: v1alpha1.ResyncIST},
		"[Note] [MY-000000] [Galera] Receiving IST: 19238 writesets, seqnos 5-19242":                                                           {At: at, Event: engine.TransferCatchesUp, Kind: v1alpha1.ResyncIST},
		"[Note] [MY-000000] [WSREP] Synchronized with group, ready for connections":                                                            {At: at, Event: engine.TransferEnds},
		"[ERROR] [MY-000000] [Galera] Receiving IST failed, node restart required: IST started with wrong seqno":                               {At: at, Event: engine.TransferFails},
	} {
		if got, ok := (Server{}).ReadTransfer(stamp + line); !ok || got != want {
			t.Errorf("%s: got %+v, %t", line, got, ok)
		}
		if got, ok := (Server{}).ReadTransfer(line); ok {
			t.Errorf("%s: without its time taken for %+v", line, got)
		}
	}
	for _, line := range []string{
		"", "[WSREP] Initiating SST/IST transfer on DONOR side (wsrep_sst_xtrabackup-v2 --role 'donor' ", "[Note] [MY-000000] [Galera] Receiving IST... 100.0% (3/3 events) complete.",
		"[Note] [MY-000000] [WSREP] SST completed",
	} {
		if got, ok := (Server{}).ReadTransfer(stamp + line); ok {
			t.Errorf("%s: taken for %+v", line, got)
		}
	}
}

// TestWhatMembersAreToldIsReserved, as what other servers are told is.
func TestWhatMembersAreToldIsReserved(t *testing.T) {
	for line := range strings.Lines(Server{}.Program(place(), member).Config) {
		name, _, set := strings.Cut(line, "=")
		if set && (Server{}).Reserved().Find(names.PlainName(name)) == nil && !slices.Contains(free, name) {
			t.Errorf("%s is written and not reserved", name)
		}
	}
}
