package engine

import (
	"context"
	"errors"

	"replab.dev/internal/wire"
)

// RemoteLocal is a ManagedLocal whose servers can be watched where nothing of them is in sight but their address: neither their processes
// nor their files.
type RemoteLocal interface {
	ManagedLocal
	// RemoteClient returns a client of the server at an address, as an administrator. It connects when it is used.
	RemoteClient(server wire.Endpoint, account, password string) RemoteClient
}

// RemoteClient asks a server whose process is not in sight. Its methods may be called at once by several goroutines; each returns an error
// when the context ends before the server has answered.
type RemoteClient interface {
	// RunAndPosition names the server's run among all those that it has had, and tells where it is in its log. ErrNoServer tells that none runs.
	RunAndPosition(context.Context) (run string, position ServerPosition, err error)
	// Furnish gives a server that takes writes the app's accounts and tables as far as it lacks them. What it makes, standbys copy: it waits
	// for none.
	Furnish(ctx context.Context, password func(account string) (string, error)) error
	// Close ends the client's connections.
	Close() error
}

// ErrNoServer says that nobody listens where a server would.
var ErrNoServer = errors.New("no server listens")
