package lag

import (
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// Bound says which percentiles of the lag are not exact.
func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	if s.Replication != nil && s.Replication.Lag != nil {
		most := e.Recorder.Lag.AtMostMicroseconds
		if len(overlooked(e)) > 0 {
			most = nil
		}
		boundPercentiles(b, "replication.lag.", s.Replication.Lag, lowerLags(e), most, whyLower(e))
	}
	if e.Recorder == nil || e.Recorder.Lag == nil {
		return
	}
	for _, n := range s.Nodes {
		for _, of := range e.Recorder.Lag.Nodes {
			if of.Name == n.Name {
				boundPercentiles(b, "nodes["+n.Name+"].lag.", n.Lag, of.LowerBounds, nil, finding.Of(finding.NodeBehind).String())
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
	if len(causes) == 0 {
		add(finding.RecorderSlept)
	}
	return strings.Join(causes, "; ")
}
