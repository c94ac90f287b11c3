package engine

import "context"

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
