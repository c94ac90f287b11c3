package engine

import "time"

// Commits are a server's counters of commits as read at one moment. Those of waits begin at 0 with the server's process.
type Commits struct {
	// Acknowledged and Unacknowledged count waits of commits: those that ended because as many replicas acknowledged as had to,
	// and those that went on after the timeout. Commits that are flushed together wait once, unless WaitsAreCommits.
	Acknowledged    int64
	Unacknowledged  int64
	WaitsAreCommits bool
	// Transactions that the server has, read before the counters of waits: one that is among them has waited, if it had to. Not
	// used where WaitsAreCommits, as where commits wait once they are done.
	Transactions int64
	UpSeconds    int64 // by which a server that was started again is known
	// Closed tells that the server takes no writes: none of its commits is under way.
	Closed bool
	// Waiting is nil where servers count waits. The others count transactions alone, and tell how commits of the moment wait.
	Waiting *Waiting
}

// Waiting is how the commits of a server wait for replicas at one moment.
type Waiting struct {
	Degraded bool // they wait for nobody
	// Standbys are the nodes for each of which every commit waits, where the server names them; nil where any of several will do.
	Standbys []string
	Replica  bool // there are none: what it has was committed elsewhere
	// SettingsSince is when the server last read its settings, by which a change between two samples is known.
	SettingsSince time.Time
}

// GroupCounts are what the server of a member of a group has counted, as read at one moment. The counters begin at 0 with the server's
// process.
type GroupCounts struct {
	// CertificationFailures are transactions of the server's own clients that the group refused when they were to be committed, since
	// they were in conflict with one that came before.
	CertificationFailures int64
	// ForcedAborts are transactions of the server's own clients that were rolled back while they ran, since they were in the way of one
	// that the group had committed.
	ForcedAborts int64
	// Deadlocks of transactions of this server with each other; nil where the server does not count them.
	Deadlocks *int64
	// FlowControlPaused is how long the server could hand no transactions to the group, since some member could not keep up.
	FlowControlPaused time.Duration
	// ReceiveQueue is how many transactions the server has received and not begun to apply; ReceiveQueueMax the most there were since
	// its process began.
	ReceiveQueue, ReceiveQueueMax int64
	UpSeconds                     int64 // by which a server that was started again is known
}
