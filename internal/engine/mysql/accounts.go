package mysql

import (
	"fmt"
	"strings"

	"replab.dev/internal/wire"
)

// accountGrants are what each account may do, after GRANT and before TO.
var accountGrants = []struct{ account, grants string }{
	{wire.AccountAdmin, "ALL ON *.*"},
	{wire.AccountReplication, "REPLICATION SLAVE, BACKUP_ADMIN ON *.*"},
	{wire.AccountApp, "ALL ON " + wire.Database + ".*"},
	{wire.AccountProbe, "SELECT ON " + wire.Database + ".*"},
	{wire.AccountProbe, "INSERT ON " + wire.Database + "." + wire.ProbeTable},
	// SESSION_VARIABLES_ADMIN: the lag probe names the GTID of its writes, so that it can wait for it elsewhere.
	{wire.AccountProbe, "REPLICATION CLIENT, SESSION_VARIABLES_ADMIN, REPLICATION_APPLIER ON *.*"},
	{wire.AccountProbe, "SELECT ON performance_schema.*"},
}

// initSQL returns the statements that give an empty server its accounts and the app's tables. They run once, while
// the data directory is made, and stay out of the binary log: every node has them of its own, so none is replicated.
// password is asked for each account; the result holds secrets.
func initSQL(password func(account string) (string, error)) (string, error) {
	lines := []string{"SET sql_log_bin=0;", "CREATE DATABASE " + wire.Database + " CHARACTER SET utf8mb4;", "USE " + wire.Database + ";"}
	for _, table := range schema { // an init file holds one statement a line
		lines = append(lines, strings.ReplaceAll(table, "\n", " ")+";")
	}
	for _, account := range wire.Accounts() {
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
