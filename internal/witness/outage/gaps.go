// Package outage finds the times in which no write was acknowledged, as the clients see them.
package outage

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/protocol"
)

// gaps turns the stream of acknowledged and failed writes into gaps: the times between two acknowledgements in which a
// write failed, or of which the second came from another node. Events must come in the order of their times.
type gaps struct {
	node     string    // that acknowledged last, "" until one that has a name did
	at       time.Time // of the last acknowledgement, zero before the first
	firstErr time.Time // since then
	errors   int64
	found    []gap
}

type gap struct {
	fromNode, toNode   string
	from, to, firstErr time.Time // firstErr is zero without an error, to is zero while the gap is open
	errors             int64
}

func (g *gaps) acknowledged(node string, at time.Time) {
	moved := node != "" && g.node != "" && node != g.node
	if !g.at.IsZero() && (g.errors > 0 || moved) {
		closed := g.open()
		closed.toNode, closed.to = cmp.Or(node, g.node), at
		g.found = append(g.found, closed)
		if len(g.found) >= 2*protocol.MaxGaps { // now and then, so that it costs nothing per write
			g.found = longest(g.found)
		}
	}
	g.node, g.at = cmp.Or(node, g.node), at
	g.errors, g.firstErr = 0, time.Time{}
}

// failed notes a write without an acknowledgement. Before the first acknowledgement there is no gap to put it in.
func (g *gaps) failed(at time.Time) {
	if g.at.IsZero() {
		return
	}
	if g.errors == 0 {
		g.firstErr = at
	}
	g.errors++
}

func (g *gaps) open() gap {
	return gap{fromNode: g.node, from: g.at, firstErr: g.firstErr, errors: g.errors}
}

// result returns the longest MaxGaps in order of time. One that is still open comes last, and always: nobody knows how
// long it is.
func (g *gaps) result() []protocol.Gap {
	found := longest(slices.Clone(g.found))
	if g.errors > 0 {
		if len(found) == protocol.MaxGaps {
			found = withoutShortest(found)
		}
		found = append(found, g.open())
	}
	results := make([]protocol.Gap, 0, len(found))
	for _, f := range found {
		results = append(results, f.result())
	}
	return results
}

func longest(found []gap) []gap {
	slices.SortStableFunc(found, func(a, b gap) int { return cmp.Compare(b.to.Sub(b.from), a.to.Sub(a.from)) })
	found = found[:min(len(found), protocol.MaxGaps)]
	slices.SortStableFunc(found, func(a, b gap) int { return a.from.Compare(b.from) })
	return found
}

func withoutShortest(found []gap) []gap {
	shortest := slices.MinFunc(found, func(a, b gap) int { return cmp.Compare(a.to.Sub(a.from), b.to.Sub(b.from)) })
	i := slices.Index(found, shortest)
	return slices.Delete(found, i, i+1)
}

func (f gap) result() protocol.Gap {
	r := protocol.Gap{LastNode: f.fromNode, LastAcknowledgedAt: metav1.NewMicroTime(f.from), Errors: f.errors}
	if !f.firstErr.IsZero() {
		r.FirstErrorAt = new(metav1.NewMicroTime(f.firstErr))
	}
	if !f.to.IsZero() {
		r.NextNode = f.toNode
		r.NextAcknowledgedAt = new(metav1.NewMicroTime(f.to))
		r.DurationMicroseconds = new(f.to.Sub(f.from).Microseconds())
	}
	return r
}
