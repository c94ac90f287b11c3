package v1alpha1

import "cmp"

// defaultEngines are those of topologies that name none.
var defaultEngines = map[TopologyType]Engine{
	TopologySingle:   EngineMySQL,
	TopologyAsync:    EngineMySQL,
	TopologySemiSync: EngineMySQL,
	TopologyGalera:   EngineMariaDB,
	TopologyPatroni:  EnginePostgreSQL,
}

// EffectiveEngine is the engine of a topology, its type's default where it names none; "" for a type without one.
func (t TopologySpec) EffectiveEngine() Engine { return cmp.Or(t.Engine, defaultEngines[t.Type]) }

// Seconds is how long the stages take together.
func (l LoadSpec) Seconds() int64 {
	var sum int64
	for _, s := range l.Stages {
		sum += s.DurationSeconds
	}
	return sum
}
