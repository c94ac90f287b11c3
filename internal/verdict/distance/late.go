package distance

import (
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/percentile"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/verdict/load"
	"replab.dev/internal/wire"
)

// uncoveredMost is how much of a stage may be without samples: its ends, and the agent's end.
const uncoveredMost = 2 * time.Second

// lateStages finds counting stages that were farther apart than asked, or with a packet as late as by a fault.
func lateStages(n v1alpha1.LinkedNodeStatus) []finding.Finding {
	var found []finding.Finding
	for _, s := range n.Stages {
		switch {
		case s.Discarded || !tooLate(s):
		case s.HeldUpPackets > 0 || s.MeanLateMicroseconds == nil:
			found = append(found, finding.Of(finding.PacketsLate, s.Name, s.LatePackets, s.DelayedPackets, n.Name, s.HeldUpPackets, wire.HeldUpLeast.Milliseconds()))
		default:
			found = append(found, finding.Of(finding.PacketsLateOnAverage, s.Name, n.Name, *s.MeanLateMicroseconds, *s.MeanDelayMicroseconds))
		}
	}
	return found
}

// Packets may be late by a part of their delay on average, or by a millisecond: what a stage with them measures is of a distance that much longer.
const (
	partLate     = 20
	lateAllMicro = 1000
)

// tooLate reports whether packets were late on average, or one as late as by a fault. Where no average is known, no more may be late than the 99th
// percentile leaves out.
func tooLate(s v1alpha1.LinkedStageStatus) bool {
	switch {
	case s.HeldUpPackets > 0:
		return true
	case s.MeanLateMicroseconds == nil:
		return percentile.LeavesOutLess(99, s.LatePackets, s.DelayedPackets)
	}
	return *s.MeanLateMicroseconds > max(*s.MeanDelayMicroseconds/partLate, lateAllMicro)
}

// Bound takes the lower bound from percentiles that leave out fewer packets than were late: without these, requests would have been quicker.
func Bound(b *figure.Bounds, _ evidence.Run, s *evidence.Status) {
	if s.Distance == nil {
		return
	}
	for _, n := range s.Distance.Nodes {
		all := v1alpha1.LinkedStageStatus{}
		for _, stage := range n.Stages {
			boundPercentiles(b, s, "load.stages["+stage.Name+"].latency.", n.Name, stage)
			if !stage.Discarded {
				all.LatePackets, all.DelayedPackets = all.LatePackets+stage.LatePackets, all.DelayedPackets+stage.DelayedPackets
			}
		}
		boundPercentiles(b, s, "load.latency.", n.Name, all)
		boundPercentiles(b, s, "replication.lag.", n.Name, all)
	}
}

func boundPercentiles(b *figure.Bounds, s *evidence.Status, prefix, node string, late v1alpha1.LinkedStageStatus) {
	if !percentile.LeavesOutLess(99, late.LatePackets, late.DelayedPackets) {
		return
	}
	because := finding.Of(finding.LateInStage, late.LatePackets, late.DelayedPackets, node).String()
	for _, p := range load.Percentiles {
		if percentile.LeavesOutLess(p.Percent, late.LatePackets, late.DelayedPackets) {
			b.Worsened(s, prefix+string(p.Name), figure.Lower, because)
		}
	}
}

// stateLate sets the counts of delayed packets of each stage.
func stateLate(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus) {
	if s.Distance == nil {
		return
	}
	for i := range s.Distance.Nodes {
		s.Distance.Nodes[i].Stages = linkedStages(e, s.Distance.Nodes[i].Name)
	}
}

// linkedStages are the stages that the samples of a node's agent cover.
func linkedStages(e evidence.Run, node string) []v1alpha1.LinkedStageStatus {
	var all []v1alpha1.LinkedStageStatus
	for _, r := range evidence.StagesOf(e) {
		for _, l := range e.Recorder.Links {
			if l.Node == node && l.Stage == r.Name && covered(l) {
				all = append(all, linkedStage(r, l))
			}
		}
	}
	return all
}

func linkedStage(r wire.StageResult, l wire.NodeLinks) v1alpha1.LinkedStageStatus {
	s := v1alpha1.LinkedStageStatus{
		Name: r.Name, Discarded: r.Discarded, DelayedPackets: l.DelayedPackets, LatePackets: l.LatePackets, HeldUpPackets: l.HeldUpPackets,
	}
	if n := l.DelayedPackets; n > 0 && l.DelayMicroseconds > 0 {
		s.MeanDelayMicroseconds, s.MeanLateMicroseconds = ptr.To(l.DelayMicroseconds/n), ptr.To((l.LateMicroseconds+n-1)/n)
	}
	return s
}

func covered(l wire.NodeLinks) bool { return l.UncoveredMicroseconds <= uncoveredMost.Microseconds() }

// stageOf is a stage's count of packets delayed by a node. The kernel's netem does not count late ones.
func stageOf(e evidence.Run, n v1alpha1.LinkedNodeStatus, stage string) (found v1alpha1.LinkedStageStatus, known bool) {
	all := linkedStages(e, n.Name)
	i := slices.IndexFunc(all, func(s v1alpha1.LinkedStageStatus) bool { return s.Name == stage })
	if i < 0 {
		return v1alpha1.LinkedStageStatus{}, n.Method != v1alpha1.LinkPacketQueue
	}
	return all[i], true
}

// lateUnknown finds counting stages in which the agent did not report late packets all the time.
func lateUnknown(e evidence.Run, n v1alpha1.LinkedNodeStatus) finding.Finding {
	var stages []string
	for _, r := range evidence.StagesOf(e) {
		if _, known := stageOf(e, n, r.Name); !known && !r.Discarded && r.Requests > 0 {
			stages = append(stages, uncovered(e, n.Name, r.Name))
		}
	}
	if len(stages) == 0 || e.Recorder.Incomplete != "" {
		return finding.Finding{}
	}
	return finding.Of(finding.PacketsLateUnknown, n.Name, strings.Join(stages, ", "))
}

// uncovered names a stage, and how long it had no sample unless that is all of it.
func uncovered(e evidence.Run, node, stage string) string {
	for _, l := range e.Recorder.Links {
		if l.Node == node && l.Stage == stage {
			return finding.Of(finding.StagePart, stage, l.UncoveredMicroseconds/1000).String()
		}
	}
	return stage
}

// lateIn is the reason why packets of a stage may have been late, if there is one.
func lateIn(e evidence.Run, r wire.StageResult) finding.Finding {
	if e.Distance == nil {
		return finding.Finding{}
	}
	for _, n := range e.Distance.Nodes {
		switch s, known := stageOf(e, n, r.Name); {
		case !known:
			return finding.Of(finding.LateInStageUnknown, n.Name)
		case tooLate(s):
			return finding.Of(finding.LateInStage, s.LatePackets, s.DelayedPackets, n.Name)
		}
	}
	return finding.Finding{}
}
