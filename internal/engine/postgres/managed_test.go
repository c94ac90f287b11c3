package postgres_test

import (
	"strings"
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
)

func TestFilesOfANode(t *testing.T) {
	template := postgres.Server{}.Program(place, managed(engine.SyncQuorum, nil)).Config
	for address, url := range map[string]string{"10.1.2.3": "10.1.2.3:5432", "fd00::1": "[fd00::1]:5432"} {
		files := map[string]engine.RunFile{}
		for _, f := range (postgres.Server{}).Files(template, engine.ManagerParams{
			Name: "a-db-1", Address: address, DataDir: place.DataDir, RunDir: place.RunDir, Binary: "/opt/replab/replab",
		}) {
			files[f.Name] = f
			if f.Executable != strings.HasPrefix(f.Content, "#!/bin/sh\n") {
				t.Errorf("%s: executable is %v of\n%s", f.Name, f.Executable, f.Content)
			}
		}
		for name, words := range map[string][]string{
			"patroni.yml": {"name: 'a-db-1'\n", "connect_address: '" + url + "'\n", "password: '@secret:replab_replication@'\n", "replab.node: 'a-db-1'\n"},
			"first.sql":   {"CREATE ROLE social LOGIN PASSWORD '@secret:social@';"},
			"first":       {`-d "$1" -f /run/replab/first.sql`},
			"manager":     {"exec patroni /run/replab/patroni.yml"},
			"pre_promote": {">>/run/replab/promotions\nexit 0\n", "+%s.%N"},
			"pg_rewind":   {`/opt/replab/replab rewind --config /etc/replab/server.json -- "$@"`},
		} {
			for _, word := range words {
				if !strings.Contains(files[name].Content, word) {
					t.Errorf("%s has no %q:\n%s", name, word, files[name].Content)
				}
			}
		}
		if text := files["patroni.yml"].Content; strings.Contains(text, "@node@") || strings.Contains(text, "@address@") {
			t.Errorf("a place is not filled:\n%s", text)
		}
	}
}

func TestRewindReadsWhatPatroniAsksFor(t *testing.T) {
	const source = "host=10.1.2.3 user=replab_admin dbname=postgres"
	for arguments, want := range map[string]engine.RewindCall{
		"--help":                             {Asks: true},
		"--version":                          {Asks: true},
		"-D|/data|--source-server|" + source: {Source: source},
		"--restore-target-wal|--config-file=/x|-D|/data|--source-server|" + source: {Source: source},
		"-D|/data|--source-server=" + source:                                       {Source: source},
	} {
		want.Program, want.Control = "pg_rewind", "global/pg_control"
		got, err := postgres.Server{}.Rewind(strings.Split(arguments, "|"))
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", arguments, got, err, want)
		}
	}
	for _, arguments := range []string{"", "-D|/data", "--source-server", "-D|/data|--source-pgdata|/other"} {
		if got, err := (postgres.Server{}).Rewind(strings.Split(arguments, "|")); err == nil || got.Program != "pg_rewind" {
			t.Errorf("%q: %+v, %v, want an error", arguments, got, err)
		}
	}
}
