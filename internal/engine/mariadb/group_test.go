package mariadb

import (
	"slices"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
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

func TestReadTransfer(t *testing.T) {
	for line, want := range map[string]engine.TransferNote{
		"2026-11-22  5:08:32 0 [Note] WSREP: Running: 'wsrep_sst_mariabackup --role 'joiner' --address '127.0.0.2:4444'":                                      {Kind: v1alpha1.ResyncSST},
		"WSREP_SST: [INFO] 'xtrabackup_ist' received from donor: Running IST (20261122 05:08:33.658)":                                                         {Event: engine.TransferIs, Kind: v1alpha1.ResyncIST},
		"2026-11-22  8:50:09 4 [Note] WSREP: Receiving IST: 19238 writesets, seqnos 5-19242":                                                                  {Event: engine.TransferCatchesUp, Kind: v1alpha1.ResyncIST},
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

// TestMembersNameTransactionsAlike: a wait for one by its name works only where all have one id.
func TestMembersNameTransactionsAlike(t *testing.T) {
	argv := []string{"mariadbd"}
	for name, got := range map[string][]string{
		"recovered": Server{}.Recovery(argv).Argv, "alone": Server{}.Alone(argv, engine.StartParams{Ordinal: 2, Identity: 7}).Argv,
		"as a member": Server{}.Enter(argv, engine.StartParams{Ordinal: 2, Identity: 7}, engine.Entry{}).Argv,
	} {
		if !slices.Contains(got, "--server-id=100") {
			t.Errorf("%s it is started as %q", name, got)
		}
	}
}
