package engine

import (
	"context"
	"time"
)

// Admin looks at one server and commands it over the network, for who manages a primary and its replicas. Every method
// returns an error when the context ends before the server has answered; each act may be repeated, also after it was done
// in part.
type Admin interface {
	// Look asks everything that a decision needs, at once.
	Look(context.Context, Question) (Look, error)
	Gate
	Replica
	// Clone replaces everything that the server has by a copy of donor. It returns when the copy is made and the server
	// restarts; the error tells that it certainly failed. Look then tells how it went.
	Clone(ctx context.Context, donor Source) error
	// Close ends the connections.
	Close() error
}

// Gate decides whether a server takes writes.
type Gate interface {
	// Open lets everybody write. Where replication is semi-synchronous, AwaitReplicas comes before.
	Open(context.Context) error
	// Shut lets nobody write but administrators who insist.
	Shut(context.Context) error
	// AwaitReplicas makes commits wait for replicas, from the next one on; nothing where replication is asynchronous.
	AwaitReplicas(context.Context) error
}

// Replica is what a server does as a replica. It receives, and it applies what it has received.
type Replica interface {
	// Attach makes it a replica of source from scratch, which fetches what it has not executed. What it has received and
	// not applied is thrown away and fetched again. Its commits, should there be any, no longer wait for replicas.
	Attach(ctx context.Context, source Source) error
	// Detach makes it a replica of nobody. What it has received and not applied is gone after that.
	Detach(context.Context) error
	// Turn starts or stops what it does as a replica.
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
}

// OpenAdmin makes an Admin, which connects when it is used.
type OpenAdmin func(AdminParams) (Admin, error)

// Question says what a look asks beside what it always asks.
type Question struct {
	Acknowledgers bool
	Clone         bool
}

// Look is what a server says of itself.
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
	// Beyond counts those that are not in other, which is of the same engine, or nil for none.
	Beyond(other Transactions) int64
	// String is the engine's own text of the set; equal sets have equal texts.
	String() string
}

// Position is which transactions a server has. The zero value is of none.
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

// Contains tells whether every transaction of other is in p.
func (p Position) Contains(other Position) bool { return other.Beyond(p) == 0 }

// Count is how many transactions are in p.
func (p Position) Count() int64 { return p.Beyond(Position{}) }

// Transactions is the engine's own form, nil when there are none.
func (p Position) Transactions() Transactions { return p.of }

func (p Position) String() string {
	if p.of == nil {
		return ""
	}
	return p.of.String()
}
