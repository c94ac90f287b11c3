package familytest

import (
	"fmt"
	"testing"

	"replab.dev/internal/engine"
)

// StartPair starts two servers that may replicate from each other. They are closed, and replicate from nothing yet.
func (f Flavor) StartPair(t testing.TB, name string, logReplicaUpdates bool, opts ...Option) [2]*Server {
	t.Helper()
	opts = append([]Option{func(s *engine.Settings) { s.Pair = &engine.Pair{LogReplicaUpdates: logReplicaUpdates} }}, opts...)
	var pair [2]*Server
	for i := range pair {
		s := f.Prepare(t, fmt.Sprintf("%s-%d", name, i), opts...)
		how := f.Roles.Start(s.argv, engine.StartParams{Ordinal: i, Identity: uint32(1000 + nextID.Add(1)), Pair: true})
		s.argv = how.Argv
		s.Initialize()
		s.Run()
		t.Cleanup(s.Kill)
		pair[i] = s
	}
	return pair
}
