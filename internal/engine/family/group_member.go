package family

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// Member is a Client that implements engine.Member too.
type Member struct {
	*Client
	words MemberWords
}

// MemberWords are how an engine's member is asked of its group and commanded.
type MemberWords struct {
	// Before is a statement that has the session wait for nothing, whatever the members' reads do; "" where questions wait for nothing anyway.
	Before  string
	Members string // a query of the members of its component: NAME and UUID
	Take    string // makes the component primary
}

// NewMember makes a member of a client.
func NewMember(c *Client, words MemberWords) Member { return Member{c, words} }

const groupQuery = `SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_status', 'wsrep_cluster_conf_id', 'wsrep_cluster_state_uuid',
 'wsrep_gcomm_uuid', 'wsrep_last_committed', 'wsrep_local_recv_queue', 'wsrep_local_state', 'wsrep_ready')`

// States of a member, by wsrep_local_state.
const (
	stateDonor  = "2"
	stateSynced = "4"
)

// Group implements engine.Member.
func (m Member) Group(ctx context.Context) (engine.GroupLook, error) {
	session, err := m.Pool().Conn(ctx)
	if err != nil {
		return engine.GroupLook{}, fmt.Errorf("ask the server for its group: %w", err)
	}
	defer session.Close()
	look, err := m.look(ctx, session)
	if err != nil {
		return engine.GroupLook{}, fmt.Errorf("ask the server for its group: %w", err)
	}
	return look, nil
}

func (m Member) look(ctx context.Context, session *sql.Conn) (engine.GroupLook, error) {
	if m.words.Before != "" {
		if _, err := session.ExecContext(ctx, m.words.Before); err != nil {
			return engine.GroupLook{}, err
		}
	}
	rows, err := Query(ctx, session, groupQuery)
	if err != nil {
		return engine.GroupLook{}, err
	}
	members, err := Query(ctx, session, m.words.Members)
	if err != nil {
		return engine.GroupLook{}, fmt.Errorf("its members: %w", err)
	}
	status := map[string]string{}
	for _, row := range rows {
		status[row["Variable_name"]] = row["Value"]
	}
	return groupLook(status, members)
}

// groupLook makes sense of the server's status and its list of members. A component that is not primary has no number: its
// servers name it. A row without a server is of a member that left while the list was read.
func groupLook(status map[string]string, members []map[string]string) (engine.GroupLook, error) {
	committed, err := strconv.ParseInt(status["wsrep_last_committed"], 10, 64)
	if err != nil {
		return engine.GroupLook{}, fmt.Errorf("wsrep_last_committed is %q", status["wsrep_last_committed"])
	}
	pending, err := strconv.ParseInt(status["wsrep_local_recv_queue"], 10, 64)
	if err != nil {
		return engine.GroupLook{}, fmt.Errorf("wsrep_local_recv_queue is %q", status["wsrep_local_recv_queue"])
	}
	var names, servers []string
	for _, row := range members {
		if server := strings.Trim(row["UUID"], "\x00"); server != "" {
			names, servers = append(names, row["NAME"]), append(servers, server)
		}
	}
	slices.Sort(names)
	slices.Sort(servers)
	history := status["wsrep_cluster_state_uuid"]
	look := engine.GroupLook{Pending: pending, GroupView: wire.GroupView{
		Primary: status["wsrep_cluster_status"] == "Primary", Members: names, Server: status["wsrep_gcomm_uuid"], Servers: servers,
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
func (m Member) TakeOver(ctx context.Context, component string) error {
	look, err := m.Group(ctx)
	if err != nil {
		return err
	}
	if look.Primary || look.Component != component {
		return fmt.Errorf("the server's component is %s by now, primary: %t", look.Component, look.Primary)
	}
	if _, err := m.Pool().ExecContext(ctx, m.words.Take); err != nil {
		return fmt.Errorf("have the server's component become primary: %w", err)
	}
	return nil
}

// ErrMembersNames says that a member's own transactions cannot be told from those of other members.
var ErrMembersNames = errors.New("members of a group name their transactions alike: the member that made one is not known")
