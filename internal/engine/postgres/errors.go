package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// uniqueViolation is decided by the key: see rejection.
const uniqueViolation = "23505"

// usersKey is the name of the primary key of users.
const usersKey = wire.UsersTable + "_pkey"

// rejections are the errors, by SQLSTATE, after which a single INSERT that is its own transaction certainly left nothing behind, and one of
// wire's Rejected constants for each. They count with severity ERROR alone. An error that is not among them leaves it open.
//
// A server sends an ERROR before it aborts the transaction. It cannot abort one whose commit record is written: RecordTransactionAbort
// (src/backend/access/transam/xact.c) panics. So what matters is that none of these can be raised behind that record.
//
// Not listed on purpose:
//
//	57014 query canceled: the cancel may have raced the commit
//	53xxx, 54xxx, 58xxx, XXxxx: no disk, no memory, storage, corruption: may concern the commit's own files
//	40003 statement completion unknown, 08xxx connection: say it themselves
//	25P01 to 25P04: about transaction blocks, in which no write of this store is
//	FATAL and PANIC of whatever number, such as 57P01 admin shutdown: may arrive behind the commit record
var rejections = map[string]string{
	// PreventCommandIfReadOnly (src/backend/tcop/utility.c), which ExecCheckXactReadOnly (executor/execMain.c) calls before the plan runs.
	"25006": wire.RejectedReadOnly,

	// The transaction is aborted. A serialization failure is found at the latest in PreCommit_CheckForSerializationFailure, before the record.
	"40001": wire.RejectedDeadlock,
	"40P01": wire.RejectedDeadlock,
	"55P03": wire.RejectedDeadlock, // lock_timeout

	// A value that does not fit is found while parameters are bound, or while the row is made (ExecConstraints of executor/execMain.c).
	"22001": wire.RejectedValidation, // too long
	"22003": wire.RejectedValidation, // out of range
	"22007": wire.RejectedValidation, // no date
	"22008": wire.RejectedValidation, // date out of range
	"22021": wire.RejectedValidation, // not in the encoding
	"22P02": wire.RejectedValidation, // not of the type
	"22P05": wire.RejectedValidation, // no such character in the server's encoding
	"23502": wire.RejectedValidation, // NULL
	"23514": wire.RejectedValidation, // a check

	// Found when the statement is parsed or planned, or as the plan begins (ExecCheckPermissions), before a row.
	"0A000": wire.RejectedRefused, // feature not supported, also a cached plan that no longer fits
	"26000": wire.RejectedRefused, // no such prepared statement
	"3F000": wire.RejectedRefused, // no such schema
	"42501": wire.RejectedRefused, // no right
	"42601": wire.RejectedRefused, // syntax
	"42703": wire.RejectedRefused, // no such column
	"42P01": wire.RejectedRefused, // no such table
}

// rejection returns err as an *engine.Rejection if the failed statement, its own transaction, certainly left nothing behind. Network errors leave
// it open: the server sends CommandComplete before it commits, and the driver succeeds only with the ReadyForQuery after it.
func rejection(err error) error {
	if pgconn.SafeToRetry(err) {
		return &engine.Rejection{Reason: wire.RejectedNotSent, Err: err}
	}
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.SeverityUnlocalized != "ERROR" {
		return err
	}
	if refused.Code == uniqueViolation && refused.ConstraintName == usersKey {
		return &engine.Rejection{Reason: wire.RejectedRefused, Err: err}
	}
	// Any other key, such as that of write_id, is one of the caller's own ids: an earlier delivery of this very write may have left the row.
	if reason, ok := rejections[refused.Code]; ok {
		return &engine.Rejection{Reason: reason, Err: err}
	}
	return err
}

// notReplicated is the error of a write that succeeded with a warning: a cancel ended its wait for standbys (SyncRepWaitForLSN in
// src/backend/replication/syncrep.c). The row is committed here, and perhaps on no other node.
func notReplicated(n *pgconn.Notice) error {
	return fmt.Errorf("the server executed the statement and warned: %s (SQLSTATE %s): it may be committed there alone", n.Message, n.Code)
}
