package postgres

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// Remote implements engine.RemoteClient.
type Remote struct {
	account  account
	position *session
}

// RemoteClient implements engine.ManagedLocal. An administrator has a database of its own name, or the server's first one.
func (Server) RemoteClient(server wire.Endpoint, name, password string) engine.RemoteClient {
	a := account{name: name, password: password, endpoint: server, database: "postgres", program: "replab-agent"}
	return &Remote{account: a, position: newSession(a)}
}

// runAndWhere is where, behind when the server was started.
const runAndWhere = `SELECT extract(epoch FROM pg_postmaster_start_time())::text, position.* FROM (` + where + `) AS position`

// RunAndPosition implements engine.RemoteClient.
func (r *Remote) RunAndPosition(ctx context.Context) (string, engine.ServerPosition, error) {
	var run string
	p, err := askWhere(ctx, r.position, runAndWhere, &run)
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = engine.ErrNoServer
	}
	return run, p, err
}

// Furnish implements engine.RemoteClient. Each part is there or not as a whole, so that it can be taken up anywhere.
func (r *Remote) Furnish(ctx context.Context, password func(account string) (string, error)) error {
	server, database, err := firstStatements(password)
	if err != nil {
		return err
	}
	if err := r.furnish(ctx, "postgres", server); err != nil {
		return err
	}
	return r.furnish(ctx, wire.Database, []part{database})
}

// furnish makes what is missing. A write waits for no standby: there may be none yet. Passwords get into no log: see quietly.
func (r *Remote) furnish(ctx context.Context, database string, parts []part) error {
	a := r.account
	a.database = database
	conn, err := a.connect(ctx, clientTimeout)
	if err != nil {
		return fmt.Errorf("connect to database %s: %w", database, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := rows(ctx, conn, quietly+"SET synchronous_commit = local"); err != nil {
		return fmt.Errorf("set up the connection to database %s: %w", database, err)
	}
	for _, p := range parts {
		there, err := rows(ctx, conn, p.there)
		if err != nil {
			return fmt.Errorf("look for %s: %w", p.what, err)
		}
		if len(there) > 0 {
			continue
		}
		if _, err := conn.Exec(ctx, p.statements).ReadAll(); err != nil {
			return fmt.Errorf("make %s: %w", p.what, err)
		}
	}
	return nil
}

// Close implements engine.RemoteClient.
func (r *Remote) Close() error { return r.position.close() }
