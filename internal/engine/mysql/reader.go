package mysql

import (
	"context"

	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mysql/gtid"
)

// Reader reads one node for the audit, by one connection.
type Reader struct{ *family.Reader }

// OpenReader connects to a node, which has answered a query then. host may name a port.
func OpenReader(ctx context.Context, host, password string) (Reader, error) {
	r, err := family.OpenReader(ctx, host, password, dialect.Reader)
	return Reader{r}, err
}

// isMember is a query of whether the server is a member of a group. Most servers have no such variable.
const isMember = "EXISTS (SELECT 1 FROM performance_schema.global_variables WHERE VARIABLE_NAME = 'wsrep_provider' AND VARIABLE_VALUE NOT IN ('', 'none'))"

// Own does as audit.History says: a server gets its UUID with its data directory.
func (r Reader) Own(ctx context.Context) (bool, error) {
	var uuid, executed string
	var member bool
	if err := r.Row(ctx, "SELECT @@GLOBAL.server_uuid, @@GLOBAL.gtid_executed, "+isMember, nil, &uuid, &executed, &member); err != nil {
		return false, err
	}
	if member {
		return false, family.ErrMembersNames
	}
	set, err := gtid.Parse(executed)
	return set.From(uuid).Count() > 0, err
}

// Unexecuted does as audit.History says. The server subtracts: it knows its own notation best.
func (r Reader) Unexecuted(ctx context.Context, others string) (int64, error) {
	var text string
	err := r.Row(ctx, "SELECT GTID_SUBTRACT(?, @@GLOBAL.gtid_executed)", []any{others}, &text)
	if err != nil {
		return 0, err
	}
	set, err := gtid.Parse(text)
	return set.Count(), err
}
