package seed

import (
	"context"
	"errors"
	"fmt"
	"io"

	"replab.dev/internal/dataset"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// Loader fills the users table of a database. Errors that trying again does not cure are engine.ErrPermanent.
type Loader interface {
	// Last returns the last of the users 1 to users that is in the table, and what the table holds of him; 0 when there is
	// none.
	Last(ctx context.Context, users int64) (id int64, user dataset.User, err error)
	// Load takes rows from text as one transaction, all of them with the same password. Each has the columns in their order,
	// as appendRow writes them. All are committed, or an error is returned; after an error the transaction may still have been
	// committed, if it is the answer to its end that was lost.
	Load(ctx context.Context, columns string, text io.Reader, rows int64, passwordHash string) error
	// Count returns how many of the users 1 to users are in the table.
	Count(ctx context.Context, users int64) (int64, error)
}

// LoaderCloser is a Loader that is closed after use.
type LoaderCloser interface {
	Loader
	io.Closer
}

// Open returns a loader through the write endpoint, and need not connect yet.
type Open func(writes wire.Endpoint, password string) (LoaderCloser, error)

// Opens makes an engine's constructor an Open. The result means nothing beside an error.
func Opens[L LoaderCloser](open func(wire.Endpoint, string) (L, error)) Open {
	return func(writes wire.Endpoint, password string) (LoaderCloser, error) { return open(writes, password) }
}

func isPermanent(err error) bool { return errors.Is(err, engine.ErrPermanent) }

// seeded returns how many users the table holds: ids 1 to that number. Chunks are transactions, so there is no gap. It
// checks the last one, since a table that was filled with another seed or locale must not be taken for this one's.
func seeded(ctx context.Context, l Loader, d *dataset.Dataset, users int64) (int64, error) {
	last, got, err := l.Last(ctx, users)
	if err != nil || last == 0 {
		return 0, err
	}
	if want := d.User(last); got != want {
		return 0, engine.Permanent(fmt.Errorf("user %d is %s %s where this seed and locale have %s %s: the table was filled otherwise; empty it first",
			last, got.FirstName, got.LastName, want.FirstName, want.LastName))
	}
	return last, nil
}

// verify counts the seeded users.
func verify(ctx context.Context, l Loader, users int64) error {
	rows, err := l.Count(ctx, users)
	if err != nil {
		return err
	}
	if rows != users {
		return engine.Permanent(fmt.Errorf("the table holds %d of the users 1 to %d: rows are missing; empty it first", rows, users))
	}
	return nil
}
