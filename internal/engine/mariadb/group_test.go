package mariadb

import (
	"slices"
	"strings"
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const someHistory = "0a4cb285-e632-11f1-a0c6-e227f02faf27"

func place() engine.Place {
	return engine.Place{ConfigDir: "/etc/replab", DataDir: "/data", RunDir: "/run/replab", TmpDir: "/tmp", Port: 3306}
}

func TestMembersSecretsAreInTheirOwnFile(t *testing.T) {
	params := engine.MemberParams{
		Name: "a-db-1", Address: "10.0.0.2", Peers: []string{"10.0.0.1"}, Donors: []string{"a-db-2", "a-db-0"},
		Password: func(account string) (string, error) { return "secret of " + account, nil },
	}
	file, err := Server{}.Private(params)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"wsrep-sst-auth=replab_admin:secret of replab_admin", "wsrep-cluster-address=gcomm://10.0.0.1,10.0.0.2", "wsrep-node-name=a-db-1",
		"wsrep-node-address=10.0.0.2", "wsrep-sst-donor=a-db-2,a-db-0,",
	} {
		if !slices.Contains(strings.Split(file.Content, "\n"), line) {
			t.Errorf("the member's file has no line %q:\n%s", line, file.Content)
		}
	}
	program := Server{}.Program(place(), engine.Settings{Group: &engine.Group{Name: "ns/a"}})
	start := Server{}.Enter(program.Argv, engine.StartParams{}, engine.Entry{Begins: true, Position: wire.GroupPosition{History: someHistory, Sequence: 7}})
	if all := program.Config + strings.Join(append(program.Argv, start.Argv...), " "); strings.Contains(all, "secret") || strings.Contains(all, "sst-auth") {
		t.Error("a secret is in the configuration of all, or in an argument")
	}
	if !strings.Contains(program.Config, "!include /run/replab/"+file.Name+"\n") {
		t.Error("the configuration does not include the member's file")
	}
}

// A server whose cluster address is empty begins a group of its own.
func TestNoMemberHasAnEmptyClusterAddress(t *testing.T) {
	file, err := Server{}.Private(engine.MemberParams{Name: "a", Password: func(string) (string, error) { return "x", nil }})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(file.Content, "gcomm://\n") || !strings.Contains(file.Content, "gcomm://"+nowhere+"\n") {
		t.Errorf("without any address the file says:\n%s", file.Content)
	}
}

