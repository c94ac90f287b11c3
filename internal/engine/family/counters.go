package family

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
)

// Counted reads what the server of one node has counted, by one connection.
type Counted[C any] struct {
	pool   *sql.DB
	counts func(context.Context, *sql.DB) (C, error)
}

// Counts reads the counters of the moment.
func (c *Counted[C]) Counts(ctx context.Context) (C, error) { return c.counts(ctx, c.pool) }

// Close closes the connection.
func (c *Counted[C]) Close() error { return c.pool.Close() }

// CounterWords are what an engine's server calls what is counted.
type CounterWords struct {
	Table, Acknowledged, Unacknowledged string // its counters of commits, and the table that has them
	EachWaits                           string // an expression that reports whether each commit waits, also of those that are flushed together
	Executed                            string // a query of the executed transactions
	Count                               func(executed string) (int64, error)
}

// NewCounters reads the semi-sync counters of a node, whose host may name a port. It connects to nothing yet. Close it after use.
func NewCounters(host, password string, words CounterWords) (*Counted[engine.Commits], error) {
	pool, err := probe(host, password).Pool(1, func(*driver.Config) {})
	return &Counted[engine.Commits]{pool, words.counts}, err
}

// counts reads the transactions, and then the counters of waits in one statement. It fails on a server without the counters. It takes the
// server 0.2 ms of CPU.
func (n CounterWords) counts(ctx context.Context, pool *sql.DB) (found engine.Commits, err error) {
	var executed string
	if err = pool.QueryRowContext(ctx, n.Executed).Scan(&executed); err != nil {
		return found, err
	}
	if found.Transactions, err = n.Count(executed); err != nil {
		return found, err
	}
	err = pool.QueryRowContext(ctx, n.query()).Scan(&found.Acknowledged, &found.Unacknowledged, &found.UpSeconds, &found.WaitsAreCommits, &found.Closed)
	return found, err
}

// closed is 1 on a server that takes no writes. fix_read_only in sql/sys_vars.cc sets it only once commits under way have ended.
// MAX is needed: MariaDB 11.8 reports OFF for a variable that stands alone beside an aggregate.
const closed = "MAX(@@GLOBAL.read_only)"

func (n CounterWords) query() string {
	value := func(name string) string {
		return fmt.Sprintf("MAX(CASE VARIABLE_NAME WHEN '%s' THEN CAST(VARIABLE_VALUE AS SIGNED) END)", name)
	}
	return fmt.Sprintf("SELECT %s, %s, %s, %s, %s FROM %s WHERE VARIABLE_NAME IN ('%s', '%s', 'Uptime')",
		value(n.Acknowledged), value(n.Unacknowledged), value("Uptime"), n.EachWaits, closed, n.Table, n.Acknowledged, n.Unacknowledged)
}

// The server's counters, and the one that it may lack.
const (
	certificationFailures = "wsrep_local_cert_failures"
	forcedAborts          = "wsrep_local_bf_aborts"
	flowControlPaused     = "wsrep_flow_control_paused_ns" // since the process began, a pause that lasts included
	receiveQueue          = "wsrep_local_recv_queue"
	receiveQueueMax       = "wsrep_local_recv_queue_max"
	uptime                = "Uptime"
	deadlocks             = "Innodb_deadlocks"
)

var groupCounted = []string{certificationFailures, forcedAborts, flowControlPaused, receiveQueue, receiveQueueMax, uptime, deadlocks}

// NewGroupCounters reads what one member of a Galera cluster has counted. It connects to nothing yet. host may name a port. Close it after
// use. Its session waits for nothing: the counters are this member's, however far behind it is.
func NewGroupCounters(host, password string) (*Counted[engine.GroupCounts], error) {
	pool, err := probe(host, password).Pool(1, func(c *driver.Config) { c.Params = map[string]string{"wsrep_sync_wait": "0"} })
	return &Counted[engine.GroupCounts]{pool, readGroupCounts}, err
}

// readGroupCounts reads all counters in one statement. It fails on a server that is no member of a group.
func readGroupCounts(ctx context.Context, pool *sql.DB) (engine.GroupCounts, error) {
	rows, err := Query(ctx, pool, "SHOW GLOBAL STATUS WHERE Variable_name IN ('"+strings.Join(groupCounted, "', '")+"')")
	if err != nil {
		return engine.GroupCounts{}, fmt.Errorf("read the counters of a group's member: %w", err)
	}
	status := map[string]string{}
	for _, row := range rows {
		status[row["Variable_name"]] = row["Value"]
	}
	return groupCounts(status)
}

func groupCounts(status map[string]string) (engine.GroupCounts, error) {
	var failed error
	read := func(name string) int64 {
		n, err := strconv.ParseInt(status[name], 10, 64)
		if err != nil && failed == nil {
			failed = fmt.Errorf("read the counters of a group's member: %s is %q", name, status[name])
		}
		return n
	}
	found := engine.GroupCounts{
		CertificationFailures: read(certificationFailures), ForcedAborts: read(forcedAborts),
		FlowControlPaused: time.Duration(read(flowControlPaused)),
		ReceiveQueue:      read(receiveQueue), ReceiveQueueMax: read(receiveQueueMax), UpSeconds: read(uptime),
	}
	if status[deadlocks] != "" {
		n := read(deadlocks)
		found.Deadlocks = &n
	}
	if failed != nil {
		return engine.GroupCounts{}, failed
	}
	return found, nil
}
