// Package distance judges whether nodes were as far apart as asked, and what throughput that allows. It is pure.
package distance

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// undelayedMost is how long a replacement pod may run before all its links are set. A server hardly starts in less.
const undelayedMost = 5 * time.Second

// Fill sets the figures of the links, and compares closed loops with their distance.
func Fill(e evidence.Run, s *evidence.Status) {
	stateLate(e, s)
	stateBounds(e, s)
	stateLinking(e, s)
}

// Findings of the distance.
func Findings(e evidence.Run, s *evidence.Status) []finding.Finding {
	return append(distanceUnsound(e), distanceRemarks(e, s)...)
}

// distanceUnsound finds that the nodes were not as far apart as asked, or that this is unknown.
func distanceUnsound(e evidence.Run) []finding.Finding {
	if len(e.Spec.Topology.Links) == 0 {
		return nil
	}
	if e.Distance == nil {
		return []finding.Finding{finding.Of(finding.LinksNotSet)}
	}
	var found []finding.Finding
	if e.Distance.UndelayedSinceTime != nil {
		found = append(found, finding.Of(finding.ReplacementUnlinked))
	}
	if n := e.Distance.UndelayedMilliseconds; n > undelayedMost.Milliseconds() {
		found = append(found, finding.Of(finding.ReplacementLinkedLate, n))
	}
	for _, n := range e.Distance.Nodes {
		found = append(found, linksUnsound(n)...)
		n.Stages = linkedStages(e, n.Name)
		found = append(found, lateStages(e, n)...)
		if why := lateUnknown(e, n); !why.None() {
			found = append(found, why)
		}
		if problem, why := linkingUnsound(e, n); problem != "" {
			found = append(found, why)
		}
	}
	for _, r := range e.Distance.RoundTrips {
		found = append(found, tripUnsound(e, r)...)
	}
	return append(found, pairsMissing(e)...)
}

// pairsMissing finds links with a pair of pods whose round trip was not measured.
func pairsMissing(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for _, l := range e.Spec.Topology.Links {
		alone := *e.Spec.DeepCopy()
		alone.Topology.Links = []v1alpha1.Link{l}
		pairs := topology.Pairs(alone, e.Experiment, e.Nodes)
		if len(pairs) == 0 {
			found = append(found, finding.Of(finding.LinkUnmeasured, l.From, l.To))
		}
		for _, p := range pairs {
			if !slices.ContainsFunc(e.Distance.RoundTrips, func(r v1alpha1.RoundTripStatus) bool { return p.Is(r.From, r.To) }) {
				found = append(found, finding.Of(finding.PairUnmeasured, l.From, l.To, p.From, p.To))
			}
		}
	}
	return found
}

// isNode reports whether a pod is a node's, not one of app or proxy.
func isNode(e evidence.Run, pod string) bool {
	return slices.ContainsFunc(e.Distance.Nodes, func(n v1alpha1.LinkedNodeStatus) bool { return n.Name == pod })
}

// linksUnsound finds links that failed, delayed no packet, or dropped some.
func linksUnsound(n v1alpha1.LinkedNodeStatus) []finding.Finding {
	var found []finding.Finding
	add := func(code finding.Code, params ...any) { found = append(found, finding.Of(code, params...)) }
	well := n.Problem == "" || n.Problem == v1alpha1.LinkNotInStage // the latter is a verdict's own, and linkingUnsound finds it again
	if !well {
		add(finding.LinkProblem, n.Name, cmp.Or(n.Note, string(n.Problem)))
	}
	if n.DroppedPackets == nil && n.Linked && well {
		add(finding.LinkResultUnknown, n.Name)
	}
	if d := n.DelayedPackets; d != nil && *d == 0 && n.Linked {
		add(finding.NothingDelayed, n.Name)
	}
	if d := n.DroppedPackets; d != nil && *d > 0 {
		add(finding.PacketsDropped, *d, n.Name)
	}
	return found
}

func tripUnsound(e evidence.Run, r v1alpha1.RoundTripStatus) []finding.Finding {
	var found []finding.Finding
	for _, m := range []struct {
		when    string
		asked   int64
		figures *v1alpha1.RoundTripFigures
		absent  bool // is no finding
	}{
		{"before the load", r.RequestedMicroseconds, r.Before, false},
		{"before the load, without distance", 0, r.WithoutDistance, e.Spec.Load.StagesWithoutDistance() == 0},
		{"after the load", r.RequestedMicroseconds, r.After, stillCut(e, r)},
	} {
		switch {
		case m.figures == nil && m.absent:
		case m.figures == nil && r.Note != "":
			found = append(found, finding.Of(finding.TripUnmeasured, r.From, r.To, m.when, r.Note))
		case m.figures == nil:
			found = append(found, finding.Of(finding.TripNeverMeasured, r.From, r.To, m.when))
		case !topology.TripKept(m.asked, m.figures.P50Microseconds):
			found = append(found, finding.Of(finding.TripWrong, r.From, r.To, m.figures.P50Microseconds, m.when, m.asked))
		}
	}
	return found
}

