package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// node is a node under audit: connected, then read. err says why it went no further. ghosts are the write ids that it has, or had at an
// inspection, and the primary has not.
type node struct {
	wire.AuditNode
	audit   *auditor
	session Session // nil once it is lost for good
	content *content
	ghosts  ledger.Bitmap
	has     []uint64 // of the ids that were sought
	had     []uint64 // likewise, at an inspection and no more
	err     error
}

// connect reaches all nodes at once, so that those which are down cost the timeout once.
func (a *auditor) connect(ctx context.Context) []*node {
	nodes := make([]*node, len(a.cfg.Nodes))
	var group sync.WaitGroup
	for i, n := range a.cfg.Nodes {
		nodes[i] = &node{AuditNode: n, audit: a}
		group.Go(func() {
			if err := nodes[i].connect(ctx); err != nil {
				nodes[i].err = fmt.Errorf("node %s (%s) %w", n.Name, n.Host, err)
			}
		})
	}
	group.Wait()
	return nodes
}

// read takes the node's content. Of a connection that is lost nothing is kept: each attempt has a snapshot of its own.
func (n *node) read(ctx context.Context) {
	if n.err != nil {
		return
	}
	begin := time.Now()
	err := n.ask(ctx, func() (err error) {
		n.content = nil
		if n.content, err = read(ctx, n.session); err != nil || !n.Checksum {
			return err
		}
		if n.content.checksum, err = n.session.Checksum(ctx, wire.UsersTable); err != nil {
			return fmt.Errorf("sum up the rows: %w", err)
		}
		return nil
	})
	if n.content == nil {
		n.err = err
		return
	}
	n.content.unsummed = err
	slog.Info("node read", "node", n.Name, "role", n.Role, "rows", n.content.users.rows,
		"writeIDs", n.content.users.set.Count(), "duplicates", n.content.users.duplicates, "took", time.Since(begin).Round(time.Millisecond))
}

// examine reads a node, compares it with the primary, which was read before, seeks ids, and forgets its content.
func (n *node) examine(ctx context.Context, primary *node, sought []uint64) wire.AuditedNode {
	result := wire.AuditedNode{Name: n.Name, Role: n.Role}
	if n != primary {
		n.read(ctx)
		defer func() { n.content = nil }()
	}
	if n.err != nil {
		result.Failed = n.err.Error()
		return result
	}
	result.Rows = &n.content.users.rows
	if n.content.unsummed != nil { // the comparison goes on without the checksum
		result.Failed = n.content.unsummed.Error()
	}
	result.Checksum = n.content.checksum
	if n.Agent != "" {
		result.Inspected = n.inspected(ctx, primary)
	}
	n.seek(sought)
	if n == primary {
		return result
	}
	if primary.err != nil {
		result.Failed = "not compared, since the primary was not read: " + primary.err.Error()
		return result
	}
	result.HoldsOwn = n.holdsOwn(ctx)
	extra := ledger.AndNot(n.content.users.set, primary.content.users.set)
	n.ghosts = ledger.Or(n.ghosts, extra)
	result.Missing, result.Extra = size(ledger.AndNot(primary.content.users.set, n.content.users.set)), size(extra)
	result.ExtraProbeWrites = size(ledger.AndNot(n.content.probes.set, primary.content.probes.set))
	if n.Role == wire.RoleIsolated {
		ghosts, err := ghostTransactions(ctx, n, primary)
		if err != nil {
			result.Failed = strings.TrimPrefix(result.Failed+fmt.Sprintf("; count the transactions that only node %s has: %v", n.Name, err), "; ")
		}
		result.GhostTransactions = ghosts
	}
	return result
}

// seek notes which of some ids the node has, and which it had.
func (n *node) seek(ids []uint64) {
	for _, id := range ids {
		switch {
		case n.content.users.set.Has(id):
			n.has = append(n.has, id)
		case n.ghosts.Has(id):
			n.had = append(n.had, id)
		}
	}
}

// history asks a node of its transactions. It is false where the engine's servers keep no set of them.
func (n *node) history(ctx context.Context, questions func(History) error) (bool, error) {
	if _, keeps := n.session.(History); !keeps && n.session != nil {
		return false, nil
	}
	return true, n.ask(ctx, func() error { return questions(n.session.(History)) })
}

// holdsOwn is nil where it is not known: then its ghosts are not known either, if it ever wrote.
func (n *node) holdsOwn(ctx context.Context) *bool {
	var own bool
	keeps, err := n.history(ctx, func(h History) (err error) {
		own, err = h.Own(ctx)
		return err
	})
	if err != nil {
		slog.Warn("transactions that only this node has could not be counted", "node", n.Name, "error", err)
	}
	if err != nil || !keeps {
		return nil
	}
	return &own
}

