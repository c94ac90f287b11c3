// Package lag judges the replication lag. It is pure.
package lag

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/percentile"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// Fill states the lag of all replicas, and of each.
func Fill(e evidence.Run, s *evidence.Status) {
	if !e.Whole() || e.Recorder.Lag == nil {
		return
	}
	if l := figures(e.Recorder.Lag.LagDistribution); l != nil {
		evidence.Replication(s).Lag = l
	}
	for _, size := range e.Recorder.Lag.Sizes {
		r := evidence.Replication(s)
		r.LagSizes = append(r.LagSizes, ofSize(size))
	}
	for i := range s.Nodes {
		s.Nodes[i].Lag = ofNode(e.Recorder.Lag, s.Nodes[i].Name)
	}
}

func ofSize(l wire.SizeLag) v1alpha1.LagSizeStatus {
	return v1alpha1.LagSizeStatus{
		Name: strconv.FormatInt(l.PayloadBytes, 10), Samples: l.Samples, Censored: l.Censored, Unseen: l.Unseen,
		InsertP50Microseconds: &l.InsertP50Microseconds, InsertP99Microseconds: &l.InsertP99Microseconds,
		RetrievalP50Microseconds: l.ResolutionP50Microseconds, RetrievalP99Microseconds: l.ResolutionP99Microseconds,
		TotalP50Microseconds: l.TotalP50Microseconds, TotalP99Microseconds: l.TotalP99Microseconds,
		BareP50Microseconds: l.BareP50Microseconds, BareP99Microseconds: l.BareP99Microseconds,
	}
}

// Findings of the lag.
func Findings(e evidence.Run, s *evidence.Status) []finding.Finding {
	if !e.Whole() {
		return nil
	}
	return lagRemarks(e, ptr.Deref(s.Replication, v1alpha1.ReplicationStatus{}).Lag)
}

// figures are nil when no write was awaited.
func figures(d wire.LagDistribution) *v1alpha1.LagStatus {
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
	return lowerOf(e, e.Recorder.Lag.LowerBounds)
}

// lowerOf are these, or more: all while a replica was not watched, and high ones where rows of independent nodes waited out a fault.
func lowerOf(e evidence.Run, known []v1alpha1.Percentile) []v1alpha1.Percentile {
	if len(overlooked(e)) > 0 {
		return []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P99, v1alpha1.Max}
	}
	return without(known, setApart(e), e.Recorder.Lag.Acknowledged)
}

// without adds the percentiles that are lower bounds where some of all rows have no lag in the figures, since theirs is longer.
func without(known []v1alpha1.Percentile, some, all int64) []v1alpha1.Percentile {
	lower := slices.Clone(known)
	for _, of := range []struct {
		p       v1alpha1.Percentile
		percent int64
	}{{v1alpha1.P50, 50}, {v1alpha1.P99, 99}, {v1alpha1.Max, 100}} {
		if percentile.LeavesOutLess(of.percent, some, all) && !slices.Contains(lower, of.p) {
			lower = append(lower, of.p)
		}
	}
	return lower
}

// setApart counts rows of an independent node that were not on the others when the writes moved. They arrive after the fault, and have no lag in the
// figures.
func setApart(e evidence.Run) int64 {
	if !e.Independent {
		return 0
	}
	return e.Recorder.Lag.Lost
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

// hardly is the part of the rows that were due which the probe must have written, beside those of outages.
const hardly = 10

func lagRemarks(e evidence.Run, stated *v1alpha1.LagStatus) []finding.Finding {
	w := e.Recorder
	if w.Lag == nil {
		return nil
	}
	if stated == nil {
		return []finding.Finding{finding.Of(finding.LagNotReported, w.Lag.Acknowledged, w.Lag.Uncounted)}
	}
	found := awayRemarks(w.Lag)
	for _, node := range overlooked(e) {
		found = append(found, finding.Of(finding.ReplicaOverlooked, node))
	}
	for _, n := range behind(w) {
		found = append(found, finding.Of(finding.RowsUnseen, n.Name, n.Unseen-n.Lost, ptr.Deref(n.OldestUnseenMicroseconds, 0)/1000))
	}
	lost := int64(0) // the sum has a row as often as there are replicas that lack it
	for _, n := range w.Lag.Nodes {
		lost = max(lost, n.Lost)
	}
	switch apart := setApart(e); {
	case apart > 0:
		found = append(found, finding.Of(finding.RowsApart, apart))
	case lost > 0:
		found = append(found, finding.Of(finding.RowsLost, lost))
	}
	if due := w.Lag.Acknowledged + w.Lag.Discarded + w.Lag.Missed; w.Lag.Acknowledged*hardly < due {
		found = append(found, finding.Of(finding.ProbeHardlyWrote, w.Lag.Acknowledged, due))
	}
	return found
}

// awayRemarks name the former primaries, and say for how many rows no replica was watched.
func awayRemarks(l *wire.LagResult) []finding.Finding {
	var found []finding.Finding
	for _, n := range l.Nodes {
		if n.Away > 0 {
			found = append(found, finding.Of(finding.FormerPrimaryAway, n.Name, n.Away, l.Acknowledged))
		}
	}
	switch {
	case l.Unwatched == 0:
	case l.AtMostMicroseconds != nil:
		found = append(found, finding.Of(finding.UnwatchedAtMost, l.Unwatched, l.Acknowledged, *l.AtMostMicroseconds))
	default:
		found = append(found, finding.Of(finding.Unwatched, l.Unwatched, l.Acknowledged))
	}
	return found
}

func ofNode(l *wire.LagResult, node string) *v1alpha1.LagStatus {
	for _, n := range l.Nodes {
		if n.Name == node {
			return figures(n.LagDistribution)
		}
	}
	return nil
}

// Bound says which percentiles of the lag are not exact.
func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	if s.Replication != nil && s.Replication.Lag != nil {
		most := e.Recorder.Lag.AtMostMicroseconds
		if len(overlooked(e)) > 0 {
			most = nil
		}
		boundPercentiles(b, "replication.lag.", e.Recorder.Lag.LagDistribution, s.Replication.Lag, lowerLags(e), most, whyLower(e))
	}
	if e.Recorder == nil || e.Recorder.Lag == nil {
		return
	}
	boundSizes(b, e, s)
	for _, n := range s.Nodes {
		for _, of := range e.Recorder.Lag.Nodes {
			if of.Name == n.Name {
				boundPercentiles(b, "nodes["+n.Name+"].lag.", of.LagDistribution, n.Lag, lowerOfNode(e, of), nil, finding.Of(finding.NodeBehind).String())
			}
		}
	}
}