// stateLinking marks nodes whose links were not set in their stage, unless they have another problem.
func stateLinking(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus) {
	if s.Distance == nil {
		return
	}
	for i := range s.Distance.Nodes {
		n := &s.Distance.Nodes[i]
		if n.Problem == "" || n.Problem == v1alpha1.LinkNotInStage { // an earlier verdict may have known less
			n.Problem, _ = linkingUnsound(e, *n)
		}
	}
}

// linkingUnsound finds a node whose links were perhaps not set in the first stage after those without distance. Otherwise both results are empty.
func linkingUnsound(e evidence.Run, n v1alpha1.LinkedNodeStatus) (problem v1alpha1.LinkProblem, why finding.Finding) {
	without := e.Spec.Load.StagesWithoutDistance()
	if without == 0 || e.Recorder == nil || !n.Linked && !n.WithoutDistance { // a node without links
		return "", why
	}
	by := evidence.ClockOf(e.Recorder, n.Name)
	switch {
	case n.WithoutDistance || n.LinkingTime == nil || n.LinkedTime == nil:
		return v1alpha1.LinkNotInStage, finding.Of(finding.LinksNotSetInStage, n.Name)
	case by == nil:
		return v1alpha1.LinkNotInStage, finding.Of(finding.LinkTimeUnknown, n.Name)
	}
	began, set, from, to := evidence.Told(n.LinkingTime.Time, *by), evidence.Told(n.LinkedTime.Time, *by), stageStart(e, without), stageStart(e, without+1)
	if from == nil || !began.Earliest.After(from.Time) || to != nil && !set.Latest.Before(to.Time) {
		return v1alpha1.LinkNotInStage, finding.Of(finding.LinksSetInOtherStage,
			n.Name, n.LinkingTime.UTC().Format(time.RFC3339Nano), n.LinkedTime.UTC().Format(time.RFC3339Nano), e.Spec.Load.Stages[without].Name)
	}
	return "", why
}

// stageStart is the first arrival of the i-th stage, nil without one.
func stageStart(e evidence.Run, i int) *metav1.MicroTime {
	if i < len(e.Spec.Load.Stages) {
		for _, r := range e.Recorder.Stages {
			if r.Name == e.Spec.Load.Stages[i].Name {
				return r.StartedAt
			}
		}
	}
	return nil
}

// stillCut reports whether a partition that lasts until the end of the audit is between two pods, so that no round trip can be measured.
func stillCut(e evidence.Run, r v1alpha1.RoundTripStatus) bool {
	return slices.ContainsFunc(e.Faults, func(f v1alpha1.FaultStatus) bool {
		asked := evidence.PlannedOf(e.Spec, f)
		return (f.Pod == r.From || f.Pod == r.To) && f.InjectedTime != nil && asked.HoldSeconds < 0 && cuts(e, asked, r)
	})
}

// cuts reports whether a partition of one of two pods is between them. A pair with a link is in different zones.
func cuts(e evidence.Run, f v1alpha1.Fault, r v1alpha1.RoundTripStatus) bool {
	nodes := isNode(e, r.To) // from is always one
	switch f.PartitionFrom {
	case v1alpha1.PartitionEveryone:
		return true
	case v1alpha1.PartitionPeers, v1alpha1.PartitionZone:
		return nodes
	case v1alpha1.PartitionClients:
		return !nodes
	}
	return false
}

// distanceRemarks are the notes on the links.
func distanceRemarks(e evidence.Run, s *evidence.Status) []finding.Finding {
	if e.Distance == nil {
		return nil
	}
	var found []finding.Finding
	for _, n := range e.Distance.Nodes {
		if n.Interruptions > 0 {
			found = append(found, finding.Of(finding.LinksResetForPod, n.Name, n.Interruptions))
		}
		if late := n.LatePackets; late != nil && *late > 0 {
			found = append(found, finding.Of(finding.SomePacketsLate, *late, *n.DelayedPackets, n.Name, *n.LatestMicroseconds))
		}
	}
	if stage, last := lastWithoutDistance(e); stage.ClosedUsers() > 0 && linkedBefore(e, last) {
		found = append(found, finding.Of(finding.BaseStageOverlaps, stage.Name))
	}
	if why := boundMissing(e, s); !why.None() {
		return append(found, finding.Of(finding.NoBound, why))
	}
	return append(found, stagesDisturbed(e)...)
}
