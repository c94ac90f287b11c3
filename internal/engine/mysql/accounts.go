package mysql

import (
	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

// firstStatements lock the account that the server makes itself.
var firstStatements = family.FirstStatements{
	Grants: []family.Grant{
		{Account: wire.AccountReplication, Rights: "BACKUP_ADMIN ON *.*"},
		// SESSION_VARIABLES_ADMIN: the lag probe names the GTID of its writes, so that it can wait for it elsewhere.
		{Account: wire.AccountProbe, Rights: "REPLICATION CLIENT, SESSION_VARIABLES_ADMIN, REPLICATION_APPLIER ON *.*"},
		{Account: wire.AccountProbe, Rights: "SELECT ON performance_schema.*"},
	},
	After: []string{"ALTER USER 'root'@'localhost' ACCOUNT LOCK;"},
}
