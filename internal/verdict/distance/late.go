package distance

import (
	"fmt"
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

// lateStages finds counting stages at a longer distance than asked, or with a packet as late as by a fault.
func lateStages(e evidence.Run, n v1alpha1.LinkedNodeStatus) []finding.Finding {
	var found []finding.Finding
	for _, s := range n.Stages {
		switch {
		case s.Discarded || !tooLate(e, s):
		case heldUp(e, s) || s.MeanLateMicroseconds == nil:
			found = append(found, finding.Of(finding.PacketsLate, s.Name, s.LatePackets, s.DelayedPackets, n.Name, s.HeldUpPackets, wire.HeldUpLeast.Milliseconds()))
		default:
			found = append(found, finding.Of(finding.PacketsLateOnAverage, s.Name, n.Name, *s.MeanLateMicroseconds, *s.MeanDelayMicroseconds))
		}
	}
	return found
}

// Packets may be late by 5% of their delay on average, or by half a millisecond. A round trip has two delays, and topology.TripKept allows it
// twice as much.
const (
	partLate     = 20
	lateAllMicro = 500
)

// heldUp reports whether a packet was as late as by a fault. Without faults it counts in the mean alone: nothing else can be taken for it.
func heldUp(e evidence.Run, s v1alpha1.LinkedStageStatus) bool {
	return s.HeldUpPackets > 0 && len(e.Spec.Faults) > 0
}

// tooLate reports whether packets were late on average, or one as late as by a fault. Where no average is known, no more may be late than the 99th
// percentile leaves out.
func tooLate(e evidence.Run, s v1alpha1.LinkedStageStatus) bool {
	switch {
	case heldUp(e, s):
		return true
	case s.MeanLateMicroseconds == nil:
		return percentile.LeavesOutLess(99, s.LatePackets, s.DelayedPackets)
	}
	return *s.MeanLateMicroseconds > tolerated(*s.MeanDelayMicroseconds)
}

// tolerated is the mean lateness in microseconds that packets of a delay may have.
func tolerated(delay int64) int64 { return max(delay/partLate, lateAllMicro) }

// share is a number of late packets, among all packets or in all requests.
type share struct{ late, of int64 }

// lengthens tells whether late packets may lengthen a percentile much.
func (s share) lengthens(percent int64) bool { return percentile.Moves(percent, s.late, s.of) }

// add the packets of a stage.
func (s *share) add(stage v1alpha1.LinkedStageStatus) {
	s.late, s.of = s.late+stage.LatePackets, s.of+stage.DelayedPackets
}

// more tells whether a larger part was late.
func (s share) more(than share) bool {
	return float64(s.late)*float64(than.of) > float64(than.late)*float64(s.of)
}

// Bound takes the lower bound from percentiles and means that late packets may have lengthened. Each late packet may have delayed another request.
func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	if s.Distance == nil {
		return
	}
	var all, worst share
	stages := map[string]share{}
	for _, n := range s.Distance.Nodes {
		var node share
		for _, stage := range n.Stages {
			of := stages[stage.Name]
			of.add(stage)
			stages[stage.Name] = of
			if !stage.Discarded {
				node.add(stage)
				all.add(stage)
			}
		}
		if worst.of == 0 || node.more(worst) {
			worst = node
		}
		shorten(b, s, "nodes["+n.Name+"].lag.", node, finding.LateOfPackets)
	}
	shorten(b, s, "replication.lag.", worst, finding.LateOfPackets)
	if s.Replication != nil {
		for _, size := range s.Replication.LagSizes {
			shortenSize(b, s, "replication.lagSizes["+size.Name+"].", worst)
		}
	}
	if s.Load == nil {
		return
	}
	all.of = s.Load.Requests
	shortenLatency(b, s, "load.latency.", all)
	for _, stage := range s.Load.Stages {
		of := stages[stage.Name]
		of.of = stage.Requests
		shortenLatency(b, s, "load.stages["+stage.Name+"].latency.", of)
	}
	boundShares(b, e, s)
}

// shorten takes the lower bounds of percentiles.
func shorten(b *figure.Bounds, s *evidence.Status, prefix string, late share, code finding.Code) {
	for _, p := range load.Percentiles {
		if late.lengthens(p.Percent) {
			b.Worsened(s, prefix+string(p.Name), figure.Lower, finding.Of(code, late.late, late.of).String())
		}
	}
}

// shortenLatency is shorten of requests. Of the mean as much is tolerated as of the 99th percentile; the deviation may be off in both directions.
func shortenLatency(b *figure.Bounds, s *evidence.Status, prefix string, late share) {
	shorten(b, s, prefix, late, finding.LateOfRequests)
	if !late.lengthens(99) {
		return
	}
	because := finding.Of(finding.LateOfRequests, late.late, late.of).String()
	b.Worsened(s, prefix+"meanMicroseconds", figure.Lower, because)
	if deviation := prefix + "standardDeviationMicroseconds"; figure.At(s, deviation) != nil {
		b.Unknown(deviation, because)
	}
}

// shortenSize is shorten of the figures of one size, all but the retrieval, which waits for no other node.
func shortenSize(b *figure.Bounds, s *evidence.Status, prefix string, late share) {
	for _, part := range []string{"insert", "total", "bare"} {
		for _, percent := range []int64{50, 99} {
			if late.lengthens(percent) {
				b.Worsened(s, fmt.Sprintf("%s%sP%dMicroseconds", prefix, part, percent), figure.Lower, finding.Of(finding.LateOfPackets, late.late, late.of).String())
			}
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
	var worst float64 // mean lateness, as a part of what is tolerated
	for _, d := range l.Delays {
		if d.Packets == 0 || d.Packets*100 < l.DelayedPackets { // too few to tell an average, or to matter
			continue
		}
		late := (d.LateMicroseconds + d.Packets - 1) / d.Packets
		if of := float64(late) / float64(tolerated(d.DelayMicroseconds)); s.MeanLateMicroseconds == nil || of > worst {
			worst, s.MeanDelayMicroseconds, s.MeanLateMicroseconds = of, ptr.To(d.DelayMicroseconds), ptr.To(late)
		}
	}
	return s
}

func covered(l wire.NodeLinks) bool { return l.UncoveredMicroseconds <= uncoveredMost.Microseconds() }

// stageOf is a stage's count of packets delayed by a node.
func stageOf(e evidence.Run, n v1alpha1.LinkedNodeStatus, stage string) (found v1alpha1.LinkedStageStatus, known bool) {
	all := linkedStages(e, n.Name)
	i := slices.IndexFunc(all, func(s v1alpha1.LinkedStageStatus) bool { return s.Name == stage })
	if i < 0 {
		return v1alpha1.LinkedStageStatus{}, !n.Linked
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
		case tooLate(e, s) && !heldUp(e, s) && s.MeanLateMicroseconds != nil:
			return finding.Of(finding.LateOnAverageInStage, n.Name, *s.MeanLateMicroseconds)
		case tooLate(e, s):
			return finding.Of(finding.LateInStage, s.LatePackets, s.DelayedPackets, n.Name)
		}
	}
	return finding.Finding{}
}
