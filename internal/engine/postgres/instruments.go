package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"replab.dev/internal/engine"
)

// countersTimeout bounds the connection.
const countersTimeout = time.Second

// Counters samples one node by one connection. It is used by one goroutine.
type Counters struct {
	probe account
	conn  *pgconn.PgConn // nil without one
}

// NewCounters connects to nothing yet. host may name a port. Close it after use.
func NewCounters(host, password string) (*Counters, error) {
	a, err := probe(host, password, "replab-counters")
	return &Counters{probe: a}, err
}

// Close closes the connection.
func (c *Counters) Close() error {
	if c.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), countersTimeout)
	defer cancel()
	return c.conn.Close(ctx)
}

// sample is of one moment but for the settings, which a session reads again before a statement when it has been told to. Transactions are
// those that wrote and have ended, as numbers: all below the first that has not been given, but those under way. One that waits for a
// standby is under way.
const (
	sampleName = "counts"
	sample     = `WITH s AS MATERIALIZED (SELECT pg_current_snapshot() AS now)
SELECT pg_snapshot_xmax(now)::text::bigint - (SELECT count(*) FROM pg_snapshot_xip(now)),
 pg_is_in_recovery(), current_setting('synchronous_standby_names'),
 (extract(epoch FROM pg_conf_load_time()) * 1000000)::bigint,
 floor(extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()))::bigint FROM s`
)

// Counts returns how many transactions there were, and whether commits wait: they do not where no standby is named. A
// server counts no waits. Where a standby is named and none is connected, commits hang: that is no commit without a wait.
func (c *Counters) Counts(ctx context.Context) (engine.Commits, error) {
	if c.conn == nil || c.conn.IsClosed() {
		if err := c.open(ctx); err != nil {
			return engine.Commits{}, err
		}
	}
	var found engine.Commits
	var names string
	var settings int64
	result := c.conn.ExecPrepared(ctx, sampleName, nil, nil, nil).Read()
	if err := scanRow(result, &found.Transactions, &found.Closed, &names, &settings, &found.UpSeconds); err != nil {
		closed := c.Close() // the session has lost the statement, or hangs
		c.conn = nil
		return engine.Commits{}, errors.Join(fmt.Errorf("sample the server's counters: %w", err), closed)
	}
	found.Waiting = howCommitsWait(found.Closed, names, time.UnixMicro(settings))
	return found, nil
}

// open has the server plan the sample once: it is taken ten times a second where the writes are.
func (c *Counters) open(ctx context.Context) error {
	conn, err := c.probe.connect(ctx, countersTimeout)
	if err != nil {
		return err
	}
	if _, err = conn.Prepare(ctx, sampleName, sample, nil); err != nil {
		return errors.Join(err, conn.Close(ctx))
	}
	c.conn = conn
	return nil
}

// howCommitsWait is how commits wait by synchronous_standby_names. On a replica no commit waits, whatever the setting.
func howCommitsWait(replica bool, names string, since time.Time) *engine.Waiting {
	w := &engine.Waiting{Replica: replica, Degraded: !replica && names == "", SettingsSince: since}
	if !replica {
		w.Standbys = allAwaited(names)
	}
	return w
}

// standbyNames is a list of standbys with how many of them must answer, as PostgreSQL takes it: "a", "a, b", "2 (a, b)", "FIRST 2 (a, b)" or
// "ANY 2 (a, b)". Without a number it is one.
var standbyNames = regexp.MustCompile(`(?is)^\s*(?:(?:FIRST\s+|ANY\s+)?(\d+)\s*\((.*)\)|(.*?))\s*$`)

// allAwaited are the standbys of a list of which each must answer, nil where fewer are enough.
func allAwaited(list string) []string {
	parts := standbyNames.FindStringSubmatch(list)
	if parts == nil {
		return nil
	}
	wanted := cmp.Or(parts[1], "1")
	var names []string
	for name := range strings.SplitSeq(parts[2]+parts[3], ",") {
		name = strings.Trim(strings.TrimSpace(name), `"`)
		if name == "" || name == "*" {
			return nil
		}
		names = append(names, name)
	}
	if wanted != strconv.Itoa(len(names)) {
		return nil
	}
	return names
}

// inspectTimeout bounds the connection.
const inspectTimeout = 5 * time.Second

// systemIdentifier is reported among the settings: all nodes of one cluster have the same.
const systemIdentifier = "system_identifier"

// Inspector implements engine.Inspector. It connects for each question and goes: it is asked a few times a run.
type Inspector struct {
	password string
	kinds    *sync.Map // Kind of settings by name, as a server told them last
}

// NewInspector implements engine.OpenInspector.
func NewInspector(password string) engine.Inspector {
	return Inspector{password: password, kinds: &sync.Map{}}
}

// Same implements engine.Inspector, for settings that were asked for.
func (i Inspector) Same(name, expected, actual string) bool {
	k, _ := i.kinds.Load(name)
	known, _ := k.(Kind)
	return known.Same(name, expected, actual)
}

// Inspect implements engine.Inspector. host may name a port. A server is known by its node: the identifier that its data have is that of
// every other node of its cluster.
func (i Inspector) Inspect(ctx context.Context, host string, names []string) (engine.Inspection, error) {
	a, err := probe(host, i.password, "replab-inspect")
	if err != nil {
		return engine.Inspection{}, err
	}
	conn, err := a.connect(ctx, inspectTimeout)
	if err != nil {
		return engine.Inspection{}, err
	}
	defer func() { _ = conn.Close(ctx) }() // it was only read from
	var version, system string
	result := engine.Inspection{Settings: map[string]string{}}
	err = scan(ctx, conn, "SELECT replab_node(), version(), system_identifier FROM pg_control_system()", &result.Identity, &version, &system)
	if err != nil {
		return engine.Inspection{}, fmt.Errorf("read the server's identity: %w", err)
	}
	result.Version = firstWords(version, 2)
	if slices.Contains(names, systemIdentifier) {
		result.Settings[systemIdentifier] = system
	}
	const query = "SELECT name, current_setting(name), coalesce(unit, ''), vartype FROM pg_settings WHERE name = ANY (string_to_array($1, ','))"
	read := conn.ExecParams(ctx, query, texts(strings.Join(names, ",")), nil, nil, nil).Read()
	if read.Err != nil {
		return engine.Inspection{}, fmt.Errorf("read the server's settings: %w", read.Err)
	}
	for _, r := range read.Rows {
		name := string(r[0])
		result.Settings[name] = string(r[1])
		i.kinds.Store(name, Kind{Unit: string(r[2]), Type: string(r[3])})
	}
	return result, nil
}

// firstWords of a text.
func firstWords(text string, most int) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(most, len(words))], " ")
}
