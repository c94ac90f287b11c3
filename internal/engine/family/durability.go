package family

import "replab.dev/internal/engine"

// Durability is a pair of settings: how the redo log and the binary log reach the disk.
type Durability struct{ FlushAtCommit, SyncBinlog string }

// Durabilities by name; the zero durability is Full. The binary log has no level of its own for Volatile: it is handed to
// the system at each commit, so that a server that was killed may know transactions by name whose rows it has lost.
var Durabilities = map[engine.Durability]Durability{
	"":              {"1", "1"},
	engine.Full:     {"1", "1"},
	engine.Relaxed:  {"2", "0"},
	engine.Volatile: {"0", "0"},
}

// WaitPoint is when a commit waits for replicas, as the servers call it.
func WaitPoint(s engine.SemiSync) string {
	if s.AfterCommit {
		return "AFTER_COMMIT"
	}
	return "AFTER_SYNC"
}