// ghostTransactions is nil where the servers keep no set of their transactions.
func ghostTransactions(ctx context.Context, n, primary *node) (*int64, error) {
	var executed string
	if keeps, err := n.history(ctx, func(h History) (err error) {
		executed, err = h.Executed(ctx)
		return err
	}); err != nil || !keeps {
		return nil, err
	}
	var ghosts int64
	if keeps, err := primary.history(ctx, func(h History) (err error) {
		ghosts, err = h.Unexecuted(ctx, executed)
		return err
	}); err != nil || !keeps {
		return nil, err
	}
	return &ghosts, nil
}

func size(set ledger.Bitmap) *int64 {
	n := set.Count()
	return &n
}

const (
	// readAttempts is how often a node is read whose connection is lost each time.
	readAttempts = 3
	// lostPause is how long a server that lost a connection has before it is asked for the next one.
	lostPause = time.Second
)

// errFound is of what a node holds: reading it again would find it again.
var errFound = errors.New("check the server")

// connect opens a session, and tries again for as long as a node may take to answer.
func (n *node) connect(ctx context.Context) error {
	patience := n.audit.connectTimeout()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := retry(ctx, func() (err error) {
		attempt, stop := context.WithTimeout(ctx, attemptTimeout)
		defer stop()
		n.session, err = n.audit.open(attempt, n.Host, n.audit.password)
		return err
	})
	if err != nil {
		return fmt.Errorf("gave no answer within %s: %w", patience, err)
	}
	return nil
}

// ask a node. Where that loses the connection, all of it is asked again by a new one.
func (n *node) ask(ctx context.Context, questions func() error) error {
	for attempt := 1; ; attempt++ {
		if n.session == nil { // an earlier one lost it for good
			return fmt.Errorf("node %s (%s): no connection any more", n.Name, n.Host)
		}
		err := questions()
		if err == nil {
			return nil
		}
		if errors.Is(err, errFound) || ctx.Err() != nil || n.answers(ctx) {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
		n.close()
		if attempt == readAttempts {
			return fmt.Errorf("node %s (%s): lost the connection %d times, the last time: %w", n.Name, n.Host, attempt, err)
		}
		slog.Warn("the connection to a node broke: reading it again", "node", n.Name, "host", n.Host, "attempt", attempt, "error", err)
		if again := n.reconnect(ctx); again != nil {
			return fmt.Errorf("node %s (%s): lost the connection: %w; then it %w", n.Name, n.Host, err, again)
		}
	}
}

func (n *node) reconnect(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-time.After(lostPause):
	}
	return n.connect(ctx)
}

// answers reports whether the session can still be asked.
func (n *node) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	return n.session.Ping(ctx) == nil
}

func (n *node) close() {
	if n.session != nil {
		_ = n.session.Close() // it was only read from
		n.session = nil
	}
}

// Reader reads the tables of one node.
type Reader interface {
	// Begin fixes the snapshot that Count and IDs read, where the engine has one.
	Begin(ctx context.Context) error
	// Count returns the rows of a table, counted by the server.
	Count(ctx context.Context, table string) (int64, error)
	// IDs visits the values of an id column of all rows by its index, in any order; null stands for a row without an id.
	IDs(ctx context.Context, table, column string, visit func(id uint64, null bool) error) error
}

// Checker sums a table up.
type Checker interface {
	// Checksum of all rows and columns of a table. It does not depend on their order, and is the same on nodes that hold the same.
	Checksum(ctx context.Context, table string) (string, error)
}

// History is a Session that knows the transactions of its node, for engines whose servers keep a set of them.
type History interface {
	// Executed names the transactions that the node has executed, in the engine's own notation.
	Executed(ctx context.Context) (string, error)
	// Own reports whether the node holds transactions that it made itself, by the identity that its data have since they were made.
	Own(ctx context.Context) (bool, error)
	// Unexecuted counts the transactions among others, which Executed of another node returned, that this node has not.
	Unexecuted(ctx context.Context, others string) (int64, error)
}

// Session is what the audit asks of one node; it may be a History too. It is used by one goroutine.
type Session interface {
	Reader
	Checker
	io.Closer
	// Ping returns an error where the connection is lost, or its snapshot is.
	Ping(ctx context.Context) error
}

// Open returns a session with the server at a node's host, which has answered a query.
type Open func(ctx context.Context, host, password string) (Session, error)

// Opens makes an engine's constructor an Open.
func Opens[S Session](open func(context.Context, string, string) (S, error)) Open {
	return func(ctx context.Context, host, password string) (Session, error) {
		s, err := open(ctx, host, password)
		if err != nil {
			return nil, err // and not a nil within an interface that is not nil
		}
		return s, nil
	}
}
