package mariadb

import (
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
)

// Client implements engine.Local, and engine.Member for servers of a group.
func (Server) Client(socket, password string) (engine.Client, error) {
	c, err := family.NewClient(socket, password, family.ClientWords{
		Writable:    "SELECT NOT @@GLOBAL.read_only",
		Replication: "SHOW REPLICA STATUS", Applies: "Slave_SQL_Running",
		Fence: "SET GLOBAL read_only=ON",
	})
	return family.NewMember(c, family.MemberWords{
		Members: "SELECT NAME, UUID FROM information_schema.WSREP_MEMBERSHIP", Take: "SET GLOBAL wsrep_provider_pc_bootstrap=ON",
	}), err
}