// lowerOfNode are the percentiles of a node's lag that are lower bounds.
func lowerOfNode(e evidence.Run, n wire.NodeLag) []v1alpha1.Percentile {
	if !e.Independent {
		return n.LowerBounds
	}
	return without(n.LowerBounds, n.Lost, n.Samples+n.Lost)
}

// boundSizes like all sizes together. The percentiles of the times until a row was seen are absent where one was not.
func boundSizes(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	for _, size := range e.Recorder.Lag.Sizes {
		lower := lowerOf(e, size.LowerBounds)
		for _, of := range []struct {
			name string
			p    v1alpha1.Percentile
		}{{"totalP50", v1alpha1.P50}, {"bareP50", v1alpha1.P50}, {"totalP99", v1alpha1.P99}, {"bareP99", v1alpha1.P99}} {
			path := fmt.Sprintf("replication.lagSizes[%d].%sMicroseconds", size.PayloadBytes, of.name)
			switch value := figure.At(s, path); {
			case value == nil:
			case unpaused(size.LagDistribution, of.p, figure.At(size.LagDistribution, string(of.p))) != nil:
				b.Unknown(path, finding.Of(finding.RecorderSlept).String())
			case slices.Contains(lower, of.p):
				b.AtLeast(path, *value, whyLower(e))
			}
		}
	}
}

func boundPercentiles(b *figure.Bounds, prefix string, d wire.LagDistribution, lag *v1alpha1.LagStatus, lower []v1alpha1.Percentile, most *int64, because string) {
	if lag == nil {
		return
	}
	for _, p := range []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P99, v1alpha1.Max} {
		value, path := figure.At(lag, string(p)), prefix+string(p)
		if value == nil {
			continue
		}
		least := unpaused(d, p, value)
		low := *cmp.Or(least, value)
		switch isLower := slices.Contains(lower, p); {
		case isLower && most != nil:
			b.Between(path, low, *most, because)
		case isLower && least != nil && low < 0:
			b.Unknown(path, because)
		case isLower:
			b.AtLeast(path, low, because)
		case least != nil:
			b.Between(path, low, *value, finding.Of(finding.RecorderSlept).String())
		}
	}
}

// unpaused is a percentile of the lag less the pauses of the recorder within it, nil where they are less than 1% of it.
func unpaused(d wire.LagDistribution, p v1alpha1.Percentile, measured *int64) *int64 {
	least := map[v1alpha1.Percentile]*int64{v1alpha1.P50: d.UnpausedP50Microseconds, v1alpha1.P99: d.UnpausedP99Microseconds, v1alpha1.Max: d.UnpausedMaxMicroseconds}[p]
	if least == nil || measured == nil || *least*100 >= *measured*99 {
		return nil
	}
	return least
}

// whyLower has all causes that there are.
func whyLower(e evidence.Run) string {
	l := e.Recorder.Lag
	var causes []string
	add := func(code finding.Code, params ...any) { causes = append(causes, finding.Of(code, params...).String()) }
	if l.Unwatched > 0 {
		add(finding.RowsUnwatched, l.Unwatched, l.Acknowledged)
	}
	for _, node := range overlooked(e) {
		add(finding.FollowingUnseen, node)
	}
	for _, n := range behind(e.Recorder) {
		add(finding.RowsNotShown, n.Name, n.Unseen-n.Lost)
	}
	if n := setApart(e); n > 0 {
		add(finding.RowsSetApart, n, l.Acknowledged)
	}
	if len(causes) == 0 {
		add(finding.RecorderSlept)
	}
	return strings.Join(causes, "; ")
}
