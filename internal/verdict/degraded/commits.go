package degraded

import (
	"fmt"

	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	r := s.Replication
	if r == nil || r.DegradedCommits == nil {
		return
	}
	const path = "replication.degradedCommits"
	if nodes := Unsampled(e.Recorder); len(nodes) > 0 {
		b.AtLeast(path, *r.DegradedCommits, fmt.Sprintf("node %s was not sampled for up to %d ms", nodes[0].Name, evidence.Milliseconds(nodes[0].UncountedMicroseconds)))
	} else {
		b.Between(path, *r.DegradedCommits, e.Recorder.Commits.DegradedCommitsAtMost, "commits that are flushed together wait once")
	}
	if r.DegradedMilliseconds != nil {
		b.AtLeast("replication.degradedMilliseconds", *r.DegradedMilliseconds, "it is sampled")
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

// NotSampled says why the counters of commits are not those of all primaries, "" when they are.
func NotSampled(w *wire.RecorderResults) string {
	wrote := false
	for _, n := range w.Commits.Nodes {
		switch {
		case n.Samples > 0:
		case n.LastWriteAt != nil:
			return fmt.Sprintf("node %s acknowledged writes, and its counters could not be read once since the load began", n.Name)
		case w.UnnamedWrites > 0:
			return fmt.Sprintf("node %s may have acknowledged writes, and its counters could not be read once since the load began", n.Name)
		}
		wrote = wrote || n.LastWriteAt != nil
	}
	if !wrote {
		return "no node is known to have acknowledged a write"
	}
	return ""
}

func CommitRemarks(w *wire.RecorderResults, stated *int64) []string {
	if w.Commits == nil {
		return nil
	}
	if stated == nil {
		return []string{"Unacknowledged commits are not stated: " + NotSampled(w) + "."}
	}
	found := degraded(w, *stated)
	for _, n := range Unsampled(w) {
		found = append(found, fmt.Sprintf("Unacknowledged commits are a lower bound: what node %s committed in up to %d ms before it died, before its counters could be read, or before its clock was set back, may not be counted.",
			n.Name, evidence.Milliseconds(n.UncountedMicroseconds)))
	}
	return found
}
