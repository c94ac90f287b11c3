package lag

import (
	"context"
	"slices"
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mariadb/mariadbtest"
	"replab.dev/internal/wire"
)

// TestMembersOfAGroup watches members beside writers, woken by the writes' names, and without them.
func TestMembersOfAGroup(t *testing.T) {
	members := mariadbtest.StartGroup(t, "m", 3)
	var servers []*familytest.Server
	for _, m := range members {
		servers = append(servers, m.Server)
	}
	for name, open := range map[string]Open{"by name": Opens(mariadb.NewLag), "by looking": withoutNames(Opens(mariadb.NewLag))} {
		t.Run(name, func(t *testing.T) {
			stop := load(t, servers[0].DB(wire.AccountApp, wire.Database), 8, 0)
			c := configure(t, servers[0].Endpoint(), servers...)
			c.Open = open
			p := start(t, c)
			p.until("300 samples, of which most were also read before", func(r wire.LagResult) bool {
				return r.Samples >= 300 && !slices.ContainsFunc(r.Nodes[1:], func(n wire.NodeLag) bool { return n.Censored > n.Samples/5 })
			})
			stop()
			r := p.stop()
			t.Log(describe(r))
			for _, n := range r.Nodes[1:] {
				if n.Samples != r.Acknowledged || n.Unseen != 0 {
					t.Errorf("%s: %d writes, %d samples, %d unseen: each must become a sample", n.Name, r.Acknowledged, n.Samples, n.Unseen)
				}
				if *n.ResolutionP50Microseconds <= 0 {
					t.Errorf("%s: resolution %d", n.Name, *n.ResolutionP50Microseconds)
				}
			}
			if n := r.Nodes[0]; n.Samples != 0 || n.Unseen != 0 {
				t.Errorf("the writer has samples of its own: %+v", n)
			}
		})
	}
}

// withoutNames has sessions that learn no write's name.
func withoutNames(open Open) Open {
	return func(t engine.LagTarget) Engine { return nameless{open(t)} }
}

type nameless struct{ Engine }

func (n nameless) OpenWriter(ctx context.Context) (Writer, error) {
	w, err := n.Engine.OpenWriter(ctx)
	return struct{ Writer }{w}, err
}
