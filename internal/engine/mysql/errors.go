package mysql

import (
	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

// NewStore returns the app's queries, with a pool for each endpoint of cfg. It opens no connection yet.
func NewStore(cfg wire.SocialConfig, password string) (*family.Store, error) {
	return family.NewStore(cfg, password, refusals)
}

// NewLoader returns a loader through a write endpoint. It opens no connection yet.
func NewLoader(endpoint wire.Endpoint, password string) (*family.Loader, error) {
	return family.NewLoader(endpoint, password, permanent)
}

// permanent are the errors that concern the set-up: rights, schema, LOCAL switched off. Source: MySQL 8.4's Server
// Error Message Reference.
var permanent = []uint16{1044, 1045, 1049, 1054, 1064, 1142, 1146, 1148, 3948}

// refusals are the errors after which a single autocommitted INSERT certainly left nothing behind. An error that is
// not listed leaves it open.
//
// Sources: number and meaning are from MySQL 8.4's Server Error Message Reference. Whether anything can be left behind is
// from the server's source: ha_commit_trans in sql/handler.cc asks once more for read-only before it prepares, the hook
// before_commit runs in sql/binlog.cc before the transaction is written to the log, and convert_error_code_to_mysql in
// storage/innobase/handler/ha_innodb.cc says what InnoDB rolls back.
//
// Not listed on purpose:
//
//	1053 server shutdown, 1317 interrupted, 3024 execution time exceeded: may arrive once the commit was logged
//	1180 error during COMMIT, 1598 binary logging not possible: by definition in the midst of it
//	1021, 1026, 1030, 1114 disk full or storage error: may concern the commit's own files
//	1105 unknown error, 1158 to 1161 network errors seen by the server
var refusals = family.Refusals{
	// Checked before the statement runs, and once more before its commit, which is then rolled back.
	1290: wire.RejectedReadOnly, // --read-only, --super-read-only
	1792: wire.RejectedReadOnly, // read-only transaction
	1836: wire.RejectedReadOnly, // running in read-only mode
	3100: wire.RejectedReadOnly, // the before_commit hook refused (a group without majority): rolled back

	1205: wire.RejectedDeadlock, // lock wait timeout: the statement is rolled back, and it is the transaction
	1213: wire.RejectedDeadlock, // deadlock, or Galera's certification: the transaction is rolled back
	3101: wire.RejectedDeadlock, // group certification: the transaction is rolled back

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
