package mariadb

import (
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
)

// Client implements engine.Local.
func (Server) Client(socket, password string) (engine.Client, error) {
	c, err := family.NewClient(socket, password, family.ClientWords{
		Writable:    "SELECT NOT @@GLOBAL.read_only",
		Replication: "SHOW REPLICA STATUS", Applies: "Slave_SQL_Running",
		Fence: "SET GLOBAL read_only=ON",
	})
	return client{c}, err
}
