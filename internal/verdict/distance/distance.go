// Package distance judges whether nodes were as far apart as asked, and what throughput that allows. It is pure.
package distance

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
)

// undelayedMost is how long a pod that came into another's place may run before all its links stand: its agent must run, and the operator
// look. In less a server hardly begins.
const undelayedMost = 5 * time.Second

// DistanceUnsound finds that the nodes were not as far from each other as the spec says, or that nobody knows.
func DistanceUnsound(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if len(e.Spec.Topology.Links) == 0 {
		return nil
	}
	if e.Distance == nil {
		return []string{"topology.links were not put into effect."}
	}
	var found []string
	if n := e.Distance.ClientReplacements; n > 0 {
		found = append(found, fmt.Sprintf("%d pod(s) of the app or its proxy came while the load ran: for how long they were at no distance is not known.", n))
	}
	for _, n := range e.Distance.Nodes {
		found = append(found, linksUnsound(n)...)
		n.Stages = linkedStages(e, n.Name)
		found = append(found, lateStages(n)...)
		if why := lateUnknown(e, n); why != "" {
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

// pairsMissing finds links of which no round trip, or not each, was looked at: a distance that nobody was at is none.
func pairsMissing(e evidence.Run) []string {
	var found []string
	for _, l := range e.Spec.Topology.Links {
		alone := *e.Spec.DeepCopy()
		alone.Topology.Links = []v1alpha1.Link{l}
		pairs := topology.Pairs(alone, e.Experiment, e.Nodes)
		if len(pairs) == 0 {
			found = append(found, fmt.Sprintf("Of the link from %s to %s nothing was measured: no two pods are at its ends.", l.From, l.To))
		}
		for _, p := range pairs {
			if !slices.ContainsFunc(e.Distance.RoundTrips, func(r v1alpha1.RoundTripStatus) bool { return p.Is(r.From, r.To) }) {
				found = append(found, fmt.Sprintf("Of the link from %s to %s the round trip from %s to %s was not measured.", l.From, l.To, p.From, p.To))
			}
		}
	}
	return found
}

// isNode tells a node from pods of app and proxy: each node has an entry.
func isNode(e evidence.Run, pod string) bool {
	return slices.ContainsFunc(e.Distance.Nodes, func(n v1alpha1.LinkedNodeStatus) bool { return n.Name == pod })
}

func linksUnsound(n v1alpha1.LinkedNodeStatus) []string {
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if n.Lapses > 0 {
		add("The agent of %s was started anew %d time(s) in its pod: meanwhile it delayed nothing.", n.Name, n.Lapses)
	}
	if n.CameTime != nil {
		add("A pod came into the place of %s's, and not all links to and from it were set.", n.Name)
	}
	if since, until := n.UndelayedSinceTime, n.UndelayedUntilTime; since != nil && until != nil && until.Sub(since.Time) > undelayedMost {
		add("A pod that came into the place of %s's ran for up to %d ms before all links to and from it stood: until then it was at no distance.",
			n.Name, until.Sub(since.Time).Milliseconds())
	}
	well := n.Problem == "" || n.Problem == v1alpha1.LinkNotInStage // a verdict before stated that one, of which linkingUnsound tells
	if !well {
		add("The links of %s: %s.", n.Name, cmp.Or(n.Note, string(n.Problem)))
	}
	if n.DroppedPackets == nil && n.Method != "" && well && n.Lapses == 0 {
		add("What came of the links of %s is not known.", n.Name)
	}
	return append(found, packetsUnsound(n)...)
}

// packetsUnsound finds links that delayed no packet, or that dropped some.
func packetsUnsound(n v1alpha1.LinkedNodeStatus) []string {
	var found []string
	if d := n.DelayedPackets; d != nil && *d == 0 && n.Method != "" {
		found = append(found, fmt.Sprintf("No packet was delayed at %s: its links delayed nothing.", n.Name))
	}
	if d := n.DroppedPackets; d != nil && *d > 0 {
		found = append(found, fmt.Sprintf("%d packets that were to be delayed at %s were dropped: the queue had no room, or the kernel discarded them.", *d, n.Name))
	}
	return found
}

func tripUnsound(e evidence.Run, r v1alpha1.RoundTripStatus) []string {
	var found []string
	for _, m := range []struct {
		when    string
		asked   int64
		figures *v1alpha1.RoundTripFigures
		may     bool // be absent
	}{
		{"before the load", r.RequestedMicroseconds, r.Before, false},
		{"before the load, without distance", 0, r.WithoutDistance, e.Spec.Load.StagesWithoutDistance() == 0},
		{"after the load", r.RequestedMicroseconds, r.After, stillCut(e, r)},
	} {
		switch {
		case m.figures == nil && m.may:
		case m.figures == nil && r.Note != "":
			found = append(found, fmt.Sprintf("The round trip from %s to %s was not measured %s: %s.", r.From, r.To, m.when, r.Note))
		case m.figures == nil:
			found = append(found, fmt.Sprintf("The round trip from %s to %s was not measured %s.", r.From, r.To, m.when))
		case !topology.TripKept(m.asked, m.figures.P50Microseconds):
			found = append(found, fmt.Sprintf("The round trip from %s to %s was to be %d µs, and was %d µs %s.", r.From, r.To, m.asked, m.figures.P50Microseconds, m.when))
		}
	}
	return found
}

// StateLinking marks nodes whose links were not set in their stage, unless something else is wrong with them.
func StateLinking(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus) {
	if s.Distance == nil {
		return
	}
	for i := range s.Distance.Nodes {
		n := &s.Distance.Nodes[i]
		if n.Problem == "" || n.Problem == v1alpha1.LinkNotInStage { // what is known may have become more since the verdict before
			n.Problem, _ = linkingUnsound(e, *n)
		}
	}
}

// linkingUnsound finds a node whose links were not set in the stage between those without distance and those with it, or of which nobody
// knows, and says why; both "" where they were.
func linkingUnsound(e evidence.Run, n v1alpha1.LinkedNodeStatus) (problem v1alpha1.LinkProblem, why string) {
	without := e.Spec.Load.StagesWithoutDistance()
	if without == 0 || e.Recorder == nil || n.Method == "" && !n.WithoutDistance { // nobody is at a distance from it
		return "", ""
	}
	by := evidence.ClockOf(e.Recorder, n.Name)
	switch {
	case n.WithoutDistance || n.LinkingTime == nil || n.LinkedTime == nil:
		return v1alpha1.LinkNotInStage, fmt.Sprintf("The links of %s were not set after the stages without distance.", n.Name)
	case by == nil:
		return v1alpha1.LinkNotInStage, fmt.Sprintf("When the links of %s were set after the stages without distance is not known: its clock was not measured.", n.Name)
	}
	began, set, from, to := evidence.Told(n.LinkingTime.Time, *by), evidence.Told(n.LinkedTime.Time, *by), stageStart(e, without), stageStart(e, without+1)
	if from == nil || !began.Earliest.After(from.Time) || to != nil && !set.Latest.Before(to.Time) {
		return v1alpha1.LinkNotInStage, fmt.Sprintf("The links of %s were not set within stage %s, but from %s to %s by its own clock: one of the other stages was in part at another distance.",
			n.Name, e.Spec.Load.Stages[without].Name, n.LinkingTime.UTC().Format(time.RFC3339Nano), n.LinkedTime.UTC().Format(time.RFC3339Nano))
	}
	return "", ""
}

// stageStart is the first arrival of a stage by its place, nil where none arrived.
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

// stillCut tells whether a partition that holds until the audit is done is between two pods: then nothing can be measured after the load.
func stillCut(e evidence.Run, r v1alpha1.RoundTripStatus) bool {
	return slices.ContainsFunc(e.Faults, func(f v1alpha1.FaultStatus) bool {
		asked := evidence.PlannedOf(e.Spec, f)
		return (f.Pod == r.From || f.Pod == r.To) && f.InjectedTime != nil && asked.HoldSeconds < 0 && cuts(e, asked, r)
	})
}

// cuts tells whether a partition of one of two pods is between them. They are in different zones, since the others have no links.
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

// DistanceRemarks tell what a reader of the figures should know of the links.
func DistanceRemarks(e evidence.Run, status *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Distance == nil {
		return nil
	}
	var found []string
	for _, n := range e.Distance.Nodes {
		if n.Resets > 0 {
			found = append(found, fmt.Sprintf("The links of %s were set again %d time(s), last at its setTime, since a pod had come into another's place: what that sent before was at no distance.",
				n.Name, n.Resets))
		}
		if n.Earlier != nil {
			found = append(found, fmt.Sprintf("The agent of %s is another than in the beginning: what the one before delayed after it was last asked, some seconds before its end, is not counted.", n.Name))
		}
		if late := n.LatePackets; late != nil && *late > 0 {
			found = append(found, fmt.Sprintf("In all %d of %d delayed packets came late to %s, by up to %d µs.", *late, *n.DelayedPackets, n.Name, *n.LatestMicroseconds))
		}
	}
	if stage, last := lastWithoutDistance(e); stage.Users > 0 && linkedBefore(e, last) {
		found = append(found, fmt.Sprintf("The latency without distance is not that of stage %s: its last request had its answer, or none, when links may have stood.", stage.Name))
	}
	if why := boundMissing(e, status); why != "" {
		return append(found, "The throughput is not held against the distance: "+why+".")
	}
	return append(found, stagesDisturbed(e)...)
}
