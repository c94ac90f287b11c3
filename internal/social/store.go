package social

import (
	"context"
	"errors"

	"replab.dev/internal/wire"
)

// Store is the database as the app needs it. Every method names the server (its hostname) that answered, "" when none
// did. A failed write is a *Rejection when the database certainly did not commit it; any other error of a write leaves
// open whether it did. No method sends a statement twice.
type Store interface {
	Register(ctx context.Context, user NewUser) (userID uint64, node string, err error)
	Probe(ctx context.Context, id uint64, payload []byte) (node string, err error)
	Profile(ctx context.Context, userID uint64) (profile wire.Profile, node string, err error)     // ErrNoUser
	PasswordHash(ctx context.Context, userID uint64) (hash []byte, node string, err error)         // ErrNoUser
	Search(ctx context.Context, first, last string) (found []wire.Profile, node string, err error) // by prefixes
	// Ping asks the write endpoint for an answer.
	Ping(ctx context.Context) error
}

// NewUser is a checked registration.
type NewUser struct {
	WriteID      *uint64 // the ledger's, nil without one
	FirstName    string
	LastName     string
	Birthdate    string // YYYY-MM-DD, "" for none
	Biography    string
	City         string
	PasswordHash []byte
}

// ErrNoUser tells that there is no user with the id.
var ErrNoUser = errors.New("no such user")

// Rejection is the error of a write that the database certainly did not commit.
type Rejection struct {
	Reason string // one of wire's Rejected constants
	Err    error
}

func (r *Rejection) Error() string { return r.Reason + ": " + r.Err.Error() }

func (r *Rejection) Unwrap() error { return r.Err }
