package mariadb

import (
	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

// firstStatements let nobody in but replab's own accounts. The server reads no grants while it makes its data directory, so they are
// loaded first. READ ONLY ADMIN alone lets an account write on a server that is read-only: the administrator has it, who is the
// director and the agent and writes no rows, and nobody else.
var firstStatements = family.FirstStatements{
	Before: []string{
		"DELETE FROM mysql.global_priv WHERE User IN ('', 'root');",
		"FLUSH LOCAL PRIVILEGES;",
	},
	Grants: []family.Grant{
		// BINLOG REPLAY: the lag probe gives its writes a domain of their own, so that it can wait for the next one elsewhere.
		{Account: wire.AccountProbe, Rights: "BINLOG MONITOR, REPLICA MONITOR, BINLOG REPLAY ON *.*"},
	},
}
