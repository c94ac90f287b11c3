package lag

import (
	"fmt"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
)

func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	if s.Replication != nil && s.Replication.Lag != nil {
		most := e.Recorder.Lag.AtMostMicroseconds
		if len(overlooked(e)) > 0 {
			most = nil
		}
		boundPercentiles(b, "replication.lag.", s.Replication.Lag, lowerLags(e), most, whyLagLower(e))
	}
	if e.Recorder == nil || e.Recorder.Lag == nil {
		return
	}
	for _, n := range s.Nodes {
		for _, of := range e.Recorder.Lag.Nodes {
			if of.Name == n.Name {
				boundPercentiles(b, "nodes["+n.Name+"].lag.", n.Lag, of.LowerBounds, nil, "the node had not shown all writes, or the recorder stood still")
			}
		}
	}
}

func boundPercentiles(b *figure.Bounds, prefix string, lag *v1alpha1.LagStatus, lower []v1alpha1.Percentile, most *int64, because string) {
	if lag == nil {
		return
	}
	for _, p := range lower {
		value := figure.At(lag, string(p))
		switch {
		case value == nil:
		case most != nil:
			b.Between(prefix+string(p), *value, *most, because)
		default:
			b.AtLeast(prefix+string(p), *value, because)
		}
	}
}

// whyLagLower is the first of the causes that there are.
func whyLagLower(e evidence.Run) string {
	l := e.Recorder.Lag
	switch nodes := behind(e.Recorder); {
	case l.Unwatched > 0:
		return fmt.Sprintf("no replica was there to watch for %d of %d rows of the probe", l.Unwatched, l.Acknowledged)
	case len(overlooked(e)) > 0:
		return fmt.Sprintf("the probe did not see node %s follow again", overlooked(e)[0])
	case len(nodes) > 0:
		return fmt.Sprintf("node %s had not shown %d rows of the probe", nodes[0].Name, nodes[0].Unseen-nodes[0].Lost)
	}
	return "the recorder stood still"
}
