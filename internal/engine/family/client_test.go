package family

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/engine"
)

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
			if d := cmp.Diff(c.want, ClientWords{Applies: "Replica_SQL_Running"}.replication(c.row)); d != "" {
				t.Error(d)
			}
		})
	}
}
