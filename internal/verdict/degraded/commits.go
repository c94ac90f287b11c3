package degraded

import (
	"slices"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// Fill states the commits that went on without the standby that they were to wait for.
func Fill(e evidence.Run, s *evidence.Status) {
	if !e.Whole() || e.Recorder.Commits == nil || !NotSampled(e.Recorder).None() {
		return
	}
	r := evidence.Replication(s)
	r.DegradedCommits = ptr.To(e.Recorder.Commits.DegradedCommits)
	r.DegradedMilliseconds = degradedMilliseconds(e.Recorder.Commits)
}

// Findings of degraded replication.
func Findings(e evidence.Run, s *evidence.Status) []finding.Finding {
	if !e.Whole() {
		return degradedUnknown(e)
	}
	stated := ptr.Deref(s.Replication, v1alpha1.ReplicationStatus{}).DegradedCommits
	return slices.Concat(commitRemarks(e.Recorder, stated), lostWhileDegraded(e), degradedUnknown(e))
}

// Bound says which counts are not exact.
func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	r := s.Replication
	if r == nil || r.DegradedCommits == nil {
		return
	}
	const path = "replication.degradedCommits"
	if nodes := Unsampled(e.Recorder); len(nodes) > 0 {
		b.AtLeast(path, *r.DegradedCommits, finding.Of(finding.UnsampledTime, nodes[0].Name, evidence.Milliseconds(nodes[0].UncountedMicroseconds)).String())
	} else {
		b.Between(path, *r.DegradedCommits, e.Recorder.Commits.DegradedCommitsAtMost, finding.Of(finding.FlushedTogether).String())
	}
	none := *r.DegradedCommits == 0 && len(Unsampled(e.Recorder)) == 0 && e.Recorder.Commits.DegradedCommitsAtMost == 0
	if r.DegradedMilliseconds != nil && (!none || *r.DegradedMilliseconds != 0) {
		b.AtLeast("replication.degradedMilliseconds", *r.DegradedMilliseconds, finding.Of(finding.Sampled).String())
	}
}

// Unsampled are the nodes that may have had more commits than their samples tell.
func Unsampled(w *wire.RecorderResults) []wire.NodeCommits {
	if w == nil || w.Commits == nil {
		return nil
	}
	var found []wire.NodeCommits
	for _, n := range w.Commits.Nodes {
		if n.UncountedMicroseconds > 0 {
			found = append(found, n)
		}
	}
	return found
}

// NotSampled says why the counters of commits are not those of all primaries, nothing when they are.
func NotSampled(w *wire.RecorderResults) finding.Finding {
	wrote := false
	for _, n := range w.Commits.Nodes {
		switch {
		case n.Samples > 0:
		case n.LastWriteAt != nil:
			return finding.Of(finding.CountersUnread, n.Name)
		case w.UnnamedWrites > 0:
			return finding.Of(finding.CountersPerhapsUnread, n.Name)
		}
		wrote = wrote || n.LastWriteAt != nil
	}
	if !wrote {
		return finding.Of(finding.NoWriterKnown)
	}
	return finding.Finding{}
}

func commitRemarks(w *wire.RecorderResults, stated *int64) []finding.Finding {
	if w.Commits == nil {
		return nil
	}
	if stated == nil {
		return []finding.Finding{finding.Of(finding.DegradedUnknown, NotSampled(w))}
	}
	found := degraded(w, *stated)
	for _, n := range Unsampled(w) {
		found = append(found, finding.Of(finding.DegradedUncounted, n.Name, evidence.Milliseconds(n.UncountedMicroseconds)))
	}
	return found
}
