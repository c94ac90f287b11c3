package recorder

import (
	"strings"
	"testing"

	"replab.dev/internal/wire"
)

// TestCountersThatTheEngineHasNot are an error that names them: who asks for them is told, and not by a crash.
func TestCountersThatTheEngineHasNot(t *testing.T) {
	cfg := wire.RecorderConfig{Nodes: []wire.Node{{Name: "a"}}}
	_, noCommits := newCommits(cfg, environment{}, "", nil)
	_, noGroup := newGroup(cfg, environment{}, "", nil)
	for what, err := range map[string]error{"commits": noCommits, "groups": noGroup} {
		if err == nil || !strings.Contains(err.Error(), "counters of "+what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
