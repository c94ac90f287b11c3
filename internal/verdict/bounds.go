package verdict

import (
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/degraded"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/group"
	"replab.dev/internal/verdict/lag"
	"replab.dev/internal/verdict/load"
	"replab.dev/internal/verdict/outage"
	"replab.dev/internal/verdict/writes"
)

// stateFigureBounds writes down which figures are not exact, or absent, and why. Whoever reads a figure reads this, and judges it no more.
func stateFigureBounds(e evidence.Run, s *evidence.Status) {
	var b figure.Bounds
	for _, concern := range []func(*figure.Bounds, evidence.Run, *evidence.Status){load.Bound, lag.Bound, degraded.Bound, group.Bound, outage.Bound, writes.Bound, sayAbsent} {
		concern(&b, e, s)
	}
	s.Bounds = b
}

// sayAbsent says of the figures that are absent what is known of why. Of the others the catalogue has the usual cause.
func sayAbsent(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	for _, entry := range figure.All() {
		said := slices.ContainsFunc(*b, func(o v1alpha1.BoundStatus) bool { return o.Figure == entry.Path })
		if why := whyAbsent(e, entry.Path); why != "" && !said && (entry.Main || entry.Goal) && figure.At(s, entry.Path) == nil {
			b.Unknown(entry.Path, why)
		}
	}
}

// whyAbsent is "" where the evidence has nothing that is missing.
func whyAbsent(e evidence.Run, path string) string {
	of, _, _ := strings.Cut(path, ".")
	switch r := e.Recorder; {
	case r == nil:
		return "the recorder's results are missing"
	case (of == "writes" || of == "ghostWrites") && e.Audit == nil:
		return "the tables were not audited"
	case (of == "writes" || of == "ghostWrites") && e.Audit.Failed != "":
		return "the audit failed"
	case of == "writes" || of == "ghostWrites":
		return ""
	case r.Incomplete != "":
		return "the recorder saw a part of the load only: " + r.Incomplete
	case path == "replication.degradedCommits" && r.Commits != nil:
		return degraded.NotSampled(r)
	case strings.HasPrefix(path, "replication.group.") && r.Group != nil:
		return group.GroupUnread(r)
	}
	return ""
}
