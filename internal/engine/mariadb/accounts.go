package mariadb

import (
	"strings"

	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

// grants are what each account may do. READ ONLY ADMIN alone lets an account write on a server that is read-only: the
// administrator has it, who is the director and the agent and writes no rows, and nobody else.
var grants = []family.Grant{
	{Account: wire.AccountAdmin, Rights: "ALL ON *.*"},
	{Account: wire.AccountReplication, Rights: "REPLICATION SLAVE ON *.*"},
	{Account: wire.AccountApp, Rights: "ALL ON " + wire.Database + ".*"},
	{Account: wire.AccountProbe, Rights: "SELECT ON " + wire.Database + ".*"},
	{Account: wire.AccountProbe, Rights: "INSERT ON " + wire.Database + "." + wire.ProbeTable},
	// BINLOG REPLAY: the lag probe gives its writes a domain of their own, so that it can wait for the next one elsewhere.
	{Account: wire.AccountProbe, Rights: "BINLOG MONITOR, REPLICA MONITOR, BINLOG REPLAY ON *.*"},
}

// initSQL is the script of an empty server's first statements, which holds secrets. The server reads no grants while it makes
// its data directory, so they are loaded first. Nobody is let in but replab's own accounts.
func initSQL(password func(account string) (string, error)) (string, error) {
	lines, err := family.FirstStatements(grants, password)
	if err != nil {
		return "", err
	}
	first := []string{
		"DELETE FROM mysql.global_priv WHERE User IN ('', 'root');",
		"FLUSH LOCAL PRIVILEGES;",
	}
	return strings.Join(append(first, lines...), "\n") + "\n", nil
}
