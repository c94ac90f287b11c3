package engine

import "time"

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
	SyncOff    SyncMode = "Off"    // they wait for none
	SyncOn     SyncMode = "On"     // they wait for standbys that are chosen by name
	SyncQuorum SyncMode = "Quorum" // they wait for any of those that are fit
)

// ManagerProgram is a manager's command line.
type ManagerProgram struct {
	Argv    []string
	Process string // the name of its process
	URL     string // where it answers on its node
}
