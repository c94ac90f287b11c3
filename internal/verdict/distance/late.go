package distance

import (
	"slices"
	"strings"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// latePermilleMost is how many of the delayed packets may be late: 1%, so that the 99th percentile is not. None may be held up as long as by
// a fault.
const latePermilleMost = 10

// uncoveredMost is of how much of a stage no sample need tell: those next to another stage and to an agent's end, where all is well.
const uncoveredMost = 2 * time.Second

// lateStages says of each stage that counts in which too many packets came late to a node, or one so late that it was a fault of its own.
func lateStages(n v1alpha1.LinkedNodeStatus) []finding.Finding {
	var found []finding.Finding
	for _, s := range n.Stages {
		if !s.Discarded && tooLate(s) {
			found = append(found, finding.Of(finding.PacketsLate, s.Name, s.LatePackets, s.DelayedPackets, n.Name, s.HeldUpPackets, wire.HeldUpLeast.Milliseconds()))
		}
	}
	return found
}

// tooLate tells whether more packets may have been late than the 99th percentile leaves out, or one as late as by a fault.
func tooLate(s v1alpha1.LinkedStageStatus) bool {
	return s.LatePackets*1000 > s.DelayedPackets*latePermilleMost || s.HeldUpPackets > 0
}

// stateLate has the status tell of each stage what became of the packets that nodes held up.
func stateLate(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus) {
	if s.Distance == nil {
		return
	}
	for i := range s.Distance.Nodes {
		s.Distance.Nodes[i].Stages = linkedStages(e, s.Distance.Nodes[i].Name)
	}
}

// linkedStages are the stages in which a node's agent could be asked what it held up, for nearly all of the time.
func linkedStages(e evidence.Run, node string) []v1alpha1.LinkedStageStatus {
	var all []v1alpha1.LinkedStageStatus
	for _, r := range evidence.StagesOf(e) {
		for _, l := range e.Recorder.Links {
			if l.Node == node && l.Stage == r.Name && covered(l) {
				all = append(all, v1alpha1.LinkedStageStatus{
					Name: r.Name, Discarded: r.Discarded, DelayedPackets: l.DelayedPackets, LatePackets: l.LatePackets, HeldUpPackets: l.HeldUpPackets,
				})
			}
		}
	}
	return all
}

func covered(l wire.NodeLinks) bool { return l.UncoveredMicroseconds <= uncoveredMost.Microseconds() }

// stageOf is what became of the packets that a node held up in a stage; false where that is not known. The kernel does not report it.
func stageOf(e evidence.Run, n v1alpha1.LinkedNodeStatus, stage string) (found v1alpha1.LinkedStageStatus, known bool) {
	all := linkedStages(e, n.Name)
	i := slices.IndexFunc(all, func(s v1alpha1.LinkedStageStatus) bool { return s.Name == stage })
	if i < 0 {
		return v1alpha1.LinkedStageStatus{}, n.Method != v1alpha1.LinkPacketQueue
	}
	return all[i], true
}

// lateUnknown names the stages that count in which a node's agent could not be asked what came late, or not all the time. It is nothing where
// there is none.
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

// uncovered names a stage, and says for how long its agent could not be asked, unless that is all of it.
func uncovered(e evidence.Run, node, stage string) string {
	for _, l := range e.Recorder.Links {
		if l.Node == node && l.Stage == stage {
			return finding.Of(finding.StagePart, stage, l.UncoveredMicroseconds/1000).String()
		}
	}
	return stage
}

// lateIn says why a stage was not at its distance though all nodes were in their places, nothing where it was.
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
