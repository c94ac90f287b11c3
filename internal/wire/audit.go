package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AuditResultKey is the key of the audit's ConfigMap that holds AuditResult as JSON.
const AuditResultKey = "result.json"

// AuditConfig configures `replab audit`. It is written when the nodes' roles after the load are known.
type AuditConfig struct {
	Namespace string      `json:"namespace"`
	StateMap  string      `json:"stateMap"` // its ConfigMap
	Engine    string      `json:"engine"`
	Ledger    string      `json:"ledger,omitempty"` // URL of the recorder's ledger; without one the nodes are compared alone
	SecretDir string      `json:"secretDir"`
	Nodes     []AuditNode `json:"nodes"`
	// SeededUsers is how many rows of UsersTable have no write id.
	SeededUsers int64 `json:"seededUsers"`
	// Independent: nodes take writes without asking each other. What exists is on any node, and rows may differ.
	Independent bool `json:"independent,omitempty"`
	// ConnectTimeoutMilliseconds bounds how long a node may take to answer before it is reported as not counted.
	ConnectTimeoutMilliseconds int64 `json:"connectTimeoutMilliseconds"`
}

// AuditNode is a node with the role it has after the load settled. The first that is RoleWriter is the one that the ledger and the
// other nodes are compared with.
type AuditNode struct {
	Node
	Role Role `json:"role"`
	// Checksum: a fault hit it, or it is the one that such are compared with.
	Checksum bool `json:"checksum,omitempty"`
	// Agent is the URL of its agent where that keeps what the node held when it was started again: see Inspection.
	Agent string `json:"agent,omitempty"`
}

// AuditResult is the comparison of ledger and tables. A figure that could not be taken is absent and Failed says why.
type AuditResult struct {
	FinishedAt metav1.MicroTime `json:"finishedAt"`
	// Failed is empty when the sets of the primary could be compared.
	Failed string        `json:"failed,omitempty"`
	Writes *WriteSets    `json:"writes,omitempty"`
	Nodes  []AuditedNode `json:"nodes"`
	// GhostWrites are the distinct write ids that nodes hold, or held at an inspection, and the primary has not. Nodes that could not be
	// read are left out. Absent when the primary was not read.
	GhostWrites *int64 `json:"ghostWrites,omitempty"`
	// Divergence of the nodes' rows with AuditConfig.Independent, where two nodes were read.
	Divergence *Divergence `json:"divergence,omitempty"`
}

// Divergence is how the rows of UsersTable differ that two nodes have by the same id.
type Divergence struct {
	Failed  string         `json:"failed,omitempty"` // why they could not be compared
	Rows    int64          `json:"rows"`
	Samples []DivergentRow `json:"samples,omitempty"` // the first ones by id, at most MaxDivergentSamples
}

// MaxDivergentSamples bounds Divergence.Samples.
const MaxDivergentSamples = 20

// DivergentRow is a row whose columns differ.
type DivergentRow struct {
	ID      uint64            `json:"id"`
	Columns []DivergentColumn `json:"columns"`
}

// DivergentColumn is a column whose values differ: the beginning of each, by the name of its node.
type DivergentColumn struct {
	Name   string            `json:"name"`
	Values map[string]string `json:"values"`
}

// WriteSets are the sizes of the sets of writes that docs/internals.md defines, taken on the primary, or with AuditConfig.Independent on all
// nodes that could be read.
type WriteSets struct {
	LedgerCounts
	Present    int64 `json:"present"`
	Lost       int64 `json:"lost"`
	Recovered  int64 `json:"recovered"`
	Vanished   int64 `json:"vanished"`
	Duplicates int64 `json:"duplicates"`
	Unexpected int64 `json:"unexpected"`
	// Balanced: |I| = |A|+|R|+|U| and |P| = |A| - lost + recovered + unexpected, and the rows without a write id are
	// as many as were seeded.
	Balanced bool `json:"balanced"`
	// Why says which rows are too many or missing when not Balanced, and why the times of a loss are absent.
	Why string `json:"why,omitempty"`
	// LostSpans are when the lost writes were acknowledged, by the recorder's clock and in order. Between two of them lie more than
	// LostSpanMicroseconds; within one no more lie between two acknowledgements.
	LostSpans            []LostSpan `json:"lostSpans,omitempty"`
	LostSpanMicroseconds int64      `json:"lostSpanMicroseconds,omitempty"`
	// LostIDs are the first lost ids, at most MaxLostIDs.
	LostIDs []uint64 `json:"lostIDs,omitempty"`
	// LostWrites says more about the first of them, at most MaxLostWrites.
	LostWrites []LostWrite `json:"lostWrites,omitempty"`
}

