package mysql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

// errNoSupervisor is MySQL's ER_RESTART_SERVER_FAILED: the clone succeeded, and the server ended instead of restarting
// itself, since nobody is known to it who would start it.
const errNoSupervisor = 3707

// Clone implements engine.Admin. A connection that is lost is no error: the restart does that.
//
// A server cannot be cloned while it is super-read-only. It stays read-only meanwhile, which leaves out all but
// administrators, and boots super-read-only.
func (a *admin) Clone(ctx context.Context, donor engine.Source) error {
	address := net.JoinHostPort(donor.Host, strconv.Itoa(donor.Port))
	err := a.Exec(ctx,
		family.Step{What: "allow the donor", SQL: "SET GLOBAL clone_valid_donor_list = ?", Args: []any{address}},
		family.Step{What: "allow the clone", SQL: "SET GLOBAL super_read_only = OFF"})
	if err != nil {
		return err
	}
	// The donor's port is no string literal, so it cannot be a parameter.
	statement := fmt.Sprintf("CLONE INSTANCE FROM ?@?:%d IDENTIFIED BY ?", donor.Port)
	_, err = a.DB.ExecContext(ctx, statement, wire.AccountReplication, donor.Host, a.ReplicationPassword)
	var refused *driver.MySQLError
	if errors.As(err, &refused) && refused.Number != errNoSupervisor {
		failed := fmt.Errorf("clone from %s: %w", donor.Name, a.WithoutSecret(err))
		return errors.Join(failed, a.Shut(ctx))
	}
	return ctx.Err()
}
