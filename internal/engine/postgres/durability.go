package postgres

import "replab.dev/internal/engine"

// durability is how commits reach the disk.
type durability struct{ synchronousCommit, fsync string }

// durabilities by name; the zero durability is Full. With Relaxed a commit is handed to the system before it is acknowledged, with
// Volatile it is not: the server's WAL writer does so within three times wal_writer_delay, 200 ms unless the parameters say otherwise.
// Where synchronous_commit is off no commit waits for a standby either.
var durabilities = map[engine.Durability]durability{
	"":              {synchronousCommit: "on", fsync: "on"},
	engine.Full:     {synchronousCommit: "on", fsync: "on"},
	engine.Relaxed:  {synchronousCommit: "on", fsync: "off"},
	engine.Volatile: {synchronousCommit: "off", fsync: "on"},
}
