package mysql_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
)

func openCounters(t *testing.T, server *mysqltest.Server) *mysql.Counters {
	t.Helper()
	c, err := mysql.NewCounters(fmt.Sprintf("127.0.0.1:%d", server.Port), mysqltest.Password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestCountersOfCommits(t *testing.T) {
	t.Run("a commit without a replica in time is unacknowledged", func(t *testing.T) {
		server := mysqltest.Start(t, "primary", mysqltest.SemiSync(1, 10*time.Millisecond))
		server.Open()
		server.Exec("SET GLOBAL rpl_semi_sync_source_enabled=ON")
		c := openCounters(t, server)
		before, err := c.Commits(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		server.Exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
		after, err := c.Commits(t.Context())
		if err != nil || after.Unacknowledged != before.Unacknowledged+1 || after.Acknowledged != before.Acknowledged || after.UpSeconds < before.UpSeconds {
			t.Errorf("%+v became %+v, %v, want one commit more that was not acknowledged", before, after, err)
		}
	})
	t.Run("commits that are flushed together wait once, and are transactions each", func(t *testing.T) {
		server := mysqltest.Start(t, "primary", mysqltest.SemiSync(1, 10*time.Millisecond), mysqltest.Parameter("binlog_group_commit_sync_delay", "5000"))
		server.Open()
		server.Exec("SET GLOBAL rpl_semi_sync_source_enabled=ON")
		c := openCounters(t, server)
		before, err := c.Commits(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		const writers, each = 16, 20
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for i := range each {
					server.Exec(fmt.Sprintf("INSERT INTO social.probe_writes VALUES (%d, 'x')", w*each+i))
				}
			})
		}
		all.Wait()
		after, err := c.Commits(t.Context())
		waits, transactions := after.Unacknowledged-before.Unacknowledged, after.Transactions-before.Transactions
		if err != nil || transactions != writers*each || waits < 1 || waits >= transactions {
			t.Errorf("%d commits without a replica counted as %d waits and %d transactions, %v", writers*each, waits, transactions, err)
		}
	})
	t.Run("a server without the counters is an error, not 0", func(t *testing.T) {
		if found, err := openCounters(t, mysqltest.Start(t, "plain")).Commits(t.Context()); err == nil {
			t.Errorf("counted %+v", found)
		}
	})
}
