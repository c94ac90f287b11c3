package witness

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/wire"
	"replab.dev/internal/witness/counters"
)

// commitInterval is how often the semi-sync counters of the node that takes the writes are sampled. What a primary counts after
// its last sample dies with it, so it is short; a sample takes the server 0.2 ms of CPU, so the others have one a second.
const commitInterval = 100 * time.Millisecond

// semiSync samples the semi-sync counters of all nodes.
type semiSync struct {
	nodes []string
	pools []*sql.DB // one connection each
	read  func(ctx context.Context, node int) (counters.Commits, error)
	now   func() time.Time
	wrote func() map[string]time.Time // when each node acknowledged its last write

	mu  sync.Mutex
	sum counters.SemiSync
}

func newSemiSync(nodes []wire.Node, address addressOf, password string, d *door) (*semiSync, error) {
	s := &semiSync{now: d.now, wrote: d.outage.Writers}
	s.read = func(ctx context.Context, node int) (counters.Commits, error) { return readCommits(ctx, s.pools[node]) }
	for _, node := range nodes {
		c := driver.NewConfig()
		c.User, c.Passwd, c.Net, c.Addr = wire.AccountProbe, password, "tcp", address(node)
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

// watch samples each node by itself until ctx ends, so that one which hangs costs the others no sample.
func (s *semiSync) watch(ctx context.Context) {
	var watching sync.WaitGroup
	for i := range s.nodes {
		watching.Go(func() {
			var last time.Time
			everyInterval(ctx, commitInterval, func(ctx context.Context) {
				if now := s.now(); now.Sub(last) >= counters.Interval || s.mayTakeWrites(s.nodes[i]) {
					last = now
					s.sampleNode(ctx, i)
				}
			})
		})
	}
	watching.Wait()
}

// mayTakeWrites tells whether a node is the last to have acknowledged a write, or none of the nodes is known to have.
func (s *semiSync) mayTakeWrites(node string) bool {
	wrote := s.wrote()
	for _, other := range s.nodes {
		if wrote[other].After(wrote[node]) {
			return false
		}
	}
	return true
}

// sample asks every node once.
func (s *semiSync) sample(ctx context.Context) {
	var asked sync.WaitGroup
	for i := range s.nodes {
		asked.Go(func() { s.sampleNode(ctx, i) })
	}
	asked.Wait()
}

// sampleNode asks a node once; one that does not answer has no sample this time.
func (s *semiSync) sampleNode(ctx context.Context, i int) {
	at := s.now()
	commits, err := s.read(ctx, i)
	if err != nil {
		return
	}
	wrote := s.wrote()[s.nodes[i]]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum.Add(s.nodes[i], at, commits, wrote)
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

func (s *semiSync) result() *wire.SemiSyncResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum.Result(s.wrote())
}

func (s *semiSync) close() {
	for _, pool := range s.pools {
		_ = pool.Close() // it was only read from
	}
}
