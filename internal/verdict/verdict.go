// Package verdict turns evidence into figures and a verdict. It is pure, so that the same evidence always gives the same.
package verdict

import (
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/degraded"
	"replab.dev/internal/verdict/distance"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/faults"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/verdict/group"
	"replab.dev/internal/verdict/instruments"
	"replab.dev/internal/verdict/lag"
	"replab.dev/internal/verdict/load"
	"replab.dev/internal/verdict/outage"
	"replab.dev/internal/verdict/rejoin"
	"replab.dev/internal/verdict/settings"
	"replab.dev/internal/verdict/traffic"
	"replab.dev/internal/verdict/writes"
)

// concern of a run: it states its figures, says which of them are not exact, and what it found. Each part may be missing.
type concern struct {
	fill     func(evidence.Run, *evidence.Status)
	bound    func(*figure.Bounds, evidence.Run, *evidence.Status)
	findings func(evidence.Run, *evidence.Status) []finding.Finding
}

// concerns in the order in which their findings are told. Those after writes fill in the nodes that writes makes; distance needs the figures
// of load and degraded.
var concerns = []concern{
	{nil, nil, instruments.Findings},
	{writes.Fill, writes.Bound, writes.Findings},
	{load.Fill, load.Bound, load.Findings},
	{lag.Fill, lag.Bound, lag.Findings},
	{traffic.Fill, traffic.Bound, nil},
	{degraded.Fill, degraded.Bound, degraded.Findings},
	{group.Fill, group.Bound, group.Findings},
	{outage.Fill, outage.Bound, outage.Findings},
	{rejoin.Fill, rejoin.Bound, rejoin.Findings},
	{nil, nil, faults.Findings},
	{distance.Fill, distance.Bound, distance.Findings},
	{settings.Fill, nil, settings.Findings},
}

// Judge writes figures, goals, reasons, notes and the verdict into status; the rest of it stays as it is.
func Judge(e evidence.Run, status *v1alpha1.ReplicationExperimentStatus) {
	e.Faults = evidence.Timed(e)
	fill(e, status)
	status.Goals = judgeGoals(e, status)

	var found []finding.Finding
	for _, c := range concerns {
		if c.findings != nil {
			found = append(found, c.findings(e, status)...)
		}
	}
	found = append(found, goalFindings(e, status)...)
	var weaker []string
	status.Verdict, status.Reasons, weaker = decide(found)
	status.Comparison = comparison(e, status) // it depends on the verdict
	found = append(found, notCompared(status)...)
	status.Notes = slices.Concat(weaker, finding.Sentences(found, finding.Note), e.Notes)
}

// verdicts by the effect of what was found, the strongest first. Figures that contradict each other prove nothing; what was not measured
// cannot be judged; then come the goals.
var verdicts = []struct {
	effect  finding.Effect
	verdict v1alpha1.Verdict
}{
	{finding.Invalid, v1alpha1.VerdictInvalid},
	{finding.Inconclusive, v1alpha1.VerdictInconclusive},
	{finding.Failed, v1alpha1.VerdictFailed},
	{finding.Passed, v1alpha1.VerdictPassed},
}

// decide returns the verdict of the strongest effect with its sentences, and the weaker ones that speak against Passed.
func decide(found []finding.Finding) (decided v1alpha1.Verdict, reasons, weaker []string) {
	for _, v := range verdicts {
		sentences := finding.Sentences(found, v.effect)
		switch {
		case decided == "" && len(sentences) > 0:
			decided, reasons = v.verdict, sentences
		case v.effect != finding.Passed:
			weaker = append(weaker, sentences...)
		}
	}
	return decided, reasons, weaker
}

// fill copies the evidence's figures into the status. What was not measured stays absent.
func fill(e evidence.Run, s *evidence.Status) {
	s.Faults, s.Replication = e.Faults, nil
	for _, c := range concerns {
		if c.fill != nil {
			c.fill(e, s)
		}
	}
	s.Bounds = bounds(e, s)
	s.Columns = columns(s)
}

// columns are the figures that lists of runs show, by their names in the catalogue.
func columns(s *evidence.Status) map[string]string {
	shown := map[string]string{}
	for _, entry := range figure.All() {
		if f := figure.Read(s, entry.Path); entry.Column != "" && f.Value != nil {
			shown[entry.Name] = f.Short()
		}
	}
	return shown
}

// comparison states the differences from the baseline, nil where there is none to compare with.
func comparison(e evidence.Run, s *evidence.Status) *v1alpha1.ComparisonStatus {
	if e.Spec.Baseline == nil {
		return nil
	}
	now, base := evidence.Pair(e, s)
	return compare.Of(now, base, e.Spec.Baseline.Name, (*figure.Bounds)(&s.Bounds))
}

// notCompared says why a comparison that was asked for is not there.
func notCompared(s *evidence.Status) []finding.Finding {
	c := s.Comparison
	switch {
	case c == nil || c.RequestsPerSecondPercent != nil:
		return nil
	case c.P99Percent != nil:
		return []finding.Finding{finding.Of(finding.ThroughputNotCompared, c.Baseline, c.Note)}
	}
	return []finding.Finding{finding.Of(finding.NotCompared, c.Baseline, c.Note)}
}

// Salvage writes the figures of a run that was ended before its time into status, beside the verdict that it has. Goals are not
// judged: what was measured is a part.
func Salvage(e evidence.Run, status *v1alpha1.ReplicationExperimentStatus) {
	e.Faults = evidence.Timed(e)
	e.Baseline, e.Spec.Baseline = nil, nil
	status.Comparison, status.Goals = nil, nil
	note := finding.LoadCutShort
	switch {
	case e.Recorder == nil:
		note = finding.LoadUnknown
	case e.Recorder.Failed != "":
		e.Recorder, note = nil, finding.LoadUntrusted // it does not vouch for what it saw
	}
	fill(e, status)
	status.Notes = append(status.Notes, finding.Of(note).String())
}

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
