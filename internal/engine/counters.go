package engine

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
}
