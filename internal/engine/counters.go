package engine

// Commits are a server's counters of commits as read at one moment. They begin at 0 with the server's process.
type Commits struct {
	Acknowledged   int64 // by as many replicas as they had to wait for
	Unacknowledged int64 // went on after the wait's timeout
	UpSeconds      int64 // by which a server that was started again is known
}
