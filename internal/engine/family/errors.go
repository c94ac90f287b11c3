package family

import (
	sqldriver "database/sql/driver"
	"errors"
	"slices"
	"strings"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// duplicateKey is decided by the key: see Rejection.
const duplicateKey = 1062

// usersPrimaryKey is how MySQL 8.0 and up (table and key) and others (key alone) name the key of users.id.
var usersPrimaryKey = []string{"for key '" + wire.UsersTable + ".PRIMARY'", "for key 'PRIMARY'"}

// Refusals are the errors, by number, after which a single autocommitted INSERT certainly left nothing behind, and one of wire's
// Rejected constants for each. An error that is not among them leaves it open.
type Refusals map[uint16]string

// Rejection returns err, the error of a statement that was handed to the driver, as a *engine.Rejection if the database
// certainly did not commit, and else as it is. notSent are the numbers by which a proxy says that the statement has reached no server.
func (r Refusals) Rejection(err error, notSent []uint16) error {
	if errors.Is(err, sqldriver.ErrBadConn) {
		// The driver keeps this error for connections that failed before the first byte was sent.
		return &engine.Rejection{Reason: wire.RejectedNotSent, Err: err}
	}
	var refusal *driver.MySQLError
	if !errors.As(err, &refusal) {
		return err
	}
	reason, ok := r[refusal.Number]
	if slices.Contains(notSent, refusal.Number) {
		reason, ok = wire.RejectedNotSent, true
	}
	if refusal.Number == duplicateKey {
		// A generated id that is taken, as after a failover that lost the counter, is a refusal. A write id that is
		// taken is not: then some earlier delivery of this very write is in the table.
		reason, ok = wire.RejectedRefused, containsAny(refusal.Message, usersPrimaryKey)
	}
	if !ok {
		return err
	}
	return &engine.Rejection{Reason: reason, Err: err}
}

func containsAny(s string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}
