package mysql

import (
	"fmt"
	"strings"

	"replab.dev/internal/protocol"
)

// accountGrants are what each account may do, after GRANT and before TO.
var accountGrants = []struct{ account, grants string }{
	{protocol.AccountAdmin, "ALL ON *.*"},
	{protocol.AccountReplication, "REPLICATION SLAVE, BACKUP_ADMIN ON *.*"},
	{protocol.AccountApp, "ALL ON " + protocol.Database + ".*"},
	{protocol.AccountProbe, "SELECT ON " + protocol.Database + ".*"},
	{protocol.AccountProbe, "INSERT ON " + protocol.Database + "." + protocol.ProbeTable},
	// SESSION_VARIABLES_ADMIN: the lag probe names the GTID of its writes, so that it can wait for it elsewhere.
	{protocol.AccountProbe, "REPLICATION CLIENT, SESSION_VARIABLES_ADMIN, REPLICATION_APPLIER ON *.*"},
	{protocol.AccountProbe, "SELECT ON performance_schema.*"},
}

// InitSQL returns the statements that give an empty server its accounts and the app's tables. They run once, while
// the data directory is made, and stay out of the binary log: every node has them of its own, so none is replicated.
// password is asked for each account; the result holds secrets.
func InitSQL(password func(account string) (string, error)) (string, error) {
	lines := []string{"SET sql_log_bin=0;", "CREATE DATABASE " + protocol.Database + " CHARACTER SET utf8mb4;", "USE " + protocol.Database + ";"}
	for _, table := range protocol.Schema { // an init file holds one statement a line
		lines = append(lines, strings.ReplaceAll(table, "\n", " ")+";")
	}
	for _, account := range protocol.Accounts() {
		secret, err := password(account)
		if err != nil {
			return "", fmt.Errorf("password of account %s: %w", account, err)
		}
		lines = append(lines, fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s';", account, quote(secret)))
	}
	for _, g := range accountGrants {
		lines = append(lines, fmt.Sprintf("GRANT %s TO '%s'@'%%';", g.grants, g.account))
	}
	lines = append(lines, "ALTER USER 'root'@'localhost' ACCOUNT LOCK;")
	return strings.Join(lines, "\n") + "\n", nil
}

func quote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
}
