package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Paths of nodes that are inspected when they are started again.
const (
	AgentPathInspections = "/inspections" // GET Inspections
	// AgentPathInspected: GET the write ids that all inspections together found in UsersTable, as a 64-bit roaring bitmap in its portable
	// form, see ledger.ReadBitmap; 404 while none has read any rows.
	AgentPathInspected = "/inspections/ids"
)

// Inspections are all that a node's agent has kept, in their order. Each start of the server is one of them.
type Inspections struct {
	Inspections []Inspection `json:"inspections"`
	// WriteIDs is how many there are behind AgentPathInspected; absent while no inspection has read any rows.
	WriteIDs *int64 `json:"writeIDs,omitempty"`
}

// Inspection is what a node held when it was about to be started again, or its manager to take back what others have not: its server ran
// alone, without a network and read-only, and was read.
type Inspection struct {
	ID string           `json:"id"`
	At metav1.MicroTime `json:"at"` // when it began
	// Fresh: the node had no data; they were made in this start. One that had some before has lost them.
	Fresh bool `json:"fresh,omitempty"`
	// Unfinished: the data were part of those that another node was handing over when the server died. It has committed nothing since
	// the inspection before.
	Unfinished bool `json:"unfinished,omitempty"`
	// Intact: its data were started as they are, so that nothing of what it held is gone.
	Intact bool `json:"intact,omitempty"`
	// Rows of UsersTable, seeded rows included, and WriteIDs, how many of them have a write id; absent when Error says why, when Fresh, when
	// Unfinished and when Intact.
	Rows     *int64 `json:"rows,omitempty"`
	WriteIDs *int64 `json:"writeIDs,omitempty"`
	// Position is how far the data had come, in the engine's own notation.
	Position string `json:"position,omitempty"`
	// Milliseconds by which it kept the server from being started in its place.
	Milliseconds int64 `json:"milliseconds"`
	// WAL is what the node's log held that was about to be taken back; absent where logs are not read.
	WAL *WALInspection `json:"wal,omitempty"`
	// Error says why the node could not be read: what only it had is then unknown.
	Error string `json:"error,omitempty"`
}

// WALInspection is what a server's log held behind the point at which another server went its own way.
type WALInspection struct {
	Timeline    int64 `json:"timeline,omitempty"`    // of the node
	NewTimeline int64 `json:"newTimeline,omitempty"` // of the other server
	// Fork is that point and End the log's end, as the server writes positions.
	Fork string `json:"fork,omitempty"`
	End  string `json:"end,omitempty"`
	// Commits behind Fork: all of them, those that inserted into UsersTable, and those that inserted into ProbeTable.
	Commits      int64 `json:"commits"`
	UserCommits  int64 `json:"userCommits"`
	ProbeCommits int64 `json:"probeCommits"`
	// Error says why the log could not be read: the counts mean nothing then.
	Error string `json:"error,omitempty"`
}

// Setting is one that every server of an experiment must run with, or that decides a figure.
type Setting struct {
	Name  string `json:"name"` // as the server reports it
	Value string `json:"value"`
	// AnyValue tells that nothing is expected, and Value is empty: it is read to be stated, and may not change during the run.
	AnyValue bool `json:"anyValue,omitempty"`
	// MayLack tells that the server may take the setting at its start and report nothing of it.
	MayLack bool `json:"mayLack,omitempty"`
}

// NodeSettings is what a node's server said that it ran with, before the load and after it.
type NodeSettings struct {
	Node     string `json:"node"`
	Version  string `json:"version,omitempty"`
	Identity string `json:"identity,omitempty"` // the server's own; no two have the same
	// Unread says why nothing was read before the load, UnreadAfter why nothing after it; "" when it was.
	Unread      string        `json:"unread,omitempty"`
	UnreadAfter string        `json:"unreadAfter,omitempty"`
	Settings    []SettingRead `json:"settings,omitempty"`
}

// SettingRead is a setting of one server.
type SettingRead struct {
	Setting
	// Actual is what it was before the load, absent when the server has no such setting.
	Actual *string `json:"actual,omitempty"`
	// Differs tells that Actual is not what Value says.
	Differs bool `json:"differs,omitempty"`
	// Changed is what it was after the load, absent when that is Actual or was not read.
	Changed *string `json:"changed,omitempty"`
}
