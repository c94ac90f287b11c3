package enginetest

import (
	"testing"
	"time"

	"replab.dev/internal/wire"
)

func TestReplicaFollowsPrimary(t *testing.T) { Each(t, replicaFollowsPrimary) }

func replicaFollowsPrimary(t *testing.T, f Flavor) {
	primary := f.Start(t, "primary", SemiSync(1, time.Second))
	replica := f.Start(t, "replica", SemiSync(1, time.Second))
	primary.Open()
	replica.Replicate(primary)
	primary.Exec(f.AwaitSQL)
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
	for account, closed := range map[string]bool{wire.AccountApp: true, wire.AccountProbe: true, wire.AccountAdmin: f.ClosedToAdmin} {
		if _, err := replica.DB(account, wire.Database).Exec("INSERT INTO probe_writes VALUES (2, 'x')"); err == nil && closed {
			t.Errorf("a replica took a write of %s: every node must boot read-only", account)
		}
	}
}
