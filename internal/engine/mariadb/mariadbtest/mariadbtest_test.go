package mariadbtest

import (
	"testing"
	"time"

	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/wire"
)

func TestReplicaFollowsPrimary(t *testing.T) {
	primary := Start(t, "primary", familytest.SemiSync(1, time.Second))
	replica := Start(t, "replica", familytest.SemiSync(1, time.Second))
	primary.Open()
	replica.Replicate(primary)
	primary.Exec("SET GLOBAL rpl_semi_sync_master_enabled=ON; INSERT INTO social.probe_writes VALUES (1, 'x')")
	replica.CatchUp(primary)

	var rows int
	db := replica.DB(wire.AccountProbe, wire.Database)
	if err := db.QueryRow("SELECT COUNT(*) FROM probe_writes").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if rows != 1 {
		t.Fatalf("replica has %d rows, want 1", rows)
	}
	for _, account := range []string{wire.AccountApp, wire.AccountProbe} {
		if _, err := replica.DB(account, wire.Database).Exec("INSERT INTO probe_writes VALUES (2, 'x')"); err == nil {
			t.Errorf("a replica took a write of %s: every node must boot read-only", account)
		}
	}
}
