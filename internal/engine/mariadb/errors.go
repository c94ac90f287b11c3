package mariadb

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
const localOff = 4166

// refusals are the errors after which a single autocommitted INSERT certainly left nothing behind. An error that is
// not listed leaves it open.
//
// Sources: number and meaning are from sql/share/errmsg-utf8.txt of MariaDB 11.8. Whether anything can be left behind is from the
// server's source: ha_commit_trans in sql/handler.cc asks once more for read-only before it prepares, and rolls back then;
// convert_error_code_to_mysql in storage/innobase/handler/ha_innodb.cc says what InnoDB rolls back.
//
// Not listed on purpose, beside what the family leaves out:
//
//	1927 connection killed, 1969 statement time exceeded: may arrive once the commit was logged
//	1950 out of order in strict mode: by definition in the midst of it
//	1180 error during COMMIT: a Galera member that is cut off answers it for writes that its peers have
//	1047 not prepared (Galera): a member that is cut off in the midst of a commit says so too
//	1020 record has changed: no single INSERT reads a row first
var refusals = family.NewRefusals(nil)
