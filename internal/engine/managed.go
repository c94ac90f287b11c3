package engine

import (
	"context"
	"errors"
	"time"

	"replab.dev/internal/wire"
)

// Managed is a Starter whose servers are started by a manager. It performs no IO.
type Managed interface {
	// Manager is how to start the manager of a node, once its files are there.
	Manager(ManagerParams) Start
	// Files are to be written into Place.RunDir before, where others must not read them. template is Program's configuration; each
	// @secret:ACCOUNT@ in a file stands for that account's password.
	Files(template string, p ManagerParams) []RunFile
	// Rewind reads the arguments with which a manager asks to have the server's own commits taken back.
	Rewind(arguments []string) (RewindCall, error)
	// CopiedLast is a file, by its path in the data directory. Data without it are a part of a copy, or were being removed for one:
	// managers do not go on with those.
	CopiedLast() string
}

// ManagerParams are what differs between nodes.
type ManagerParams struct {
	Name    string // of the node
	Address string // its IP address
	DataDir string
	RunDir  string
	Binary  string // of replab
}

// RunFile is a file's name and content.
type RunFile struct {
	Name, Content string
	Executable    bool
}

// RewindCall is what a manager asks for.
type RewindCall struct {
	// Asks: nothing is to be changed; the arguments are for the server's own program.
	Asks bool
	// Source is how to reach the server whose history is to be taken.
	Source string
	// Program is the name of the server's own program that does it.
	Program string
	// Control is a file of the data directory to which each server writes that runs, and Program when all else is done.
	Control string
}

// ManagedLocal is a Local whose servers a manager runs. Its clients connect when they are used.
type ManagedLocal interface {
	// ManagerClient returns a client of the manager at a URL, which commands it with the administrator's password.
	ManagerClient(url, password string) ManagerClient
	// RemoteClient returns a client of a server whose processes and files are elsewhere, as an administrator.
	RemoteClient(server wire.Endpoint, account, password string) RemoteClient
}

// ManagerClient asks and commands the manager of a node. Its methods may be called at once by several goroutines; each returns an error when
// the context ends before the manager has answered.
type ManagerClient interface {
	// Node is what it says of its own node.
	Node(context.Context) (ManagerNode, error)
	// Cluster is what it knows of all nodes.
	Cluster(context.Context) (ManagerCluster, error)
	// Settings are those in the managers' store.
	Settings(context.Context) (ManagerSettings, error)
	// SwitchOver has another node than from take the writes, and returns which does once the manager knows. It takes up to SwitchOverMost.
	SwitchOver(ctx context.Context, from string) (to string, err error)
	// Pause has all managers decide nothing from now on.
	Pause(context.Context) error
}

// SwitchOverMost is how long a manager is waited for that switches over. How that has ended is not known then.
const SwitchOverMost = 28 * time.Second

// ErrSwitchOverRefused says that a manager did nothing of a switchover. Any other error leaves open whether it did.
var ErrSwitchOverRefused = errors.New("the manager refuses to switch over")

// ManagerNode is what a manager says of its node.
type ManagerNode struct {
	Holds       bool   // the lock: its server is to take the writes
	State, Role string // of the server, in the manager's words
	Copying     bool   // it makes the node a copy of another one
	// Synchronous: it counts the node among the standbys that have every commit that was waited for.
	Synchronous bool
	Paused      bool
	Version     string // the manager's
}

// ManagerCluster is what a manager knows of all nodes, by the last report of each.
type ManagerCluster struct {
	Leader         string // may be empty
	LeaderTimeline int64  // 0 where it is not known
	Running        int    // servers that run
	Streaming      int    // those of them that receive another one's log
	Synchronous    int    // standbys with ManagerNode.Synchronous
}

// ManagerSettings hold for all managers.
type ManagerSettings struct {
	Words map[string]string // by name, in the manager's own words
	TTL   time.Duration     // for how long a lock stands that is not renewed; 0 where it is not known
	// Synchronous is how many standbys commits are to wait for.
	Synchronous int
}

// Positioned is a Client that knows its server's place in the log.
type Positioned interface {
	Position(context.Context) (ServerPosition, error)
}

