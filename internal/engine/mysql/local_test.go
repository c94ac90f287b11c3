package mysql

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/engine"
)

func TestIsServer(t *testing.T) {
	argv := []string{"mysqld", "--defaults-file=/etc/my.cnf"}
	initialization, err := Server{}.Initialization(argv, "/data.new", "/tmp/init.sql", func(string) (string, error) { return "", nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		process []string
		want    bool
	}{
		{"the server as the wrapper starts it", Server{}.Start(argv, engine.StartParams{Ordinal: 2}).Argv, true},
		{"one that makes a data directory is not it", initialization.Argv, false},
		{"one with another configuration is not it", []string{"mysqld", "--defaults-file=/etc/other.cnf"}, false},
		{"a process without arguments, as a zombie is, is not it", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (Server{}).IsServer(argv, c.process); got != c.want {
				t.Errorf("got %v for %q", got, c.process)
			}
		})
	}
}

func TestReplicationIsReadFromTheServersColumns(t *testing.T) {
	row := map[string]string{"Replica_IO_Running": "Yes", "Replica_SQL_Running": "Yes"}
	with := func(changes ...string) map[string]string {
		m := map[string]string{}
		for k, v := range row {
			m[k] = v
		}
		for i := 0; i < len(changes); i += 2 {
			m[changes[i]] = changes[i+1]
		}
		return m
	}
	for _, c := range []struct {
		name string
		row  map[string]string
		want engine.Replication
	}{
		{"both threads run", row, engine.Replication{Applies: true}},
		{
			"one that connects still applies", with("Replica_IO_Running", "Connecting", "Last_IO_Error", "refused"),
			engine.Replication{Applies: true, LastError: "refused"},
		},
		{"one whose applier stopped does not", with("Replica_SQL_Running", "No", "Last_SQL_Error", "duplicate"), engine.Replication{LastError: "duplicate"}},
		{
			"both errors are told", with("Last_IO_Error", "refused", "Last_SQL_Error", "duplicate"),
			engine.Replication{Applies: true, LastError: "refused; duplicate"},
		},
		{"a server that is no replica has none", nil, engine.Replication{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, replication(c.row)); d != "" {
				t.Error(d)
			}
		})
	}
}
