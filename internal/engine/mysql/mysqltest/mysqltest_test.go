package mysqltest

import (
	"testing"
	"time"

	"replab.dev/internal/wire"
)

func TestReplicaFollowsPrimary(t *testing.T) {
	primary := Start(t, "primary", SemiSync(1, time.Second))
	replica := Start(t, "replica", SemiSync(1, time.Second))
	primary.Open()
	replica.Replicate(primary)
	primary.Exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
	replica.CatchUp(primary)

	var rows int
	db := replica.DB(wire.AccountProbe, wire.Database)
	if err := db.QueryRow("SELECT COUNT(*) FROM probe_writes").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if rows != 1 {
		t.Fatalf("replica has %d rows, want 1", rows)
	}
	if _, err := replica.DB(wire.AccountAdmin, wire.Database).Exec("INSERT INTO probe_writes VALUES (2, 'x')"); err == nil {
		t.Fatal("a replica took a write: every node must boot super_read_only")
	}
}
