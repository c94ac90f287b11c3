package witness

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/protocol"
	"replab.dev/internal/witness/counters"
)

// semiSync samples the semi-sync counters of all nodes.
type semiSync struct {
	nodes []string
	pools []*sql.DB // one connection each
	now   func() time.Time

	mu  sync.Mutex
	sum counters.SemiSync
}

func newSemiSync(nodes []protocol.Node, address addressOf, password string, now func() time.Time) (*semiSync, error) {
	s := &semiSync{now: now}
	for _, node := range nodes {
		c := driver.NewConfig()
		c.User, c.Passwd, c.Net, c.Addr = protocol.AccountProbe, password, "tcp", address(node)
		c.Logger = &driver.NopLogger{} // a node that is down is no news here
		connector, err := driver.NewConnector(c)
		if err != nil {
			return nil, fmt.Errorf("semi-sync counters of node %s: %w", node.Name, err)
		}
		pool := sql.OpenDB(connector)
		pool.SetMaxOpenConns(1)
		s.nodes, s.pools = append(s.nodes, node.Name), append(s.pools, pool)
	}
	return s, nil
}

// sample asks every node once; one that does not answer has no sample this time.
func (s *semiSync) sample(ctx context.Context) {
	var asked sync.WaitGroup
	for i, pool := range s.pools {
		asked.Go(func() {
			commits, err := readCommits(ctx, pool)
			if err != nil {
				return
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sum.Add(s.nodes[i], s.now(), commits)
		})
	}
	asked.Wait()
}

// readCommits reads the counters of one server in one statement. A server without the plugin has none, which is an error.
func readCommits(ctx context.Context, pool *sql.DB) (counters.Commits, error) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	const query = `SELECT
  MAX(CASE VARIABLE_NAME WHEN 'Rpl_semi_sync_source_yes_tx' THEN CAST(VARIABLE_VALUE AS SIGNED) END),
  MAX(CASE VARIABLE_NAME WHEN 'Rpl_semi_sync_source_no_tx' THEN CAST(VARIABLE_VALUE AS SIGNED) END),
  MAX(CASE VARIABLE_NAME WHEN 'Uptime' THEN CAST(VARIABLE_VALUE AS SIGNED) END)
FROM performance_schema.global_status
WHERE VARIABLE_NAME IN ('Rpl_semi_sync_source_yes_tx', 'Rpl_semi_sync_source_no_tx', 'Uptime')`
	var c counters.Commits
	err := pool.QueryRowContext(ctx, query).Scan(&c.Acknowledged, &c.Unacknowledged, &c.UpSeconds)
	return c, err
}

func (s *semiSync) start(load time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum.Start(load)
}

func (s *semiSync) result() *protocol.SemiSyncResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum.Result()
}

func (s *semiSync) close() {
	for _, pool := range s.pools {
		_ = pool.Close() // it was only read from
	}
}
