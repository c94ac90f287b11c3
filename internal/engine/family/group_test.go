package family

import (
	"slices"
	"strings"
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const someHistory = "0a4cb285-e632-11f1-a0c6-e227f02faf27"

// A server whose cluster address is empty begins a group of its own.
func TestNoMemberHasAnEmptyClusterAddress(t *testing.T) {
	if lines := MemberLines(engine.MemberParams{Name: "a"}); !slices.Contains(lines, "wsrep-cluster-address=gcomm://"+nowhere) {
		t.Errorf("without any address the file says: %q", lines)
	}
}

func TestMembersMeet(t *testing.T) {
	for name, c := range map[string]struct {
		params engine.MemberParams
		want   []string
	}{
		"by IPv4": {
			engine.MemberParams{Name: "a-db-1", Address: "10.0.0.2", Peers: []string{"10.0.0.1"}, Donors: []string{"a-db-2", "a-db-0"}},
			[]string{"wsrep-node-name=a-db-1", "wsrep-cluster-address=gcomm://10.0.0.1,10.0.0.2", "wsrep-node-address=10.0.0.2", "wsrep-sst-donor=a-db-2,a-db-0,"},
		},
		"by IPv6": {
			engine.MemberParams{Name: "a", Address: "fd00::2", Peers: []string{"fd00::1"}},
			[]string{"wsrep-cluster-address=gcomm://[fd00::1],[fd00::2]?gmcast.listen_addr=tcp://[::]:4567", "wsrep-node-address=[fd00::2]"},
		},
	} {
		lines := MemberLines(c.params)
		for _, line := range c.want {
			if !slices.Contains(lines, line) {
				t.Errorf("%s: no line %q in %q", name, line, lines)
			}
		}
	}
}

func TestOnlyWhoFoundsBeginsAGroup(t *testing.T) {
	start := func(e engine.Entry) engine.Start { return Enter(engine.Start{Argv: []string{"server"}}, e) }
	at := wire.GroupPosition{History: someHistory, Sequence: 7}
	joins := start(engine.Entry{Position: at})
	if slices.Contains(joins.Argv, "--wsrep-new-cluster") || len(joins.DataFiles) > 0 || !slices.Contains(joins.Argv, "--wsrep-start-position="+someHistory+":7") {
		t.Errorf("one that joins is started as %q and writes %v", joins.Argv, joins.DataFiles)
	}
	founds := start(engine.Entry{Begins: true, Position: at})
	if !slices.Contains(founds.Argv, "--wsrep-new-cluster") || len(founds.DataFiles) != 1 || !strings.Contains(founds.DataFiles[0].Content, "safe_to_bootstrap: 1") {
		t.Errorf("one that founds is started as %q and writes %v", founds.Argv, founds.DataFiles)
	}
	if first := start(engine.Entry{Begins: true}); len(first.DataFiles) > 0 {
		t.Error("data that never were in a group need no note")
	}
}

// Lines of MariaDB 11.8 as they were seen, and of MySQL as its packages look for them.
func TestRecoveredPosition(t *testing.T) {
	for output, want := range map[string]wire.GroupPosition{
		"x\n2026-11-22  5:05:28 0 [Note] WSREP: Recovered position: " + someHistory + ":4,1-100-1\ny":                {History: someHistory, Sequence: 4},
		"[Note] WSREP: Recovered position: " + someHistory + ":1688":                                                 {History: someHistory, Sequence: 1688},
		"[Note] WSREP: Recovered position: 00000000-0000-0000-0000-000000000000:-1,0-0-0":                            {},
		"[Note] WSREP: Recovered position: " + someHistory + ":-1":                                                   {},
		"x\n2026-10-06T01:44:30.673582Z 0 [Note] [MY-000000] [WSREP] Recovered position: " + someHistory + ":603\ny": {History: someHistory, Sequence: 603},
		"[Note] [MY-000000] [WSREP] Before binlog recovery (wsrep position: " + someHistory + ":3)\n" +
			"[Note] [MY-000000] [WSREP] Recovered position: " + someHistory + ":5": {History: someHistory, Sequence: 5},
		"[Note] [MY-000000] [WSREP] Recovered position: 00000000-0000-0000-0000-000000000000:-1": {},
	} {
		if got, err := RecoveredPosition(output); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", output, got, err, want)
		}
	}
	for _, output := range []string{"[ERROR] Aborting", "[Note] [MY-000000] [WSREP] After binlog recovery (wsrep position: " + someHistory + ":3)"} {
		if got, err := RecoveredPosition(output); err == nil {
			t.Errorf("%s: a recovery without a word of the position gave %v", output, got)
		}
	}
}

