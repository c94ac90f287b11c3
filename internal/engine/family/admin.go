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

// Acts are statements that change a server's part in the replication.
type Acts struct {
	Open, Shut string // for writes
	// SourceOn and SourceOff are of semi-sync's side that waits, ReplicaOn of the one that acknowledges.
	SourceOn, SourceOff, ReplicaOn string
	// Position has replication go on where the server's own data end; "" where it does so anyway.
	Position string
	// Source sets the replication source: its host, port, account and password.
	Source string
	// Wait for a position to be applied, which At writes as the statement has it, and for a number of seconds.
	Wait string
	At   func(position string) (string, error)
}

var (
	stopReplica  = Step{What: "stop replication", SQL: "STOP REPLICA"}
	startReplica = Step{What: "start replication", SQL: "START REPLICA"}
	forgetSource = Step{What: "forget the replication source", SQL: "RESET REPLICA ALL"}
)

// Steps of one thread each.
var (
	StartApplier = Step{What: "start the applying thread", SQL: "START REPLICA SQL_THREAD"}
	StopReceiver = Step{What: "stop the receiving thread", SQL: "STOP REPLICA IO_THREAD"}
)

var turns = map[engine.Threads]Step{
	engine.StartBoth: startReplica, engine.StopBoth: stopReplica, engine.StopReceiving: StopReceiver, engine.StartApplying: StartApplier,
}

// Open implements engine.Gate.
func (a *Admin) Open(ctx context.Context) error {
	return a.Exec(ctx, Step{What: "make the server writable", SQL: a.acts.Open})
}

// Shut implements engine.Gate.
func (a *Admin) Shut(ctx context.Context) error {
	return a.Exec(ctx, Step{What: "make the server read-only", SQL: a.acts.Shut})
}

// AwaitReplicas implements engine.Gate.
func (a *Admin) AwaitReplicas(ctx context.Context) error {
	if !a.SemiSync {
		return nil
	}
	return a.Exec(ctx, Step{What: "enable the source side of semi-sync", SQL: a.acts.SourceOn})
}

// Attach implements engine.Replica. The replica reconnects each second for as long as the experiment lasts, and hears of a silent source
// each second.
func (a *Admin) Attach(ctx context.Context, source engine.Source) error {
	steps := []Step{stopReplica, forgetSource}
	if a.SemiSync {
		steps = append(steps,
			Step{What: "disable the source side of semi-sync", SQL: a.acts.SourceOff}, Step{What: "enable the replica side of semi-sync", SQL: a.acts.ReplicaOn})
	}
	if a.acts.Position != "" && !a.Pair { // one of a pair has all that it executed in its log only by its settings
		steps = append(steps, Step{What: "set where replication goes on", SQL: a.acts.Position})
	}
	return a.Exec(ctx, append(steps, Step{
		What: "set the replication source", SQL: a.acts.Source,
		Args: []any{source.Host, source.Port, wire.AccountReplication, a.ReplicationPassword},
	}, startReplica)...)
}

// Detach implements engine.Replica.
func (a *Admin) Detach(ctx context.Context) error { return a.Exec(ctx, stopReplica, forgetSource) }

// Turn implements engine.Replica.
func (a *Admin) Turn(ctx context.Context, t engine.Threads) error { return a.Exec(ctx, turns[t]) }

// CatchUp implements engine.Replica.
func (a *Admin) CatchUp(ctx context.Context, received engine.Position, limit time.Duration) error {
	position, err := a.acts.At(received.String())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit+StatementTimeout)
	defer cancel()
	var timedOut int
	if err := a.DB.QueryRowContext(ctx, a.acts.Wait, position, limit.Seconds()).Scan(&timedOut); err != nil {
		return fmt.Errorf("wait until the received transactions are applied: %w", err)
	}
	return nil
}
