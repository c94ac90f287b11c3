// Package distance says what the status of a run at a distance must tell, for the tests that carry such runs out: it decides without a cluster.
package distance

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
)

// mostOfBoundPermille is what a stage may make of its bound: the latency without distance is of another stage.
const mostOfBoundPermille = 1050

// A stage's delayed packets may be late on average by 5% of their delay, or by 500 µs. Where they have no average, 1% may be late.
const (
	mostLatePerThousand  = 10
	mostLatePercent      = 5
	mostLateMicroseconds = 500
)

// Want is what a run without faults must come to.
type Want struct {
	// Others is for how many other nodes a commit on the first node waits.
	Others int
	// LeastOfBoundPermille is what each closed loop that counts makes of its bound in a run that passed, 0 where its servers may be the limit.
	LeastOfBoundPermille int64
}

// Problems are what is not as it must be, each a sentence. A run may be Inconclusive since packets came late, and for nothing else. They do
// where other processes take the processors.
func Problems(x *v1alpha1.ReplicationExperiment, w Want) []string {
	s := x.Status
	if s.Distance == nil || s.Load == nil {
		return []string{fmt.Sprintf("The distance is %+v, the load %+v.", s.Distance, s.Load)}
	}
	return slices.Concat(nodeProblems(x), tripProblems(x), verdictProblems(x), stageProblems(x, w))
}

func nodeProblems(x *v1alpha1.ReplicationExperiment) (found []string) {
	if len(x.Status.Distance.Nodes) != int(x.Spec.Topology.Nodes) || x.Status.Distance.RemovedTime == nil {
		found = append(found, fmt.Sprintf("The distance is of %d nodes, and ended at %v.", len(x.Status.Distance.Nodes), x.Status.Distance.RemovedTime))
	}
	for _, n := range x.Status.Distance.Nodes {
		unknown := n.DelayedPackets == nil || n.DroppedPackets == nil || n.LatePackets == nil || n.LatestMicroseconds == nil
		if unknown || *n.DelayedPackets == 0 || *n.DroppedPackets != 0 || n.Interruptions != 0 || n.Problem != "" {
			found = append(found, fmt.Sprintf("What came of the links of %s is %+v.", n.Name, n))
		}
		if x.Spec.Load.StagesWithoutDistance() > 0 && (n.WithoutDistance || n.LinkedTime == nil) {
			found = append(found, fmt.Sprintf("The links of %s were not set after the stages without distance.", n.Name))
		}
	}
	return found
}

// tripProblems are of the links that were asked for, whichever were measured: between nodes, and from nodes to the app and its proxy.
func tripProblems(x *v1alpha1.ReplicationExperiment) (found []string) {
	var nodes []string
	for n := range int(x.Spec.Topology.Nodes) {
		nodes = append(nodes, fmt.Sprintf("%s-db-%d", x.Name, n))
	}
	for _, p := range topology.Pairs(x.Spec, x.Name, nodes) {
		found = append(found, oneTrip(x, p)...)
	}
	return found
}

func oneTrip(x *v1alpha1.ReplicationExperiment, p topology.Pair) (found []string) {
	kept := func(asked int64, f *v1alpha1.RoundTripFigures) bool {
		return f != nil && topology.TripKept(asked, f.P50Microseconds)
	}
	measured := 0
	for _, r := range x.Status.Distance.RoundTrips {
		if !p.Is(r.From, r.To) {
			continue
		}
		measured++
		if trip := p.Microseconds; r.RequestedMicroseconds != trip || !kept(trip, r.Before) || !kept(trip, r.After) && !busy(x, r) ||
			x.Spec.Load.StagesWithoutDistance() > 0 && !kept(0, r.WithoutDistance) {
			found = append(found, fmt.Sprintf("The round trip from %s to %s is to be %d µs, and is %s.", r.From, r.To, trip, told(r)))
		}
	}
	if measured == 0 {
		found = append(found, fmt.Sprintf("The round trip from %s to %s was not measured.", p.From, p.To))
	}
	return found
}

// busy tells whether a round trip after the load was too long by no more than packets of the same two nodes were late under it.
func busy(x *v1alpha1.ReplicationExperiment, r v1alpha1.RoundTripStatus) bool {
	if r.After == nil || r.After.P50Microseconds < r.RequestedMicroseconds {
		return false
	}
	late := int64(0)
	for _, n := range x.Status.Distance.Nodes {
		if n.Name == r.From || n.Name == r.To {
			late += latest(n)
		}
	}
	return topology.TripKept(r.RequestedMicroseconds, max(r.RequestedMicroseconds, r.After.P50Microseconds-late))
}

// latest is the largest mean lateness in microseconds of a node's late stages.
func latest(n v1alpha1.LinkedNodeStatus) (most int64) {
	names := lateStages(n)
	for _, s := range n.Stages {
		if s.MeanLateMicroseconds != nil && slices.Contains(names, s.Name) {
			most = max(most, *s.MeanLateMicroseconds)
		}
	}
	return most
}

func told(r v1alpha1.RoundTripStatus) string {
	p50 := func(f *v1alpha1.RoundTripFigures) string {
		if f == nil {
			return "unknown"
		}
		return fmt.Sprintf("%d µs", f.P50Microseconds)
	}
	return fmt.Sprintf("%s before the load, %s then without distance, %s after it", p50(r.Before), p50(r.WithoutDistance), p50(r.After))
}

