package mysql

import (
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
)

// Client implements engine.Local, and engine.Member for servers of a group.
func (Server) Client(socket, password string) (engine.Client, error) {
	c, err := family.NewClient(socket, password, family.ClientWords{
		Writable:    "SELECT NOT (@@GLOBAL.read_only OR @@GLOBAL.super_read_only)",
		Replication: "SHOW REPLICA STATUS", Applies: "Replica_SQL_Running",
		Fence: "SET GLOBAL super_read_only=ON",
	})
	return family.NewMember(c, family.MemberWords{
		Before:  "SET SESSION wsrep_sync_wait=0", // the server makes a query of SHOW STATUS
		Members: "SELECT HOST_NAME AS NAME, UUID FROM performance_schema.pxc_cluster_view",
		Take:    "SET GLOBAL wsrep_provider_options='pc.bootstrap=true'",
	}), err
}
