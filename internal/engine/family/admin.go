package family

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// StatementTimeout bounds one statement of an act, so that a server that hangs in the middle is given up.
const StatementTimeout = 5 * time.Second

// Admin is what the engines' Admins have in common.
type Admin struct {
	engine.AdminParams
	DB   *sql.DB
	acts Acts
}

// NewAdmin opens no connection yet. A look and an act may each hold one; one is kept.
func NewAdmin(p engine.AdminParams, acts Acts) (*Admin, error) {
	a := Account{Name: wire.AccountAdmin, Password: p.AdminPassword, Address: net.JoinHostPort(p.Host, strconv.Itoa(p.Port))}
	db, err := a.Pool(3, func(c *driver.Config) {
		c.InterpolateParams = true // statements that set a replication source cannot be prepared
	})
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(1)
	return &Admin{AdminParams: p, DB: db, acts: acts}, nil
}

// Close implements engine.Admin.
func (a *Admin) Close() error { return a.DB.Close() }

// Step is a statement and what it is for.
type Step struct {
	What string
	SQL  string
	Args []any
}

// Exec runs statements one after the other, each within StatementTimeout. Errors name the step, never the statement: it
// may hold a password.
func (a *Admin) Exec(ctx context.Context, steps ...Step) error {
	for _, st := range steps {
		ctx, cancel := context.WithTimeout(ctx, StatementTimeout)
		_, err := a.DB.ExecContext(ctx, st.SQL, st.Args...)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", st.What, a.WithoutSecret(err))
		}
	}
	return nil
}

// WithoutSecret takes the password out of an error's text: a server quotes the part of a statement that it could not read.
func (a *Admin) WithoutSecret(err error) error {
	if text := err.Error(); a.ReplicationPassword != "" && strings.Contains(text, a.ReplicationPassword) {
		return errors.New(strings.ReplaceAll(text, a.ReplicationPassword, "(password)"))
	}
	return err
}