func TestNotedPosition(t *testing.T) {
	note := func(history, sequence string) string {
		return "# GALERA saved state\nversion: 2.1\nuuid:    " + history + "\nseqno:   " + sequence + "\nsafe_to_bootstrap: 0\n"
	}
	for text, want := range map[string]wire.GroupPosition{
		note(someHistory, "604"): {History: someHistory, Sequence: 604}, note(someHistory, "0"): {History: someHistory},
		note(someHistory, "-1"): {}, note(noHistory, "-1"): {}, note(noHistory, "5"): {}, note(someHistory, "6x"): {}, note("", "5"): {}, "": {},
		note(someHistory, "99999999999999999999"): {},
	} {
		if got := NotedPosition(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestGroupLook(t *testing.T) {
	status := func(state, ready, cluster, conf string) map[string]string {
		return map[string]string{
			"wsrep_cluster_status": cluster, "wsrep_cluster_conf_id": conf, "wsrep_cluster_state_uuid": someHistory, "wsrep_last_committed": "12",
			"wsrep_local_recv_queue": "3", "wsrep_local_state": state, "wsrep_ready": ready, "wsrep_gcomm_uuid": "s1",
		}
	}
	members := []map[string]string{{"NAME": "b", "UUID": "s2"}, {"NAME": "a", "UUID": "s1"}, {"NAME": "", "UUID": strings.Repeat("\x00", 36)}}
	for name, c := range map[string]struct {
		status                  map[string]string
		primary, synced, serves bool
	}{
		"synced":           {status("4", "ON", "Primary", "3"), true, true, true},
		"donor":            {status("2", "ON", "Primary", "3"), true, false, true},
		"joining":          {status("1", "OFF", "Primary", "3"), true, false, false},
		"without majority": {status("0", "OFF", "non-Primary", "-1"), false, false, false},
	} {
		look, err := groupLook(c.status, members)
		if err != nil || look.Primary != c.primary || look.Synced != c.synced || look.Serves != c.serves || look.Pending != 3 || look.Position.Sequence != 12 ||
			look.Server != "s1" || !slices.Equal(look.Servers, []string{"s1", "s2"}) || !slices.Equal(look.Members, []string{"a", "b"}) {
			t.Errorf("%s: %+v, %v", name, look, err)
		}
	}
	if _, err := groupLook(map[string]string{}, nil); err == nil {
		t.Error("a server that tells nothing was understood")
	}
}

// Members that met while none was primary know each other's servers and not names: what they are connected with is told by the servers.
func TestAComponentIsTheServersInIt(t *testing.T) {
	status := map[string]string{"wsrep_cluster_status": "non-Primary", "wsrep_last_committed": "12", "wsrep_local_recv_queue": "0"}
	component := func(servers ...string) string {
		var members []map[string]string
		for _, s := range servers {
			members = append(members, map[string]string{"NAME": "unspecified", "UUID": s})
		}
		look, err := groupLook(status, members)
		if err != nil {
			t.Fatal(err)
		}
		return look.Component
	}
	if component("s1", "s2") != component("s2", "s1") || component("s1", "s2") == component("s1", "s3") {
		t.Error("components are told apart by something else than their servers")
	}
}

// The library's defaults hold where nothing is asked for: what it sends then is its own affair.
func TestProviderOptions(t *testing.T) {
	for packets, want := range map[int32]string{
		0: "pc.recovery=FALSE", 2: "pc.recovery=FALSE;evs.send_window=2;evs.user_send_window=1", 512: "pc.recovery=FALSE;evs.send_window=512;evs.user_send_window=256",
	} {
		if got := ProviderOptions(engine.Group{SendWindowPackets: packets}); got != want {
			t.Errorf("a window of %d packets is %q, want %q", packets, got, want)
		}
	}
	if got := ProviderOptions(engine.Group{SuspectMilliseconds: 1500}); !strings.Contains(got, ";evs.suspect_timeout=PT1.5S;evs.inactive_timeout=PT3S;") {
		t.Errorf("suspected after 1.5 s is %q", got)
	}
}
