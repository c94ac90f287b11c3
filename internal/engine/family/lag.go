package family

import (
	"context"
	"crypto/rand"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// LagWords are what a lag probe asks a server.
type LagWords struct {
	Identity string // the expression that no other server has alike
	// Membership is a query of 1 for a member of a group, and of the node's name.
	Membership string
	// LongestAnswer is the least time that a watcher gives an answer, however short it waits.
	LongestAnswer time.Duration
}

// LagProbe is what one lag probe has for all its sessions.
type LagProbe struct {
	Group    GroupLag
	target   engine.LagTarget
	words    LagWords
	payloads []string
}

// NewLagProbe connects to nothing yet.
func NewLagProbe(t engine.LagTarget, words LagWords) *LagProbe {
	p := &LagProbe{target: t, words: words}
	for _, bytes := range t.PayloadBytes {
		p.payloads = append(p.payloads, RandomText(bytes))
	}
	return p
}

// ProbeSession is a session of a probe, with what it knows of its server.
type ProbeSession struct {
	*LagSession
	Member   *GroupSession // nil on a server that is no member of a group
	Identity string        // of the server; of a member its node's name
	Hostname string
	probe    *LagProbe
}

// OpenWriter opens a session on the server that takes the writes.
func (p *LagProbe) OpenWriter(ctx context.Context) (*ProbeSession, error) {
	return p.open(ctx, EndpointAddress(p.target.Writes), LagWriteTimeout, true)
}

// OpenWatcher opens a session on a node.
func (p *LagProbe) OpenWatcher(ctx context.Context, host string) (*ProbeSession, error) {
	return p.open(ctx, NodeAddress(host), max(p.target.LongestWait, p.words.LongestAnswer)+LagReadMargin, false)
}

func (p *LagProbe) open(ctx context.Context, address string, timeout time.Duration, writes bool) (*ProbeSession, error) {
	session, err := DialLag(ctx, address, p.target.Password, timeout)
	if err != nil {
		return nil, err
	}
	s := &ProbeSession{LagSession: session, probe: p}
	if err := s.begin(writes); err != nil {
		return nil, errors.Join(fmt.Errorf("open a session of the lag probe on %s: %w", address, err), s.Close())
	}
	return s, nil
}

func (s *ProbeSession) begin(writes bool) error {
	row, err := s.Row("SELECT "+s.probe.words.Identity+", @@hostname, @@GLOBAL.read_only", 3)
	if err != nil {
		return err
	}
	s.Identity, s.Hostname = *row[0], *row[1]
	if writes && *row[2] != "0" {
		return fmt.Errorf("%s (%s) is read-only", s.Hostname, s.Identity)
	}
	if s.Member, err = s.probe.Group.Join(s.LagSession, s.probe.words.Membership); s.Member != nil {
		s.Identity = s.Member.Name
	}
	return err
}

// Server does as lag.Writer says.
func (s *ProbeSession) Server() engine.LagWriter {
	return engine.LagWriter{Identity: s.Identity, Hostname: s.Hostname}
}

// Insert inserts the row of a write, after the statements before it in the same round trip. It returns when the server has answered.
func (s *ProbeSession) Insert(before string, seq, row uint64, size int) error {
	if s.Member != nil {
		s.probe.Group.rows.Begin(seq, row)
	}
	err := s.Exec(before + "INSERT INTO " + wire.ProbeTable + "(id,payload) VALUES(" + strconv.FormatUint(row, 10) + ",'" + s.probe.payloads[size] + "')")
	if err != nil {
		return fmt.Errorf("insert row %d into %s as the probe's write %d: %w", row, wire.ProbeTable, seq, err)
	}
	return nil
}

// Limits of the lag probe's sessions.
const (
	LagDialTimeout  = time.Second
	LagWriteTimeout = 5 * time.Second // then a write counts as discarded: its server is gone, or waits for a replica
	LagReadMargin   = time.Second     // what a watcher's answer may take beyond its wait
)

// LagSession is one connection of the driver without database/sql's pool around it: the lag probe must know which
// connection a statement runs on, and may not have it sent again on another.
type LagSession struct {
	conn sqldriver.Conn
}

// DialLag opens a session. Its answers must come within readTimeout, each.
func DialLag(ctx context.Context, address, password string, readTimeout time.Duration) (*LagSession, error) {
	probe := Account{Name: wire.AccountProbe, Password: password, Address: address, Database: wire.Database}
	connector, err := probe.Connector(func(c *driver.Config) {
		c.MultiStatements = true
		c.Timeout, c.ReadTimeout, c.WriteTimeout = LagDialTimeout, readTimeout, LagDialTimeout
		c.ConnectionAttributes = "program_name:replab-lag"
	})
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to %s as %s: %w", address, wire.AccountProbe, err)
	}
	return &LagSession{conn}, nil
}

// Close gives the connection up.
func (s *LagSession) Close() error { return s.conn.Close() }

// Exec runs statements in one round trip.
func (s *LagSession) Exec(statements string) error {
	_, err := s.conn.(sqldriver.ExecerContext).ExecContext(context.Background(), statements, nil)
	return err
}

// Row returns the columns of a query's only row as text, nil for NULL.
func (s *LagSession) Row(query string, columns int) ([]*string, error) {
	rows, err := s.conn.(sqldriver.QueryerContext).QueryContext(context.Background(), query, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	values := make([]sqldriver.Value, columns)
	if err := rows.Next(values); err != nil {
		return nil, err
	}
	out := make([]*string, columns)
	for i, v := range values {
		out[i] = text(v)
	}
	return out, nil
}

func text(v sqldriver.Value) *string {
	var s string
	switch v := v.(type) {
	case nil:
		return nil
	case []byte:
		s = string(v)
	case int64:
		s = strconv.FormatInt(v, 10)
	default:
		s = fmt.Sprint(v)
	}
	return &s
}

// RandomText is random and needs no escaping in a literal: nothing on the way can compress it by more than a quarter.
func RandomText(bytes int64) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = letters[b[i]%64]
	}
	return string(b)
}
