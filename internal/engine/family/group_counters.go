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
	"replab.dev/internal/wire"
)

// GroupCounters reads what one member of a Galera cluster has counted, by one connection.
type GroupCounters struct{ pool *sql.DB }

// NewGroupCounters connects to nothing yet. host may name a port. Close it after use. Its session waits for nothing: what is asked is
// what this member counts, however far behind it is.
func NewGroupCounters(host, password string) (*GroupCounters, error) {
	probe := Account{Name: wire.AccountProbe, Password: password, Address: NodeAddress(host)}
	connector, err := probe.Connector(func(c *driver.Config) { c.Params = map[string]string{"wsrep_sync_wait": "0"} })
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(1)
	return &GroupCounters{pool: pool}, nil
}

// Close closes the connection.
func (c *GroupCounters) Close() error { return c.pool.Close() }

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

// Counts reads all counters in one statement. A server that is no member of a group has not got them, which is an error.
func (c *GroupCounters) Counts(ctx context.Context) (engine.GroupCounts, error) {
	rows, err := Query(ctx, c.pool, "SHOW GLOBAL STATUS WHERE Variable_name IN ('"+strings.Join(groupCounted, "', '")+"')")
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
