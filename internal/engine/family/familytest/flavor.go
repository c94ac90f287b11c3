package familytest

import (
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

// Flavor is an engine's own part.
type Flavor struct {
	Engine      string // its name in spec.topology.engine
	Roles       Roles
	OpenAdmin   engine.OpenAdmin
	NewStore    func(wire.SocialConfig, string) (*family.Store, error)
	NewLoader   func(wire.Endpoint, string) (*family.Loader, error)
	NewCounters func(host, password string) (*family.Counted[engine.Commits], error)
	// Binary is how to run the server, without its defaults file, and the arguments that must follow that.
	Binary func(testing.TB) (argv, arguments []string)
	// Parameters make a server small.
	Parameters map[string]string
	OpenSQL    string // makes the server writable
	CloseSQL   string // makes it read-only
	ClosedSQL  string // a query that tells 1 while it is
	// ClosedToAdmin tells that a read-only server takes no writes of the administrator either.
	ClosedToAdmin bool
	AwaitSQL      string // makes commits wait for replicas
	AwaitsSQL     string // a query that tells 1 while they do
	// ReceiverSQL tells ON or Yes while a replica's source is connected.
	ReceiverSQL string
	// CopiesItself tells that a server can be made a copy of another without its start wrapper.
	CopiesItself bool
	// SourceSQL counts the servers that it is configured to replicate from.
	SourceSQL string
	// ReplicateSQL makes it a replica of the server at a port of this machine.
	ReplicateSQL func(port int) string
	ExecutedSQL  string // a query that tells what a server has executed
	CatchUpSQL   string // a query that waits up to 50 s until the text of ExecutedSQL is executed, and tells 0 then
	// SubtractSQL tells what of such a text a server has not executed; "" where servers cannot subtract.
	SubtractSQL string
	LockWaitSQL string // counts who waits for a lock
	// DelaySQL has a replica that does not apply be at least a second late once it does.
	DelaySQL string
	// MeasuresLag tells that a replica measures itself how late it is.
	MeasuresLag bool
	// FlushTogether has several commits flushed at once. EachWaits tells that each then waits for replicas by itself.
	FlushTogether []Option
	EachWaits     bool
	// AlwaysCounts tells that a server has counters of commits whatever it was started for.
	AlwaysCounts bool
	// MemberLines are what a member of a group needs beside what its own configuration file has, to be at an address of this machine
	// that others use too; config is what all members have. See StartGroup.
	MemberLines func(t testing.TB, address, config string) []string
}

// Roles of an engine, which know how its servers are started and how they are known.
type Roles interface {
	engine.Server
	engine.Starter
	engine.Local
	engine.Paired
}

// Option changes the configuration of a server.
type Option func(*engine.Settings)

// SemiSync has commits that can wait for replicas.
func SemiSync(ackReplicas int, timeout time.Duration) Option {
	return func(s *engine.Settings) {
		s.SemiSync = &engine.SemiSync{AckReplicas: ackReplicas, TimeoutMilliseconds: timeout.Milliseconds()}
	}
}

// Parameter sets a server variable.
func Parameter(name, value string) Option {
	return func(s *engine.Settings) { s.Parameters[name] = value }
}
