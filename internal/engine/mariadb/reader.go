package mariadb

import (
	"context"

	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mariadb/gtid"
)

// Reader reads one node for the audit, by one connection.
type Reader struct{ *family.Reader }

// OpenReader connects to a node, which has answered a query then. host may name a port.
func OpenReader(ctx context.Context, host, password string) (Reader, error) {
	r, err := family.OpenReader(ctx, host, password, dialect.Reader)
	return Reader{r}, err
}

// Own does as audit.History says: a server's id is that of its data.
func (r Reader) Own(ctx context.Context) (bool, error) {
	var id uint32
	var executed string
	var member bool
	if err := r.Row(ctx, "SELECT @@GLOBAL.server_id, @@GLOBAL.gtid_binlog_state, @@GLOBAL.wsrep_on", nil, &id, &executed, &member); err != nil {
		return false, err
	}
	if member {
		return false, family.ErrMembersNames
	}
	state, err := gtid.Parse(executed)
	return state.MadeBy(id), err
}

// Unexecuted does as audit.History says.
func (r Reader) Unexecuted(ctx context.Context, others string) (int64, error) {
	other, err := gtid.Parse(others)
	if err != nil {
		return 0, err
	}
	executed, err := r.Executed(ctx)
	if err != nil {
		return 0, err
	}
	own, err := gtid.Parse(executed)
	return other.Beyond(own), err
}
