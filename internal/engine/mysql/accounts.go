package mysql

import (
	"strings"

	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

// grants are what each account may do.
var grants = []family.Grant{
	{Account: wire.AccountAdmin, Rights: "ALL ON *.*"},
	{Account: wire.AccountReplication, Rights: "REPLICATION SLAVE, BACKUP_ADMIN ON *.*"},
	{Account: wire.AccountApp, Rights: "ALL ON " + wire.Database + ".*"},
	{Account: wire.AccountProbe, Rights: "SELECT ON " + wire.Database + ".*"},
	{Account: wire.AccountProbe, Rights: "INSERT ON " + wire.Database + "." + wire.ProbeTable},
	// SESSION_VARIABLES_ADMIN: the lag probe names the GTID of its writes, so that it can wait for it elsewhere.
	{Account: wire.AccountProbe, Rights: "REPLICATION CLIENT, SESSION_VARIABLES_ADMIN, REPLICATION_APPLIER ON *.*"},
	{Account: wire.AccountProbe, Rights: "SELECT ON performance_schema.*"},
}

// initSQL is the script of an empty server's first statements, which holds secrets.
func initSQL(password func(account string) (string, error)) (string, error) {
	lines, err := family.FirstStatements(grants, password)
	if err != nil {
		return "", err
	}
	return strings.Join(append(lines, "ALTER USER 'root'@'localhost' ACCOUNT LOCK;"), "\n") + "\n", nil
}
