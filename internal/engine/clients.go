package engine

import (
	"context"
	"errors"
	"io"
	"time"
)

// Admin looks at one server and commands it over the network. A method fails when its context ends before the server has answered.
// Each act may be repeated, also after a part of it was done.
type Admin interface {
	// Look asks everything that a decision needs, at once.
	Look(context.Context, Question) (Look, error)
	Gate
	Replica
	// Clone replaces the server's data by a copy of donor, and returns when the server restarts. An error means that it certainly failed.
	// Look reports the outcome.
	Clone(ctx context.Context, donor Source) error
	// Close ends the connections.
	Close() error
}

// Gate decides whether a server takes writes.
type Gate interface {
	// Open makes the server writable. Where replication is semi-synchronous, AwaitReplicas comes before.
	Open(context.Context) error
	// Shut makes the server read-only, but for administrators who insist.
	Shut(context.Context) error
	// AwaitReplicas makes commits wait for replicas from the next one on. It does nothing where replication is asynchronous.
	AwaitReplicas(context.Context) error
}

// Replica is a server's part in the replication: it receives transactions and applies them.
type Replica interface {
	// Attach makes the server a replica of source, from scratch: it fetches again what it had received and not applied.
	// Its own commits no longer wait for replicas.
	Attach(ctx context.Context, source Source) error
	// Detach ends the server's replication. Transactions that it had received and not applied are gone.
	Detach(context.Context) error
	// Turn starts or stops threads of the replica.
	Turn(context.Context, Threads) error
	// CatchUp returns once received has been executed, or after limit.
	CatchUp(ctx context.Context, received Position, limit time.Duration) error
}

// Threads says which of a replica's threads to start or to stop.
type Threads string

// What Turn does.
const (
	StartBoth     Threads = "start replication"
	StopBoth      Threads = "stop replication"
	StopReceiving Threads = "stop receiving"
	StartApplying Threads = "start applying"
)

// Source is a server to replicate from, or to be cloned from.
type Source struct {
	Name string
	Host string
	Port int
}

// AdminParams are what an Admin needs to reach a server.
type AdminParams struct {
	Host                string
	Port                int
	AdminPassword       string // of wire.AccountAdmin
	ReplicationPassword string // of wire.AccountReplication, which lets a server replicate from another
	SemiSync            bool   // what semi-synchronous replication needs is loaded
	Pair                bool   // the server takes writes while it replicates from another
}

// OpenAdmin makes an Admin, which connects when it is used.
type OpenAdmin func(AdminParams) (Admin, error)

// Paired is a Local whose servers can replicate from each other.
type Paired interface {
	// Admin connects when it is used.
	Admin(AdminParams) (Admin, error)
	// Position reads what Position.String wrote on another node.
	Position(text string) (Position, error)
}

// Question names figures that a look asks for beside the usual ones.
type Question struct {
	Acknowledgers bool
	Clone         bool
}

// Look is a server's state, as the server reports it.
type Look struct {
	Writable bool
	Executed Position
	Received Position // Executed and what waits to be applied
	// SourceHost and SourcePort are what it is configured to replicate from; empty without one.
	SourceHost string
	SourcePort int
	Receiver   Receiver
	Applying   bool
	LastError  string // of replication

	Awaits        bool  // its commits wait for replicas
	Acknowledgers int64 // replicas that acknowledge its commits; when asked
	Clone         CloneState
	CloneError    string
	// Cloned is what a completed clone took; nil when not asked or not known.
	Cloned *CopyFigures
}

// Receiver is the state of a replica's receiving thread.
type Receiver string

// States of the receiving thread.
const (
	ReceiverOn         Receiver = "ON"
	ReceiverOff        Receiver = "OFF"
	ReceiverConnecting Receiver = "CONNECTING"
)

// CloneState is how the last clone that a server received went; "" without one, or when not asked.
type CloneState string

// States of a clone.
const (
	CloneInProgress CloneState = "In Progress"
	CloneCompleted  CloneState = "Completed"
	CloneFailed     CloneState = "Failed"
)

