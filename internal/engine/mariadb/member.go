package mariadb

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

// client is a family.Client that is asked of its group too.
type client struct{ *family.Client }

const membershipQuery = "SELECT NAME, UUID FROM information_schema.WSREP_MEMBERSHIP"

const groupQuery = `SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_status', 'wsrep_cluster_conf_id', 'wsrep_cluster_state_uuid',
 'wsrep_gcomm_uuid', 'wsrep_last_committed', 'wsrep_local_recv_queue', 'wsrep_local_state', 'wsrep_ready')`

// States of a member as wsrep_local_state tells them.
const (
	stateDonor  = "2"
	stateSynced = "4"
)

// Group implements engine.Member.
func (c client) Group(ctx context.Context) (engine.GroupLook, error) {
	rows, err := family.Query(ctx, c.Pool(), groupQuery)
	if err != nil {
		return engine.GroupLook{}, fmt.Errorf("ask the server for its group: %w", err)
	}
	members, err := family.Query(ctx, c.Pool(), membershipQuery)
	if err != nil {
		return engine.GroupLook{}, fmt.Errorf("ask the server for the members of its group: %w", err)
	}
	status := map[string]string{}
	for _, row := range rows {
		status[row["Variable_name"]] = row["Value"]
	}
	var names, servers []string
	for _, row := range members {
		names, servers = append(names, row["NAME"]), append(servers, row["UUID"])
	}
	return groupLook(status, names, servers)
}

// groupLook makes sense of the server's status. Of a component that is not primary the server tells no number: its servers name it.
func groupLook(status map[string]string, members, servers []string) (engine.GroupLook, error) {
	committed, err := strconv.ParseInt(status["wsrep_last_committed"], 10, 64)
	if err != nil {
		return engine.GroupLook{}, fmt.Errorf("ask the server for its group: wsrep_last_committed is %q", status["wsrep_last_committed"])
	}
	pending, err := strconv.ParseInt(status["wsrep_local_recv_queue"], 10, 64)
	if err != nil {
		return engine.GroupLook{}, fmt.Errorf("ask the server for its group: wsrep_local_recv_queue is %q", status["wsrep_local_recv_queue"])
	}
	slices.Sort(members)
	slices.Sort(servers)
	history := status["wsrep_cluster_state_uuid"]
	look := engine.GroupLook{Pending: pending, GroupView: wire.GroupView{
		Primary: status["wsrep_cluster_status"] == "Primary", Members: members, Server: status["wsrep_gcomm_uuid"], Servers: servers,
		Component: fmt.Sprintf("%s/%s/%v", history, status["wsrep_cluster_conf_id"], servers),
	}}
	if history != "" && history != noHistory && committed >= 0 {
		look.Position = wire.GroupPosition{History: history, Sequence: committed}
	}
	ready := look.Primary && status["wsrep_ready"] == "ON"
	look.Synced = ready && status["wsrep_local_state"] == stateSynced
	look.Serves = look.Synced || ready && status["wsrep_local_state"] == stateDonor
	return look, nil
}

// TakeOver implements engine.Member.
func (c client) TakeOver(ctx context.Context, component string) error {
	look, err := c.Group(ctx)
	if err != nil {
		return err
	}
	if look.Primary || look.Component != component {
		return fmt.Errorf("the server's component is %s by now, primary: %t", look.Component, look.Primary)
	}
	if _, err := c.Pool().ExecContext(ctx, "SET GLOBAL wsrep_provider_pc_bootstrap=ON"); err != nil {
		return fmt.Errorf("have the server's component become primary: %w", err)
	}
	return nil
}
