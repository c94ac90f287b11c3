package family

import (
	"fmt"
	"strings"

	"replab.dev/internal/wire"
)

// Grant is what an account may do: what stands between GRANT and TO.
type Grant struct{ Account, Rights string }

// FirstStatements give an empty server its accounts and the app's tables, one statement a line. They run once, while
// the data directory is made, and stay out of the binary log: every node has them of its own, so none is replicated.
// password is asked for each account; the result holds secrets.
func FirstStatements(grants []Grant, password func(account string) (string, error)) ([]string, error) {
	lines := []string{"SET sql_log_bin=0;", "CREATE DATABASE " + wire.Database + " CHARACTER SET utf8mb4;", "USE " + wire.Database + ";"}
	for _, table := range schema {
		lines = append(lines, strings.ReplaceAll(table, "\n", " ")+";")
	}
	for _, account := range wire.Accounts() {
		secret, err := password(account)
		if err != nil {
			return nil, fmt.Errorf("password of account %s: %w", account, err)
		}
		lines = append(lines, fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s';", account, quote(secret)))
	}
	for _, g := range grants {
		lines = append(lines, fmt.Sprintf("GRANT %s TO '%s'@'%%';", g.Rights, g.Account))
	}
	return lines, nil
}

func quote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
}
