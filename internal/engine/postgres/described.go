package postgres

import (
	"cmp"

	"replab.dev/internal/engine"
)

var _ engine.Described = Server{}

// majorVersion of servers that another operator is asked for.
const majorVersion = "17"

// Describe implements engine.Described. Who administers and who replicates is that operator's: the rules of access name nobody.
func (Server) Describe(s engine.Settings) engine.Description {
	made := map[string]string{}
	for _, o := range InitOptions() {
		made[o.Name] = cmp.Or(o.Value, "true")
	}
	return engine.Description{
		Version: majorVersion, Parameters: Parameters(s), Initialization: made,
		Access: AccessRules("all"),
	}
}
