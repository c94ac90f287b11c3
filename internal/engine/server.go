package engine

import (
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/wire"
)

// Server is what a server is before it runs. It performs no IO.
type Server interface {
	// Server says what servers make of the experiment's parameters.
	validation.Server
	// Port is where the servers of an experiment listen for clients.
	Port() int
	// Program is what to run for a server in its place, with these settings. It boots closed and with its replication stopped.
	Program(Place, Settings) Program
	// Expected are the settings that every server reports when it runs as Program says.
	Expected(Settings) []wire.Setting
}

// Place is where a server finds and keeps its things, by the paths inside its container.
type Place struct {
	ConfigDir string // of its configuration file
	DataDir   string
	RunDir    string // of the socket
	TmpDir    string
	Port      int
}

// Settings are what an experiment says of its servers.
type Settings struct {
	Durability Durability
	// SemiSync is nil for asynchronous replication.
	SemiSync *SemiSync
	// Group is nil for servers that form none. Such servers boot open: who takes writes is told to those who bring them.
	Group *Group
	// Manager is nil for servers that nobody runs but their start wrapper.
	Manager    *Manager
	Parameters map[string]string // as spec.topology.parameters
}

// Durability is what a crash takes of commits that were acknowledged.
type Durability string

// Durabilities.
const (
	Full     Durability = "Full"     // flushed at each commit: nothing
	Relaxed  Durability = "Relaxed"  // handed to the system at each commit, flushed about once a second: nothing when the process is killed
	Volatile Durability = "Volatile" // in the server's memory for up to a second: that second
)

// SemiSync is how commits wait for replicas.
type SemiSync struct {
	AckReplicas         int
	TimeoutMilliseconds int64
	// AfterCommit waits when the commit is visible to others already, instead of before.
	AfterCommit bool
}

// Program is a server's command line and what belongs to it.
type Program struct {
	Argv       []string
	Process    string // the name of its process
	Socket     string
	ConfigFile string          // the name of the file in Place.ConfigDir
	Config     string          // what is in it
	Manager    *ManagerProgram // nil where the server is started without one: then the file is the server's
	CopyPort   int             // where the start wrapper gives copies of the data to other nodes; 0 where servers copy by themselves
}

// Starter is how the start wrapper makes and runs a server. It performs no IO.
type Starter interface {
	// Initialization is how to make a data directory with the accounts and the app's tables. Its script lies in a file while
	// the server reads it, and holds secrets.
	Initialization(argv []string, dataDir, scriptFile string, password func(account string) (string, error)) (Initialization, error)
	// Start is how to start the server on a node.
	Start(argv []string, n StartParams) Start
	// WantsRestart tells whether the server ended with this code because it wants to be started again at once.
	WantsRestart(exitCode int) bool
}

// Initialization makes a data directory: Argv, after Script was written.
type Initialization struct {
	Argv   []string
	Script string
}

// StartParams are what differs between nodes and starts.
type StartParams struct {
	Ordinal int // of the node
	// Identity is random and made with the data directory: other data have another one. 0 where the data have none.
	Identity   uint32
	Socket     string
	WrapperPID int
}

// Start of a server.
type Start struct {
	Argv   []string
	Env    []string // beside the wrapper's own
	Remove []string // files that a killed server leaves behind, and that must go before
	// DataFiles are written into the data directory before.
	DataFiles []PrivateFile
}
