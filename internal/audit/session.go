package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

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
		slog.Warn("lost the connection to a node: it is read anew", "node", n.Name, "host", n.Host, "attempt", attempt, "error", err)
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

// answers tells whether the session can still be asked.
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
