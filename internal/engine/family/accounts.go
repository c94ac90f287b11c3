package family

import (
	"fmt"
	"slices"
	"strings"

	"replab.dev/internal/wire"
)

// Grant is what an account may do: what stands between GRANT and TO.
type Grant struct{ Account, Rights string }

// grants are what each account may do on every server of the family.
var grants = []Grant{
	{Account: wire.AccountAdmin, Rights: "ALL ON *.*"},
	{Account: wire.AccountReplication, Rights: "REPLICATION SLAVE ON *.*"},
	{Account: wire.AccountApp, Rights: "ALL ON " + wire.Database + ".*"},
	{Account: wire.AccountProbe, Rights: "SELECT ON " + wire.Database + ".*"},
	{Account: wire.AccountProbe, Rights: "INSERT ON " + wire.Database + "." + wire.ProbeTable},
}

// FirstStatements are what an engine adds to those that give an empty server its accounts and the app's tables.
type FirstStatements struct {
	Before, After []string // whole statements
	Grants        []Grant  // beside those that every server of the family has
}

// Script has one statement a line. They run once, while the data directory is made, and stay out of the binary log: every node has
// them of its own, so none is replicated. password is asked for each account; the result holds secrets.
func (f FirstStatements) Script(password func(account string) (string, error)) (string, error) {
	lines := append(slices.Clone(f.Before), "SET sql_log_bin=0;", "CREATE DATABASE "+wire.Database+" CHARACTER SET utf8mb4;", "USE "+wire.Database+";")
	for _, table := range schema {
		lines = append(lines, strings.ReplaceAll(table, "\n", " ")+";")
	}
	for _, account := range wire.Accounts() {
		secret, err := password(account)
		if err != nil {
			return "", fmt.Errorf("password of account %s: %w", account, err)
		}
		lines = append(lines, fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s';", account, quote(secret)))
	}
	for _, g := range slices.Concat(grants, f.Grants) {
		lines = append(lines, fmt.Sprintf("GRANT %s TO '%s'@'%%';", g.Rights, g.Account))
	}
	return strings.Join(append(lines, f.After...), "\n") + "\n", nil
}

func quote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
}
