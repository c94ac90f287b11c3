package social

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// Writer does the app's writes. Every method names the server (its hostname) that answered, "" when none did. A failed
// write is an *engine.Rejection when the database certainly did not commit it; any other error leaves open whether it did.
// No method sends a statement twice.
type Writer interface {
	Register(ctx context.Context, user engine.NewUser) (userID uint64, node string, err error)
	Probe(ctx context.Context, id uint64, payload []byte) (node string, err error)
	// Ping asks the write endpoint for an answer.
	Ping(ctx context.Context) error
}

// Reader does the app's reads. Every method names the server that answered, "" when none did.
type Reader interface {
	Profile(ctx context.Context, userID uint64) (profile wire.Profile, node string, err error)     // engine.ErrNoUser
	PasswordHash(ctx context.Context, userID uint64) (hash []byte, node string, err error)         // engine.ErrNoUser
	Search(ctx context.Context, first, last string) (found []wire.Profile, node string, err error) // by prefixes
}

// Store is the database as the app needs it.
type Store interface {
	Writer
	Reader
	// Collectors are the store's own figures, for dashboards.
	Collectors() []prometheus.Collector
	Close() error
}

// Open returns a store on the endpoints of cfg, and need not connect yet.
type Open func(cfg wire.SocialConfig, password string) (Store, error)

// Opens makes an engine's constructor an Open. The result means nothing beside an error.
func Opens[S Store](open func(wire.SocialConfig, string) (S, error)) Open {
	return func(cfg wire.SocialConfig, password string) (Store, error) { return open(cfg, password) }
}
