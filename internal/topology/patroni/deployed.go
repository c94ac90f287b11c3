package patroni

import (
	"fmt"
	"maps"
	"slices"

	"replab.dev/internal/engine"
	"replab.dev/internal/topology"
)

// missing says what is still missing until every node is in its place, and Patroni runs as the topology says: "" for nothing.
func (c Cluster) missing(state topology.State, all []member, writer *member) string {
	if writer == nil {
		return "no node takes the writes"
	}
	for _, n := range state.Nodes {
		if n.Name != writer.Node && (n.Role != topology.Reader || !n.CaughtUp) {
			return n.Name + " does not follow " + writer.Node
		}
	}
	if writer.told.Members != len(all) {
		return fmt.Sprintf("Patroni on %s sees %d running servers of %d", writer.Node, writer.told.Members, len(all))
	}
	if why := c.Lacks(*writer.told); why != "" {
		return why
	}
	if Paused(c.Params) {
		for _, m := range all {
			if !m.told.Paused {
				return "Patroni on " + m.Node + " is not paused, as topology.failover None says"
			}
		}
	}
	return tooFew(c.Params, all, writer)
}

// tooFew says that commits do not wait yet for as many standbys as they are to. The server waits for them a while before Patroni may promote
// one, which is when a switchover is possible.
func tooFew(p topology.Params, all []member, writer *member) string {
	wanted := promotable(p)
	if wanted == 0 {
		return ""
	}
	if !writer.told.Waits {
		return "commits on " + writer.Node + " do not wait for standbys yet"
	}
	fit := 0
	for _, m := range all {
		if m.Node != writer.Node && m.told.Synchronous {
			fit++
		}
	}
	if fit < wanted {
		return fmt.Sprintf("Patroni has %d synchronous standbys, and %d are needed", fit, wanted)
	}
	return ""
}

// kept are the settings that all have in common, as the first says that knows them.
func kept(all []member) map[string]string {
	for _, m := range all {
		if m.told != nil && m.told.Config != nil {
			return m.told.Config
		}
	}
	return nil
}

// Differs says which setting of Patroni is not as the topology says, "" for none. config is what Patroni says that it keeps, unsaid what a
// setting is that it does not name, and same tells whether two values of one are the same.
func Differs(p topology.Params, config, unsaid map[string]string, same func(a, b string) bool) string {
	server, ok := p.Server.(engine.Described)
	if !ok {
		return keepsNothing(p)
	}
	if config == nil {
		return "what Patroni runs with is not known yet"
	}
	wanted := server.Kept(Settings(p))
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		got, told := config[name]
		if !told {
			got = unsaid[name]
		}
		if !same(got, wanted[name]) {
			return fmt.Sprintf("Patroni runs with %s %q, and is to with %q", name, got, wanted[name])
		}
	}
	return ""
}

// keepsNothing says that the settings for Patroni are unknown.
func keepsNothing(p topology.Params) string {
	return fmt.Sprintf("engine %s does not say which settings its servers' managers are to keep", p.Engine)
}
