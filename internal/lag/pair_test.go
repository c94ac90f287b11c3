package lag

import (
	"fmt"
	"testing"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

// TestEachOfAPairShowsTheOthersWrites, whichever of the two takes them, and whether or not it logs what it replicates.
func TestEachOfAPairShowsTheOthersWrites(t *testing.T) {
	enginetest.Each(t, eachOfAPairShowsTheOthersWrites)
}

func eachOfAPairShowsTheOthersWrites(t *testing.T, flavor enginetest.Flavor) {
	for _, logs := range []bool{true, false} {
		for _, several := range []bool{false, true} {
			t.Run(fmt.Sprintf("logReplicaUpdates=%t,several=%t", logs, several), func(t *testing.T) {
				s := flavor.StartPair(t, "node", logs)
				for i := range s {
					s[i].Replicate(s[1-i])
					s[i].Open()
				}
				f := newForwarder(t, address(s[0]))
				c := configure(t, f.endpoint(), s[:]...)
				c.SeveralWriters = several
				p := start(t, c)
				p.until("20 samples on the second", func(r wire.LagResult) bool { return r.Nodes[1].Samples >= 20 })
				f.move(address(s[1]))
				p.until("20 samples on the first", func(r wire.LagResult) bool { return r.Nodes[0].Samples >= 20 })
				second := p.Result().Nodes[1].Samples
				f.move(address(s[0]))
				p.until("20 more on the second", func(r wire.LagResult) bool { return r.Nodes[1].Samples >= second+20 })
				p.until("all are seen", func(r wire.LagResult) bool { return r.Unseen < 3 })
				r := p.stop()
				t.Log(describe(r))
				for _, n := range r.Nodes {
					if n.Lost > 0 || n.Away >= n.Samples { // it is away until it was seen to follow, once after each move
						t.Errorf("%s: %d lost, %d away of %d: both replicate from each other all the time", n.Name, n.Lost, n.Away, n.Samples)
					}
				}
			})
		}
	}
}