// Transactions is a set of transactions in an engine's own form.
type Transactions interface {
	// Beyond counts the transactions that are not in other, which is of the same engine or nil.
	Beyond(other Transactions) int64
	// String is the engine's own text of the set; equal sets have equal texts.
	String() string
}

// Position is which transactions a server has. The zero value is empty.
type Position struct{ of Transactions }

// PositionOf holds what an engine has read of a server.
func PositionOf(t Transactions) Position { return Position{t} }

// Beyond counts the transactions of p that are not in other.
func (p Position) Beyond(other Position) int64 {
	if p.of == nil {
		return 0
	}
	return p.of.Beyond(other.of)
}

// Contains reports whether every transaction of other is in p.
func (p Position) Contains(other Position) bool { return other.Beyond(p) == 0 }

// Count is how many transactions are in p.
func (p Position) Count() int64 { return p.Beyond(Position{}) }

// Transactions is the engine's own form, nil where there are no transactions.
func (p Position) Transactions() Transactions { return p.of }

func (p Position) String() string {
	if p.of == nil {
		return ""
	}
	return p.of.String()
}

// Local is how a node's agent knows its server and speaks with it.
type Local interface {
	// IsServer tells from a process's arguments whether it is the server that was started as argv, and not one that
	// makes a data directory or does another chore under the same name.
	IsServer(argv, process []string) bool
	// Client returns a client that asks the server on a unix socket as the administrator. It connects when it is used.
	Client(socket, password string) (Client, error)
}

// Client asks and commands a running server. Its methods may be called at once by several goroutines; each returns an
// error when the context ends before the server has answered.
type Client interface {
	// Writable reports whether accounts without special privileges can write.
	Writable(context.Context) (bool, error)
	// Replication is what the server says of its replication as a replica.
	Replication(context.Context) (Replication, error)
	// Fence, which topologies with leases need, makes the server read-only for everybody and ends the connections of the app's account, so that nothing
	// they have under way is acknowledged. It may be repeated.
	Fence(context.Context) error
	// Close ends the client's connections.
	Close() error
}

// Replication of a server that answers; the zero value is of one that is no replica.
type Replication struct {
	Applies   bool // what it has received, whether or not its source can be reached
	LastError string
}

// Alone is a Starter whose servers can be read before they are started in their place. It performs no IO.
type Alone interface {
	// Alone is how to run a server that takes part in nothing, listens on this socket alone, and changes none of its rows.
	Alone(argv []string, n StartParams) Start
}

// RowOpener is a Local that can read the rows of a server that runs alone.
type RowOpener interface {
	// OpenRows connects to a server on a socket as the administrator, and fails if it does not answer.
	OpenRows(ctx context.Context, socket, password string) (Rows, error)
}

// Rows reads the tables of one server.
type Rows interface {
	// Count returns the rows of a table.
	Count(ctx context.Context, table string) (int64, error)
	// IDs visits the values of an id column of all rows, in any order; null stands for a row without an id.
	IDs(ctx context.Context, table, column string, visit func(id uint64, null bool) error) error
	// Executed names the transactions that the server has executed, in the engine's own notation.
	Executed(ctx context.Context) (string, error)
	io.Closer
}

// NewUser is a checked registration.
type NewUser struct {
	WriteID      *uint64 // the ledger's, nil without one
	FirstName    string
	LastName     string
	Birthdate    string // YYYY-MM-DD, "" for none
	Biography    string
	City         string
	PasswordHash []byte
}

// ErrNoUser is the error of an id without a user.
var ErrNoUser = errors.New("no such user")

// Rejection is the error of a write that the database certainly did not commit. Which errors are that, and which leave it
// open, is each engine's own knowledge.
type Rejection struct {
	Reason string // one of wire's Rejected constants
	Err    error
}

func (r *Rejection) Error() string { return r.Reason + ": " + r.Err.Error() }

func (r *Rejection) Unwrap() error { return r.Err }

// ErrPermanent marks errors that trying again does not cure, such as a missing right or rows that the server refuses.
var ErrPermanent = errors.New("permanent")

// Permanent marks err with ErrPermanent; its text stays.
func Permanent(err error) error { return permanent{err} }

type permanent struct{ error }

func (p permanent) Unwrap() []error { return []error{p.error, ErrPermanent} }
