package verdict

import (
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/degraded"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/verdict/group"
	"replab.dev/internal/verdict/load"
)

// bounds tell which figures are not exact, or absent, and why. Whoever reads a figure reads this, and judges it no more.
func bounds(e evidence.Run, s *evidence.Status) figure.Bounds {
	var b figure.Bounds
	for _, c := range concerns {
		if c.bound != nil {
			c.bound(&b, e, s)
		}
	}
	load.BoundPath(&b, e, s)
	for _, entry := range figure.All() { // of the other absent ones the catalogue has the usual cause
		said := slices.ContainsFunc(b, func(o v1alpha1.BoundStatus) bool { return o.Figure == entry.Path })
		if why := whyAbsent(e, entry.Path); !why.None() && !said && (entry.Main || entry.Goal) && figure.At(s, entry.Path) == nil {
			b.Unknown(entry.Path, why.String())
		}
	}
	return b
}

// whyAbsent is nothing where the evidence has nothing that is missing.
func whyAbsent(e evidence.Run, path string) finding.Finding {
	of, _, _ := strings.Cut(path, ".")
	audited := of == "writes" || of == "ghostWrites"
	switch r := e.Recorder; {
	case r == nil:
		return finding.Of(finding.NoRecorder)
	case audited && e.Audit == nil:
		return finding.Of(finding.NotAudited)
	case audited && e.Audit.Failed != "":
		return finding.Of(finding.AuditBroken)
	case audited:
	case r.Incomplete != "":
		return finding.Of(finding.PartOfLoad, r.Incomplete)
	case path == "replication.degradedCommits" && r.Commits != nil:
		return degraded.NotSampled(r)
	case strings.HasPrefix(path, "replication.group.") && r.Group != nil:
		return group.Unread(r)
	}
	return finding.Finding{}
}
