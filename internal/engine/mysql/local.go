package mysql

import (
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
)

// Client implements engine.Local.
func (Server) Client(socket, password string) (engine.Client, error) {
	return family.NewClient(socket, password, family.ClientWords{
		Writable:    "SELECT NOT (@@GLOBAL.read_only OR @@GLOBAL.super_read_only)",
		Replication: "SHOW REPLICA STATUS", Applies: "Replica_SQL_Running",
		Fence: "SET GLOBAL super_read_only=ON",
	})
}