func TestMembersMeetByIPv6(t *testing.T) {
	file, err := Server{}.Private(engine.MemberParams{
		Name: "a", Address: "fd00::2", Peers: []string{"fd00::1"}, Password: func(string) (string, error) { return "x", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"wsrep-cluster-address=gcomm://[fd00::1],[fd00::2]?gmcast.listen_addr=tcp://[::]:4567", "wsrep-node-address=[fd00::2]"} {
		if !slices.Contains(strings.Split(file.Content, "\n"), line) {
			t.Errorf("the member's file has no line %q:\n%s", line, file.Content)
		}
	}
}

func TestOnlyWhoFoundsBeginsAGroup(t *testing.T) {
	at := wire.GroupPosition{History: someHistory, Sequence: 7}
	joins := Server{}.Enter([]string{"mariadbd"}, engine.StartParams{}, engine.Entry{Position: at})
	if slices.Contains(joins.Argv, "--wsrep-new-cluster") || len(joins.DataFiles) > 0 || !slices.Contains(joins.Argv, "--wsrep-start-position="+someHistory+":7") {
		t.Errorf("one that joins is started as %q and writes %v", joins.Argv, joins.DataFiles)
	}
	founds := Server{}.Enter([]string{"mariadbd"}, engine.StartParams{}, engine.Entry{Begins: true, Position: at})
	if !slices.Contains(founds.Argv, "--wsrep-new-cluster") || len(founds.DataFiles) != 1 || !strings.Contains(founds.DataFiles[0].Content, "safe_to_bootstrap: 1") {
		t.Errorf("one that founds is started as %q and writes %v", founds.Argv, founds.DataFiles)
	}
	first := Server{}.Enter([]string{"mariadbd"}, engine.StartParams{}, engine.Entry{Begins: true})
	if len(first.DataFiles) > 0 {
		t.Error("data that never were in a group need no note")
	}
}

func TestRecoveredPosition(t *testing.T) {
	for output, want := range map[string]wire.GroupPosition{
		"x\n2026-11-22  5:05:28 0 [Note] WSREP: Recovered position: " + someHistory + ":4,1-100-1\ny": {History: someHistory, Sequence: 4},
		"[Note] WSREP: Recovered position: " + someHistory + ":1688":                                  {History: someHistory, Sequence: 1688},
		"[Note] WSREP: Recovered position: 00000000-0000-0000-0000-000000000000:-1,0-0-0":             {},
		"[Note] WSREP: Recovered position: " + someHistory + ":-1":                                    {},
	} {
		if got, err := recoveredPosition(output); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", output, got, err, want)
		}
	}
	if got, err := recoveredPosition("[ERROR] Aborting"); err == nil {
		t.Errorf("a recovery without a word of the position gave %v", got)
	}
}

func TestReadTransfer(t *testing.T) {
	for line, want := range map[string]engine.TransferNote{
		"2026-11-22  5:08:32 0 [Note] WSREP: Running: 'wsrep_sst_mariabackup --role 'joiner' --address '127.0.0.2:4444'":                                      {Kind: wire.TransferFull, Method: "SST by mariabackup"},
		"WSREP_SST: [INFO] 'xtrabackup_ist' received from donor: Running IST (20261122 05:08:33.658)":                                                         {Event: engine.TransferIs, Kind: wire.TransferIncremental, Method: "IST"},
		"2026-11-22  8:50:09 4 [Note] WSREP: Receiving IST: 19238 writesets, seqnos 5-19242":                                                                  {Event: engine.TransferCatchesUp, Kind: wire.TransferIncremental, Method: "IST"},
		"2026-11-22  5:04:58 2 [Note] WSREP: Synchronized with group, ready for connections":                                                                  {Event: engine.TransferEnds},
		"2026-11-22  6:14:21 5 [ERROR] WSREP: Receiving IST failed, node restart required: IST receiver reported failure: 'IST didn't contain all write sets": {Event: engine.TransferFails},
	} {
		if got, ok := (Server{}).ReadTransfer(line); !ok || got != want {
			t.Errorf("%s: got %+v, %t", line, got, ok)
		}
	}
	for _, line := range []string{"", "WSREP: Running: 'wsrep_sst_mariabackup --role 'donor' --address", "WSREP: SST received", "[Note] WSREP: Receiving IST... 100.0% (3/3 events) complete."} {
		if got, ok := (Server{}).ReadTransfer(line); ok {
			t.Errorf("%s: taken for %+v", line, got)
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
	for name, c := range map[string]struct {
		status                  map[string]string
		primary, synced, serves bool
	}{
		"synced":           {status("4", "ON", "Primary", "3"), true, true, true},
		"donor":            {status("2", "ON", "Primary", "3"), true, false, true},
		"joining":          {status("1", "OFF", "Primary", "3"), true, false, false},
		"without majority": {status("0", "OFF", "non-Primary", "-1"), false, false, false},
	} {
		look, err := groupLook(c.status, []string{"b", "a"}, []string{"s2", "s1"})
		if err != nil || look.Primary != c.primary || look.Synced != c.synced || look.Serves != c.serves || look.Pending != 3 || look.Position.Sequence != 12 ||
			look.Server != "s1" || !slices.Equal(look.Servers, []string{"s1", "s2"}) {
			t.Errorf("%s: %+v, %v", name, look, err)
		}
	}
	if _, err := groupLook(map[string]string{}, nil, nil); err == nil {
		t.Error("a server that tells nothing was understood")
	}
}

// The library's defaults hold where nothing is asked for: what it sends then is its own affair.
func TestSendWindow(t *testing.T) {
	for packets, want := range map[int32]string{0: "pc.recovery=FALSE", 2: "pc.recovery=FALSE;evs.send_window=2;evs.user_send_window=1", 512: "pc.recovery=FALSE;evs.send_window=512;evs.user_send_window=256"} {
		if got := providerOptions(engine.Group{SendWindowPackets: packets}); got != want {
			t.Errorf("a window of %d packets is %q, want %q", packets, got, want)
		}
	}
}
