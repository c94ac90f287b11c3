// Package lag judges the replication lag. It is pure.
package lag

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// Status is nil when no write was awaited.
func Status(d wire.LagDistribution) *v1alpha1.LagStatus {
	if d.Samples+d.Unseen == 0 {
		return nil
	}
	return &v1alpha1.LagStatus{
		Samples: d.Samples, Censored: d.Censored, Unseen: d.Unseen, Lost: d.Lost, P50Microseconds: d.P50Microseconds,
		P99Microseconds: d.P99Microseconds, MaxMicroseconds: d.MaxMicroseconds, ResolutionP50Microseconds: d.ResolutionP50Microseconds,
		OldestUnseenMicroseconds: d.OldestUnseenMicroseconds,
	}
}

// lowerLags are the percentiles of the lag over all nodes that are lower bounds: each one while a replica was not watched.
func lowerLags(e evidence.Run) []v1alpha1.Percentile {
	if len(overlooked(e)) > 0 {
		return []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P99, v1alpha1.Max}
	}
	return e.Recorder.Lag.LowerBounds
}

// overlookedLeast is how long a node must have been a replica for the probe to see that it is one: the node has all writes by then, so that
// one of the next must show.
const overlookedLeast = 2 * time.Second

// overlooked are the nodes that were replicas again by the topology's account, and that the probe did not see to follow until its end.
func overlooked(e evidence.Run) []string {
	var found []string
	for _, n := range e.Recorder.Lag.Nodes {
		if n.FormerPrimary && e.State.Known && servedAgain(e, n.Name) {
			found = append(found, n.Name)
		}
	}
	return found
}

// servedAgain tells whether a node may have been a replica during the load after its last absence. One without an absence was one all along.
func servedAgain(e evidence.Run, node string) bool {
	var last *topology.Absence
	for i := range e.State.Absences {
		if e.State.Absences[i].Node == node {
			last = &e.State.Absences[i]
		}
	}
	switch {
	case last == nil:
		return e.State.Node(node).Role == topology.Reader
	case last.BackAt == nil:
		return false
	}
	by, end := evidence.ClockOf(e.Recorder, last.Clock), e.Recorder.LoadEndedAt
	return by == nil || end == nil || evidence.Told(last.BackAt.Time, *by).Latest.Add(overlookedLeast).Before(end.Time)
}

// behind are the nodes that had not shown writes which they should have: their lag is longer than is known.
func behind(w *wire.RecorderResults) []wire.NodeLag {
	if w == nil || w.Lag == nil {
		return nil
	}
	var found []wire.NodeLag
	for _, n := range w.Lag.Nodes {
		if n.Unseen > n.Lost {
			found = append(found, n)
		}
	}
	return found
}

func LagRemarks(e evidence.Run, stated *v1alpha1.LagStatus) []string {
	w := e.Recorder
	if w.Lag == nil {
		return nil
	}
	if stated == nil {
		return []string{fmt.Sprintf("The lag is not stated: no replica was to show an acknowledged row of the probe that was written in a stage that counts. %d were written then, %d at other times.",
			w.Lag.Acknowledged, w.Lag.Uncounted)}
	}
	found := awayRemarks(w.Lag)
	for _, node := range overlooked(e) {
		found = append(found, fmt.Sprintf("Node %s was a replica again, and the lag probe did not see it follow: the lag is a lower bound.", node))
	}
	for _, n := range behind(w) {
		found = append(found, fmt.Sprintf("Node %s had not shown %d acknowledged rows of the probe when the measurement ended, the oldest after %d ms: their lags are longer than that.",
			n.Name, n.Unseen-n.Lost, ptr.Deref(n.OldestUnseenMicroseconds, 0)/1000))
	}
	if w.Lag.Lost > 0 {
		found = append(found, fmt.Sprintf("%d times a replica never showed an acknowledged row of the probe, which was lost with its primary: there is no lag of these.", w.Lag.Lost))
	}
	return found
}

// awayRemarks name the former primaries, and say for how many rows no replica was watched.
func awayRemarks(l *wire.LagResult) []string {
	var found []string
	for _, n := range l.Nodes {
		if n.Away > 0 {
			found = append(found, fmt.Sprintf("Node %s was a former primary and not yet a replica for %d of %d rows of the probe: its lag leaves them out.",
				n.Name, n.Away, l.Acknowledged))
		}
	}
	switch {
	case l.Unwatched == 0:
	case l.AtMostMicroseconds != nil:
		found = append(found, fmt.Sprintf("%s; the longest lag is at most %d µs.", nobodyWatched(l), *l.AtMostMicroseconds))
	default:
		found = append(found, nobodyWatched(l)+": percentiles that leave out fewer are lower bounds.")
	}
	return found
}

func nobodyWatched(l *wire.LagResult) string {
	return fmt.Sprintf("No replica was there to watch for %d of %d rows of the probe", l.Unwatched, l.Acknowledged)
}

func OfNode(w *wire.RecorderResults, node string) *v1alpha1.LagStatus {
	if w == nil || w.Incomplete != "" || w.Lag == nil {
		return nil
	}
	for _, l := range w.Lag.Nodes {
		if l.Name == node {
			return Status(l.LagDistribution)
		}
	}
	return nil
}
