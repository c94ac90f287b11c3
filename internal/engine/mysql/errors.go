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
	return family.NewLoader(endpoint, password, localOff)
}

// localOff is the error of a server that takes no LOAD DATA LOCAL.
const localOff = 3948

// refusals are the errors after which a single autocommitted INSERT certainly left nothing behind. An error that is
// not listed leaves it open.
//
// Sources: number and meaning are from MySQL 8.4's Server Error Message Reference. Whether anything can be left behind is
// from the server's source: ha_commit_trans in sql/handler.cc asks once more for read-only before it prepares, the hook
// before_commit runs in sql/binlog.cc before the transaction is written to the log, and convert_error_code_to_mysql in
// storage/innobase/handler/ha_innodb.cc says what InnoDB rolls back.
//
// Not listed on purpose, beside what the family leaves out:
//
//	3024 execution time exceeded: may arrive once the commit was logged
//	1180 error during COMMIT, 1047 not prepared (Percona XtraDB Cluster): a member that is cut off may say so in the midst of a commit, as one
//	of MariaDB was seen to. Both take what wsrep-lib answers for the same errors: wsrep_override_error in sql/wsrep_thd.h of 8.0
var refusals = family.NewRefusals(family.Refusals{
	3100: wire.RejectedReadOnly, // the before_commit hook refused (a group without majority): rolled back
	3101: wire.RejectedDeadlock, // group certification: the transaction is rolled back
})
