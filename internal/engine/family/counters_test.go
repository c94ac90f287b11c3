package family_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/wire"
)

func openCounters(t *testing.T, server *familytest.Server) *family.Counted[engine.Commits] {
	t.Helper()
	c, err := server.Flavor.NewCounters(fmt.Sprintf("127.0.0.1:%d", server.Port), familytest.Password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestCountersOfCommits(t *testing.T) { enginetest.Each(t, counts) }

func counts(t *testing.T, f familytest.Flavor) {
	t.Run("a commit without a replica in time is unacknowledged", func(t *testing.T) {
		server := f.Start(t, "primary", familytest.SemiSync(1, 10*time.Millisecond))
		server.Open()
		server.Exec(f.AwaitSQL)
		c := openCounters(t, server)
		before, err := c.Counts(t.Context())
		if err != nil || before.Closed {
			t.Fatalf("%+v, %v, want the counters of a server that is open", before, err)
		}
		server.Exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
		after, err := c.Counts(t.Context())
		if err != nil || after.Unacknowledged != before.Unacknowledged+1 || after.Acknowledged != before.Acknowledged || after.UpSeconds < before.UpSeconds {
			t.Errorf("%+v became %+v, %v, want one commit more that was not acknowledged", before, after, err)
		}
		server.Exec(f.CloseSQL)
		if found, err := c.Counts(t.Context()); err != nil || !found.Closed {
			t.Errorf("%+v, %v, want those of a server that takes no writes", found, err)
		}
	})
	t.Run("a server is closed once the commits that it had under way have ended", func(t *testing.T) {
		server := f.Start(t, "primary", familytest.SemiSync(1, 2*time.Second))
		server.Open()
		server.Exec(f.AwaitSQL)
		c := openCounters(t, server)
		before, err := c.Counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		admin := server.DB(wire.AccountAdmin, "")
		var both sync.WaitGroup
		defer both.Wait()
		exec := func(statement string) {
			both.Go(func() {
				if _, err := admin.Exec(statement); err != nil {
					t.Errorf("%s: %v", statement, err)
				}
			})
		}
		exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
		until(t, "the commit waits for a replica", func() bool {
			var name string
			var sessions int
			err := admin.QueryRow("SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Rpl_semi_sync_%_wait_sessions' AND Value > 0").Scan(&name, &sessions)
			return err == nil
		})
		exec(f.CloseSQL)
		until(t, "the server is closed", func() bool {
			found, err := c.Counts(t.Context())
			if err != nil || found.Closed && found.Unacknowledged != before.Unacknowledged+1 {
				t.Errorf("%+v, %v: closed while a commit is under way", found, err)
			}
			return found.Closed
		})
	})
	t.Run("commits that are flushed together wait once, and are transactions each", func(t *testing.T) {
		server := f.Start(t, "primary", append(slices.Clone(f.FlushTogether), familytest.SemiSync(1, 10*time.Millisecond))...)
		server.Open()
		server.Exec(f.AwaitSQL)
		c := openCounters(t, server)
		waits, after := waitsOf(t, server, c)
		if waits < 1 || waits > writers*each || (waits == writers*each) != f.EachWaits || after.WaitsAreCommits != f.EachWaits {
			t.Errorf("%d commits without a replica counted as %d waits: %+v", writers*each, waits, after)
		}
	})
	t.Run("commits that wait once they are done wait each", func(t *testing.T) {
		afterCommit := func(s *engine.Settings) {
			familytest.SemiSync(1, 10*time.Millisecond)(s)
			s.SemiSync.AfterCommit = true
		}
		server := f.Start(t, "primary", append(slices.Clone(f.FlushTogether), afterCommit)...)
		server.Open()
		server.Exec(f.AwaitSQL)
		c := openCounters(t, server)
		if waits, after := waitsOf(t, server, c); waits != writers*each || !after.WaitsAreCommits {
			t.Errorf("%d commits without a replica counted as %d waits: %+v", writers*each, waits, after)
		}
	})
	if f.AlwaysCounts {
		return
	}
	t.Run("a server without the counters is an error, not 0", func(t *testing.T) {
		if found, err := openCounters(t, f.Start(t, "plain")).Counts(t.Context()); err == nil {
			t.Errorf("counted %+v", found)
		}
	})
}

const writers, each = 16, 20

// waitsOf commits much at once on a server without replicas, and returns how many waits were counted, and what was at the end. All commits
// must be among the transactions.
func waitsOf(t *testing.T, server *familytest.Server, c *family.Counted[engine.Commits]) (waits int64, after engine.Commits) {
	t.Helper()
	before, err := c.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				server.Exec(fmt.Sprintf("INSERT INTO social.probe_writes VALUES (%d, 'x')", w*each+i))
			}
		})
	}
	all.Wait()
	after, err = c.Counts(t.Context())
	if n := after.Transactions - before.Transactions; err != nil || n != writers*each {
		t.Errorf("%d commits counted as %d transactions, %v", writers*each, n, err)
	}
	return after.Unacknowledged - before.Unacknowledged, after
}
