// Package load judges throughput, latency, stale reads, and the instruments that measured them. It is pure.
package load

import (
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/kube"
	"replab.dev/internal/provenance"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// Fill states what the load got, and what it took of each node.
func Fill(e evidence.Run, s *evidence.Status) {
	s.Load = figures(e)
	for i := range s.Nodes {
		s.Nodes[i].Resources = resources(e, s.Nodes[i].Name)
	}
}

// Findings of the load and of what measured it.
func Findings(e evidence.Run, s *evidence.Status) []finding.Finding {
	return slices.Concat(
		clientDisagrees(e), instrumentsDiffer(e),
		dropped(s), someFailed(s), stoodStill(e, s), windowsCut(e, s), answeredLate(e, s), stagesEmpty(e, s), stagesUnnamed(e, s), closedLoopUnsound(e, s),
		staleReadsUnknown(e, s), recorderRestarted(e), pathRestarted(e), busier(e),
	)
}

func figures(e evidence.Run) *v1alpha1.LoadStatus {
	if e.Recorder == nil || e.Recorder.Incomplete != "" {
		return nil
	}
	l := &v1alpha1.LoadStatus{StageFigures: stageFigures(e.Recorder.Load, droppedIterations(e)), StaleReads: staleReads(e)}
	for _, s := range e.Recorder.Stages {
		stage := v1alpha1.StageStatus{Name: s.Name, StageFigures: stageFigures(s, droppedIn(e, s.Name))}
		if atRest(e, s.Name) {
			stage.DroppedIterations = nil // none was due
		}
		if c := closedLoopOf(e, s); c != nil {
			stage.ClosedLoopPermille, stage.ClosedLoopHolds = ptr.To(int64(math.Round(c.share*1000))), c.holds()
		}
		stage.Resources = resourcesIn(e.Recorder, s)
		l.Stages = append(l.Stages, stage)
	}
	return l
}

// atRest reports whether a stage was to send no request.
func atRest(e evidence.Run, stage string) bool {
	return slices.ContainsFunc(e.Spec.Load.Stages, func(s v1alpha1.Stage) bool { return s.Name == stage && s.AtRest() })
}

// droppedIterations of the stages that count, or of all when a user's own script has unknown stages.
func droppedIterations(e evidence.Run) *int64 {
	if e.K6 == nil {
		return nil
	}
	if e.Spec.Load.Script != nil {
		return ptr.To(e.K6.DroppedIterations)
	}
	sum := int64(0)
	for _, s := range e.Spec.Load.Stages {
		if s.Discard {
			continue
		}
		dropped := droppedIn(e, s.Name)
		if dropped == nil {
			return nil
		}
		sum += *dropped
	}
	return &sum
}

// droppedIn a stage; nil when that is not known.
func droppedIn(e evidence.Run, stage string) *int64 {
	if e.K6 == nil {
		return nil
	}
	if e.Spec.Load.Script != nil && e.K6.DroppedIterations == 0 {
		return ptr.To[int64](0)
	}
	for _, k := range e.K6.Stages {
		if k.Name == stage {
			return ptr.To(k.DroppedIterations)
		}
	}
	return nil
}

func stageFigures(r wire.StageResult, dropped *int64) v1alpha1.StageFigures {
	f := v1alpha1.StageFigures{
		Requests: r.Requests, Failures: r.Failures, Timeouts: r.Timeouts, DroppedIterations: dropped, Latency: latencyStatus(r.Latency),
	}
	if r.PausedMicroseconds > 0 {
		f.PausedMilliseconds = ptr.To(evidence.Milliseconds(r.PausedMicroseconds))
	}
	if d := r.DurationMicroseconds; d > 0 {
		f.DurationMilliseconds = ptr.To((d + 500) / 1000)
	}
	least, most := rate(r)
	f.RequestsPerSecondMilli, f.RequestsPerSecond = least, rounded(least, most)
	return f
}

// staleReadsUnknown says why there is no count: a user that was lost cannot be read either.
func staleReadsUnknown(e evidence.Run, status *evidence.Status) []finding.Finding {
	if status.Load == nil || status.Load.StaleReads != nil {
		return nil
	}
	if e.Recorder.CheckedReads == 0 {
		return []finding.Finding{finding.Of(finding.StaleReadsNoRead)}
	}
	if staleCounted(e) == nil {
		return []finding.Finding{finding.Of(finding.StaleReadsDiscarded)}
	}
	return []finding.Finding{finding.Of(finding.StaleReadsUnclear)}
}

// staleReads of users that are there in the end. A user that was lost is not found either, so its reads say nothing: they
// are left out when all lost writes and all that were not found are known by their ids. Where no such user was read, none could
// have shown.
func staleReads(e evidence.Run) *int64 {
	if e.Audit == nil || e.Audit.Writes == nil || e.Recorder.CheckedReads == 0 {
		return nil
	}
	all, lost := staleCounted(e), e.Audit.Writes
	if all == nil || *all == 0 || lost.Lost == 0 {
		return all
	}
	if int64(len(lost.LostIDs)) != lost.Lost {
		return nil
	}
	var known, stale int64
	for _, u := range e.Recorder.StaleUsers {
		known += u.Reads
		if _, gone := slices.BinarySearch(lost.LostIDs, u.WriteID); !gone {
			stale += u.Reads
		}
	}
	if known != *all {
		return nil
	}
	return &stale
}

// staleCounted are the stale reads in the stages that count, nil where they are unknown. A run that was under load when its operator was upgraded has
// a recorder that counted discarded stages too: then there are more than reads that failed.
func staleCounted(e evidence.Run) *int64 {
	var failed int64
	for _, s := range e.Recorder.Stages {
		if s.Discarded || s.Requests == 0 {
			continue
		}
		if len(s.Operations) == 0 {
			return &e.Recorder.StaleReads
		}
		for _, o := range s.Operations {
			if o.Name == wire.OperationProfile {
				failed += o.Failures
			}
		}
	}
	switch {
	case e.Recorder.StaleReads <= failed:
		return &e.Recorder.StaleReads
	case failed == 0:
		return &failed
	}
	return nil
}

// pathRestarted finds an app or a proxy that ended or began in the midst of the load. No fault hits them, and what fails meanwhile looks like an
// outage of the databases.
func pathRestarted(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for _, c := range e.Provenance.Containers {
		if how := away(e, c); how != "" && (c.Component == kube.ComponentSocial || c.Component == kube.ComponentProxy) {
			found = append(found, finding.Of(finding.PathRestarted, c.Name, c.Pod, how))
		}
	}
	return found
}

// away is how a container was missing for a part of the load, "" if it was not. One whose pod was replaced may be back only after the load.
func away(e evidence.Run, c provenance.Container) string {
	how, _ := evidence.Interrupted(e, c)
	w := e.Recorder
	if how != "" || w == nil || w.LoadEndedAt == nil || !evidence.InNewPod(e, c) || c.PodCreatedAt.After(w.LoadEndedAt.Time) {
		return how
	}
	if c.StartedAt != nil && !c.StartedAt.After(w.LoadEndedAt.Time) { // before the load
		return ""
	}
	return "replaced another at " + c.PodCreatedAt.UTC().Format(time.RFC3339)
}

// BoundPath takes from figures that an app or a proxy made worse the bound on their better side. It comes after all other bounds.
func BoundPath(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	if len(pathRestarted(e)) == 0 {
		return
	}
	because := finding.Of(finding.PathWasAway).String()
	for _, entry := range figure.All() {
		if entry.ThroughApp && !entry.InStages {
			b.Worsened(s, entry.Path, entry.Better, because)
		}
	}
	prefixes := []string{"load."}
	if s.Load != nil {
		for _, stage := range s.Load.Stages {
			prefixes = append(prefixes, "load.stages["+stage.Name+"].")
		}
	}
	for _, prefix := range prefixes {
		for _, entry := range figure.All() {
			if entry.ThroughApp && entry.InStages {
				b.Worsened(s, prefix+strings.TrimPrefix(entry.Path, "load."), entry.Better, because)
			}
		}
		b.Worsened(s, prefix+"requestsPerSecond", figure.Higher, because) // these two are not in the catalogue
		b.Worsened(s, prefix+"latency.meanMicroseconds", figure.Lower, because)
	}
}