// ServerPosition is where a server is in its log. Positions count bytes since the log began, and may be compared within one timeline alone.
type ServerPosition struct {
	Writable  bool
	Timeline  int64  // that it writes, or receives; 0 for a standby that receives nothing
	Written   uint64 // flushed; of a server that is no standby
	Received  uint64 // flushed, and Applied: of a standby
	Applied   uint64
	Streaming bool   // a standby is connected with the server that it receives from
	Upstream  string // and where that is
	Waits     bool   // commits wait for standbys
}

// RemoteClient asks a server whose process is not in sight. Its methods may be called at once by several goroutines; each returns an error
// when the context ends before the server has answered.
type RemoteClient interface {
	// RunAndPosition names the server's run among all its runs, and its place in its log. It fails with ErrNoServer where no server runs.
	RunAndPosition(context.Context) (run string, position ServerPosition, err error)
	// Furnish gives a server that takes writes the app's accounts and tables as far as it lacks them. What it makes, standbys copy: it waits
	// for none.
	Furnish(ctx context.Context, password func(account string) (string, error)) error
	// Close ends the client's connections.
	Close() error
}

// ErrNoServer is the error of an address at which no server listens.
var ErrNoServer = errors.New("no server listens")

// Manager are the settings of servers that a manager runs: a process beside each, in the same container, which starts the server, and
// decides with the other nodes' managers, through a store, which server takes the writes.
type Manager struct {
	// Scope is the name of the nodes' cluster; with Namespace and Labels, by which managers know each other's pods and their objects in the
	// store. ScopeLabel is the label that has Scope for its value.
	Scope, Namespace string
	Labels           map[string]string
	ScopeLabel       string
	// RoleLabel is the label by which managers tell on their pods which server takes the writes: WriterValue, and ReaderValue on others.
	RoleLabel, WriterValue, ReaderValue string

	Synchronous SyncMode
	NodeCount   int32 // of standbys that a commit waits for, where it waits
	Strict      bool  // where no standby is fit, no commit is acknowledged
	Failsafe    bool  // a writer that the store does not answer goes on while all other nodes answer it

	TTL, LoopWait, RetryTimeout, PrimaryStartTimeout time.Duration
	MaxLagBytes                                      int64 // what a server may lack and still be promoted
}

// SyncMode is whether commits wait for standbys.
type SyncMode string

// Modes of commits.
const (
	SyncOff    SyncMode = "Off"    // they do not wait
	SyncOn     SyncMode = "On"     // they wait for standbys that are chosen by name
	SyncQuorum SyncMode = "Quorum" // they wait for any of those that are fit
)

// ManagerProgram is a manager's command line.
type ManagerProgram struct {
	Argv    []string
	Process string // the name of its process
	URL     string // where it answers on its node
}

// Described is a Server that managers run, and that another operator may run. It performs no IO.
type Described interface {
	// Describe is the configuration of every server, for another operator.
	Describe(Settings) Description
	// Kept are the managers' settings in their store, by name and as they report them. They hold whatever the configuration says.
	Kept(Settings) map[string]string
}

// Description of servers, in their own words.
type Description struct {
	Version    string            // the major one
	Parameters map[string]string // as the server's configuration has them
	// Access are the rules of who may connect, and how: a line each.
	Access []string
	// Initialization is what a data directory is made with; "true" for what is a switch.
	Initialization map[string]string
}

// Log is a Starter whose servers' logs can be read while they are down. Its methods run the server's programs, and connect.
type Log interface {
	// Fork is where the server of RewindCall.Source went its own way, as seen from the data in a directory.
	Fork(ctx context.Context, dataDir, source string) (Fork, error)
	// Commits are those in the log of a data directory that the other server has not.
	Commits(ctx context.Context, dataDir string, f Fork) (LogCommits, error)
	// Tables are the files of tables by their names, as a server that runs alone has them.
	Tables(ctx context.Context, socket, password string, tables ...string) (map[string]string, error)
}

// Fork is the point at which two servers' histories part.
type Fork struct {
	Timeline, NewTimeline int64  // of the data, and of the other server
	Position              string // as the server writes it
}

// LogCommits are commits behind a Fork.
type LogCommits struct {
	All int64
	// Inserted are those that inserted rows, by the table's file; one that inserted into several counts for each.
	Inserted map[string]int64
	End      string // of the log, as the server writes positions
}