// LostWrite is one lost write.
type LostWrite struct {
	ID uint64 `json:"id"`
	// AcknowledgedAt is by the recorder's clock, absent where it could not be read: WriteSets.Why.
	AcknowledgedAt *metav1.MicroTime `json:"acknowledgedAt,omitempty"`
	// On are the nodes that had its row at the audit. Was are those that had it at an inspection and not at the audit. AuditedNode says which were not read.
	On  []string `json:"on,omitempty"`
	Was []string `json:"was,omitempty"`
}

// MaxLostWrites bounds WriteSets.LostWrites.
const MaxLostWrites = 20

// LostSpan has the first and the last acknowledgement of some lost writes.
type LostSpan struct {
	From   metav1.MicroTime `json:"from"`
	To     metav1.MicroTime `json:"to"`
	Writes int64            `json:"writes"`
}

// MaxLostSpans bounds WriteSets.LostSpans.
const MaxLostSpans = 1000

// MaxLostIDs bounds WriteSets.LostIDs.
const MaxLostIDs = 10_000

// AuditedNode is one node's content against the primary's.
type AuditedNode struct {
	Name    string `json:"name"`
	Role    Role   `json:"role"`
	Failed  string `json:"failed,omitempty"`  // why it was not counted
	Rows    *int64 `json:"rows,omitempty"`    // of UsersTable, seeded rows included
	Missing *int64 `json:"missing,omitempty"` // write ids that the primary has and this node has not
	Extra   *int64 `json:"extra,omitempty"`   // write ids that only this node has
	// Lost are the acknowledged writes that this node lacks, with AuditConfig.Independent.
	Lost *int64 `json:"lost,omitempty"`
	// ExtraProbeWrites are rows of ProbeTable that only this node has.
	ExtraProbeWrites *int64 `json:"extraProbeWrites,omitempty"`
	// HoldsOwn tells whether the node holds transactions that it made itself, by the identity of its data. One that acknowledged writes and
	// holds none has other data than it had. Absent when it could not be asked, and where servers keep no set of their transactions.
	HoldsOwn *bool `json:"holdsOwn,omitempty"`
	// GhostTransactions are the transactions that this node executed and the primary did not, for an isolated node. Absent where servers
	// keep no set of their transactions.
	GhostTransactions *int64 `json:"ghostTransactions,omitempty"`
	// Checksum of the rows of UsersTable, in whatever order: equal where they are, in all columns. Absent where none was asked for.
	Checksum string `json:"checksum,omitempty"`
	// Inspected is absent where nodes are not inspected when they are started again.
	Inspected *InspectedNode `json:"inspected,omitempty"`
}

// InspectedNode is what a node held each time that it was started again, together with what it holds now.
type InspectedNode struct {
	Inspections int64 `json:"inspections"` // that told something
	// Ghosts are write ids among it that the primary has not. Absent where Unknown says why and UnknownAt is absent.
	Ghosts *int64 `json:"ghosts,omitempty"`
	// LoggedGhosts are those of Ghosts that its inspections found, and GhostCommits and ProbeGhostCommits the commits with rows of UsersTable
	// and of ProbeTable that its log had at them and others did not: each write is a commit of its own. What the node holds now is in none of
	// the three. Absent where no log was read, and where that of an inspection could not be. LoggedAt is when the first of these inspections
	// began, by its agent's clock: a later failover may have taken away what the node had in common with others then.
	LoggedGhosts      *int64            `json:"loggedGhosts,omitempty"`
	GhostCommits      *int64            `json:"ghostCommits,omitempty"`
	ProbeGhostCommits *int64            `json:"probeGhostCommits,omitempty"`
	LoggedAt          *metav1.MicroTime `json:"loggedAt,omitempty"`
	// LogUnknown says why they are absent though logs are read.
	LogUnknown string `json:"logUnknown,omitempty"`
	// Unknown says why what it held is unknown.
	Unknown string `json:"unknown,omitempty"`
	// UnknownAt is when it was last started with unknown contents, by its agent's clock: what it held later is known.
	UnknownAt *metav1.MicroTime `json:"unknownAt,omitempty"`
	// FreshAt is when its data were made, by its agent's clock. One whose data were made after the load had begun had others before.
	FreshAt *metav1.MicroTime `json:"freshAt,omitempty"`
}
