package family

import (
	sqldriver "database/sql/driver"
	"errors"
	"maps"
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

// refusals are those that all servers of the family have.
//
// Not listed on purpose:
//
//	1053 server shutdown, 1317 interrupted: may arrive once the commit was logged
//	1180 error during COMMIT, 1598 binary logging not possible: by definition in the midst of it
//	1021, 1026, 1030, 1114 disk full or storage error: may concern the commit's own files
//	1105 unknown error, 1158 to 1161 network errors seen by the server
var refusals = Refusals{
	// Checked before the statement runs, and once more before its commit, which is then rolled back.
	1290: wire.RejectedReadOnly, // --read-only, --super-read-only
	1792: wire.RejectedReadOnly, // read-only transaction
	1836: wire.RejectedReadOnly, // running in read-only mode

	1205: wire.RejectedDeadlock, // lock wait timeout: the statement is rolled back, and it is the transaction
	1213: wire.RejectedDeadlock, // deadlock, or Galera's certification: the transaction is rolled back

	// A value that does not fit is found while the row is made.
	1048: wire.RejectedValidation, // NULL in a NOT NULL column
	1264: wire.RejectedValidation, // out of range
	1292: wire.RejectedValidation, // incorrect date
	1300: wire.RejectedValidation, // invalid character string
	1366: wire.RejectedValidation, // incorrect string value
	1406: wire.RejectedValidation, // data too long

	// Found before a row is touched.
	1044: wire.RejectedRefused, // no right to the database
	1046: wire.RejectedRefused, // no database selected
	1049: wire.RejectedRefused, // unknown database
	1054: wire.RejectedRefused, // unknown column
	1064: wire.RejectedRefused, // syntax
	1142: wire.RejectedRefused, // no right to the table
	1146: wire.RejectedRefused, // no such table
}

// NewRefusals are the family's refusals with an engine's own. Each one needs a reason from the server's source why nothing can be left
// behind.
func NewRefusals(own Refusals) Refusals {
	all := maps.Clone(refusals)
	maps.Copy(all, own)
	return all
}

// permanent are the errors of all servers of the family that concern the set-up: rights, schema, LOCAL switched off.
var permanent = []uint16{1044, 1045, 1049, 1054, 1064, 1142, 1146, 1148}

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