// verdictProblems: a run may be Inconclusive for late packets, and for nothing else.
func verdictProblems(x *v1alpha1.ReplicationExperiment) []string {
	s := x.Status
	if s.Verdict == v1alpha1.VerdictPassed {
		return nil
	}
	others := slices.Clone(s.Reasons)
	for _, r := range s.Distance.RoundTrips {
		if busy(x, r) {
			others = slices.DeleteFunc(others, func(reason string) bool {
				return strings.HasPrefix(reason, "The round trip from "+r.From+" to "+r.To+" was ") && strings.Contains(reason, " after the load, ")
			})
		}
	}
	for _, n := range s.Distance.Nodes {
		for _, stage := range lateStages(n) {
			others = slices.DeleteFunc(others, func(reason string) bool {
				return strings.HasPrefix(reason, "Stage "+stage+": packets to "+n.Name+" were late by ") || strings.HasPrefix(reason, "Stage "+stage+": ") && strings.Contains(reason, " reached "+n.Name+" late;")
			})
		}
	}
	if s.Verdict != v1alpha1.VerdictInconclusive || len(s.Reasons) == 0 || len(others) > 0 || s.Failover != nil || slices.ContainsFunc(s.Goals, func(g v1alpha1.GoalStatus) bool { return g.Met == metav1.ConditionFalse }) {
		return []string{fmt.Sprintf("The verdict is %s, and not for late packets alone: %q.", s.Verdict, s.Reasons)}
	}
	return nil
}

// lateStages are those that count whose packets may have reached a node later than does no harm. They are told by their figures, not by what
// the verdict calls late: that is held against them.
func lateStages(n v1alpha1.LinkedNodeStatus) (found []string) {
	for _, s := range n.Stages {
		late, delay := s.MeanLateMicroseconds, s.MeanDelayMicroseconds
		much := s.LatePackets*1000 > s.DelayedPackets*mostLatePerThousand
		if late != nil && delay != nil {
			much = *late > max(*delay*mostLatePercent/100, mostLateMicroseconds)
		}
		if !s.Discarded && (much || s.HeldUpPackets > 0) {
			found = append(found, s.Name)
		}
	}
	return found
}

func stageProblems(x *v1alpha1.ReplicationExperiment, w Want) (found []string) {
	held := 0
	for _, asked := range x.Spec.Load.Stages {
		i := slices.IndexFunc(x.Status.Load.Stages, func(s v1alpha1.StageStatus) bool { return s.Name == asked.Name })
		if i < 0 {
			found = append(found, fmt.Sprintf("Of stage %s there are no figures.", asked.Name))
			continue
		}
		if !asked.Discard && asked.ClosedUsers() > 0 { // an open loop does not wait
			held++
		}
		if why := stageProblem(x, asked, x.Status.Load.Stages[i].Distance, w); why != "" {
			found = append(found, why)
		}
	}
	if held == 0 && w.LeastOfBoundPermille > 0 {
		found = append(found, "No stage is compared with the distance.")
	}
	return found
}

func stageProblem(x *v1alpha1.ReplicationExperiment, asked v1alpha1.Stage, d *v1alpha1.StageDistance, w Want) string {
	trip := topology.CommitRoundTrip(int(x.Spec.Topology.Nodes), 0, w.Others, topology.Asked(x.Spec.Topology))
	switch {
	case asked.Discard && d != nil:
		return fmt.Sprintf("Stage %s, which is not at a distance from its begin to its end, is held against it: %+v.", asked.Name, *d)
	case asked.Discard || asked.ClosedUsers() == 0, d == nil && lateIn(x, asked.Name):
		return ""
	case d == nil:
		return fmt.Sprintf("Stage %s is not compared with the distance: %q.", asked.Name, x.Status.Notes)
	case d.BaseFrom != v1alpha1.BaseFromStage || d.BaseMicroseconds <= 0 || !topology.TripKept(trip, d.RoundTripMicroseconds) || outOfBound(x.Status.Verdict, *d, w):
		return fmt.Sprintf("Stage %s against a distance of %d µs: %+v.", asked.Name, trip, *d)
	}
	return ""
}

// lateIn tells whether too many packets came late in a stage: then it is not compared with the distance.
func lateIn(x *v1alpha1.ReplicationExperiment, stage string) bool {
	return slices.ContainsFunc(x.Status.Distance.Nodes, func(n v1alpha1.LinkedNodeStatus) bool {
		return slices.Contains(lateStages(n), stage)
	})
}

// outOfBound: above its bound a stage cannot be by more than the whole latency without distance, which may be of a noisier time.
func outOfBound(v v1alpha1.Verdict, d v1alpha1.StageDistance, w Want) bool {
	waits := d.RoundTripMicroseconds * d.WritesPermille / 1000
	if waits == 0 || d.OfBoundPermille > max(mostOfBoundPermille, (waits+d.BaseMicroseconds)*1000/waits) {
		return true
	}
	return v == v1alpha1.VerdictPassed && d.OfBoundPermille < w.LeastOfBoundPermille
}
