package verdict

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

const (
	// A round trip may be off by 5%, at least by 1 ms.
	tripTolerancePercent      = 5
	tripToleranceMicroseconds = 1000
	// Of the delayed packets 1% may be late, so that the 99th percentile is not, and none by 100 ms: that would be a fault of its own.
	latePermilleMost       = 10
	latestMicrosecondsMost = 100_000
)

// distanceUnsound finds that the nodes were not as far from each other as the spec says, or that nobody knows.
func distanceUnsound(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if len(e.Spec.Topology.Links) == 0 {
		return nil
	}
	if e.Distance == nil {
		return []string{"topology.links were not put into effect."}
	}
	var found []string
	for _, n := range e.Distance.Nodes {
		found = append(found, linksUnsound(n)...)
	}
	for _, r := range e.Distance.RoundTrips {
		found = append(found, tripUnsound(e, r)...)
	}
	return found
}

func linksUnsound(n v1alpha1.LinkedNodeStatus) []string {
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if n.Lapses > 0 {
		add("The agent of %s was started anew %d time(s) in its pod: meanwhile it delayed nothing.", n.Name, n.Lapses)
	}
	if n.Note != "" {
		add("The links of %s: %s.", n.Name, n.Note)
	}
	if n.DroppedPackets == nil && n.Method != "" && n.Note == "" && n.Lapses == 0 {
		add("What came of the links of %s is not known.", n.Name)
	}
	if d := n.DroppedPackets; d != nil && *d > 0 {
		add("%d packets that were to be delayed at %s found no room and were dropped.", *d, n.Name)
	}
	if late, all := n.LatePackets, n.DelayedPackets; tooLate(n) {
		add("%d of %d delayed packets came late to %s, by up to %d µs: the distance was longer than it should be.", *late, *all, n.Name, *n.LatestMicroseconds)
	} else if l := n.LatestMicroseconds; l != nil && *l >= latestMicrosecondsMost {
		add("Packets were held up at %s for %d µs longer than they should be: as long as a fault.", n.Name, *l)
	}
	return found
}

// tooLate tells whether more packets were late than the 99th percentile leaves out.
func tooLate(n v1alpha1.LinkedNodeStatus) bool {
	return n.LatePackets != nil && n.DelayedPackets != nil && *n.LatePackets*1000 > *n.DelayedPackets*latePermilleMost
}

func tripUnsound(e Evidence, r v1alpha1.RoundTripStatus) []string {
	var found []string
	for _, m := range []struct {
		when    string
		figures *v1alpha1.RoundTripFigures
		may     bool // be absent
	}{{"before", r.Before, false}, {"after", r.After, stillCut(e, r)}} {
		switch {
		case m.figures == nil && m.may:
		case m.figures == nil && r.Note != "":
			found = append(found, fmt.Sprintf("The round trip from %s to %s was not measured %s the load: %s.", r.From, r.To, m.when, r.Note))
		case m.figures == nil:
			found = append(found, fmt.Sprintf("The round trip from %s to %s was not measured %s the load.", r.From, r.To, m.when))
		case tripOff(r.RequestedMicroseconds, m.figures.P50Microseconds):
			found = append(found, fmt.Sprintf("The round trip from %s to %s was to be %d µs, and was %d µs %s the load.",
				r.From, r.To, r.RequestedMicroseconds, m.figures.P50Microseconds, m.when))
		}
	}
	return found
}

func tripOff(asked, measured int64) bool {
	off := measured - asked
	return max(off, -off) > max(asked*tripTolerancePercent/100, tripToleranceMicroseconds)
}

// stillCut tells whether a partition that holds until the audit is done is between two pods: then nothing can be measured after the load.
func stillCut(e Evidence, r v1alpha1.RoundTripStatus) bool {
	return slices.ContainsFunc(e.Faults, func(f v1alpha1.FaultStatus) bool {
		return (f.Pod == r.From || f.Pod == r.To) && f.InjectedTime != nil && slices.ContainsFunc(e.Spec.Faults, func(asked v1alpha1.Fault) bool {
			return asked.Name == f.Fault && asked.Action == v1alpha1.ActionPartition && asked.HoldSeconds < 0
		})
	})
}

// distanceRemarks tell what a reader of the figures should know of the links.
func distanceRemarks(e Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Distance == nil {
		return nil
	}
	var found []string
	for _, n := range e.Distance.Nodes {
		if n.Resets > 0 {
			found = append(found, fmt.Sprintf("The links of %s were set again %d time(s), last at its setTime, since a pod had come into another's place: what that sent before was at no distance.",
				n.Name, n.Resets))
		}
		if late := n.LatePackets; late != nil && *late > 0 && !tooLate(n) {
			found = append(found, fmt.Sprintf("%d of %d delayed packets came late to %s, by up to %d µs.", *late, *n.DelayedPackets, n.Name, *n.LatestMicroseconds))
		}
	}
	why := noBound(e, status)
	if why == "" && unbounded(e, status) {
		why = "there is neither a baseline that is the same without links, nor a read, to tell what a request takes without distance"
	}
	if why != "" {
		return append(found, "The throughput is not held against the distance: "+why+".")
	}
	return append(found, stagesDisturbed(e)...)
}

// unbounded tells whether a closed loop during which all nodes were in their places has no bound.
func unbounded(e Evidence, s *v1alpha1.ReplicationExperimentStatus) bool {
	return s.Load != nil && slices.ContainsFunc(s.Load.Stages, func(stage v1alpha1.StageStatus) bool {
		i := slices.IndexFunc(stagesOf(e), func(r wire.StageResult) bool { return r.Name == stage.Name })
		return stage.Distance == nil && isClosed(e.Spec, stage.Name) && (i < 0 || disturbed(e, e.Witness.Stages[i]) == "")
	})
}

// stateBounds holds each closed loop's throughput against what the distance allows.
func stateBounds(e Evidence, s *v1alpha1.ReplicationExperimentStatus) {
	if s.Load == nil || noBound(e, s) != "" {
		return
	}
	for i := range s.Load.Stages {
		for _, r := range e.Witness.Stages {
			for _, asked := range e.Spec.Load.Stages {
				if s.Load.Stages[i].Name == r.Name && asked.Name == r.Name {
					s.Load.Stages[i].Distance = stageDistance(e, s, asked, r)
				}
			}
		}
	}
}

// noBound says why there is no bound, "" where there may be one. A bound is of one node that takes the writes, and of one operation after
// the other, of which it is known what each waits for.
func noBound(e Evidence, s *v1alpha1.ReplicationExperimentStatus) string {
	t := e.Spec.Topology
	switch {
	case len(t.Links) == 0:
		return "there is none"
	case e.CommitWaits == 0:
		return "no commit waits for another node"
	case e.Spec.Load.Script != nil:
		return "what a script of one's own waits for is not known"
	case len(e.State.Failovers) > 0:
		return "another node took over, and is at another distance"
	case s.Replication != nil && s.Replication.UnacknowledgedCommits != nil && *s.Replication.UnacknowledgedCommits > 0:
		return fmt.Sprintf("%d commits did not wait for an acknowledgement", *s.Replication.UnacknowledgedCommits)
	case appFar(e.Spec, 0) || (e.Spec.Routing.Reads != v1alpha1.ReadsPrimary || e.Spec.Routing.Writes == v1alpha1.WritesAll) && appFarFromAny(e.Spec):
		return "the app is at a distance from nodes that it asks, and how many round trips a request makes to them is not known"
	}
	return ""
}

func appFar(spec v1alpha1.ReplicationExperimentSpec, node int) bool {
	trip, _ := topology.RoundTrip(spec.Topology, spec.App.Zone, topology.ZoneOf(spec.Topology, node))
	return trip > 0
}

func appFarFromAny(spec v1alpha1.ReplicationExperimentSpec) bool {
	for node := range int(spec.Topology.Replicas) + 1 {
		if appFar(spec, node) {
			return true
		}
	}
	return false
}

// stageDistance is nil for an open loop, which does not wait, where a node was out of its place, and where there is no figure without
// distance.
func stageDistance(e Evidence, s *v1alpha1.ReplicationExperimentStatus, asked v1alpha1.Stage, r wire.StageResult) *v1alpha1.StageDistance {
	if asked.Users == 0 || r.DurationMicroseconds == 0 || r.Requests == 0 || disturbed(e, r) != "" {
		return nil
	}
	base, from := latencyWithout(e, s, r)
	if base == 0 {
		return nil
	}
	writes := float64(registered(r)) / float64(r.Requests)
	trip := commitTrip(e)
	bound := meanUsers(asked) / ((float64(base) + writes*float64(trip)) / 1e6)
	measured := float64(r.Succeeded) * 1e6 / float64(r.DurationMicroseconds)
	return &v1alpha1.StageDistance{
		RoundTripMicroseconds: trip, WritesPermille: int64(math.Round(writes * 1000)), BaseMicroseconds: base, BaseFrom: from,
		BoundMilliRequestsPerSecond: int64(math.Round(bound * 1000)), OfBoundPermille: int64(math.Round(measured / bound * 1000)),
	}
}

// commitTrip is the round trip that a commit waits for; where all nodes take writes, that of the node which waits least.
func commitTrip(e Evidence) int64 {
	t := e.Spec.Topology
	least := topology.CommitRoundTrip(t, 0, e.CommitWaits)
	if e.Spec.Routing.Writes == v1alpha1.WritesAll {
		for node := range int(t.Replicas) + 1 {
			least = min(least, topology.CommitRoundTrip(t, node, e.CommitWaits))
		}
	}
	return least
}

// operationRegister is the one that writes.
const operationRegister = "register"

func registered(r wire.StageResult) int64 {
	for _, o := range r.Operations {
		if o.Name == operationRegister {
			return o.Requests
		}
	}
	return 0
}

// latencyWithout distance: of the same stage of a baseline that is the same but for its distances, else of the reads, which wait for no
// other node. 0 where there is neither.
func latencyWithout(e Evidence, s *v1alpha1.ReplicationExperimentStatus, r wire.StageResult) (int64, v1alpha1.DistanceBase) {
	if e.Baseline != nil && len(e.Baseline.Spec.Topology.Links) == 0 && sameButForDistance(e.Spec.Topology, e.Baseline.Spec.Topology) && incomparable(e, s) == "" {
		for _, stage := range e.Baseline.Status.Load.Stages {
			if stage.Name == r.Name && stage.Latency != nil {
				return stage.Latency.MeanMicroseconds, v1alpha1.BaseFromBaseline
			}
		}
	}
	var sum, n int64
	for _, o := range r.Operations {
		if o.Name != operationRegister && o.Latency != nil {
			sum += o.Latency.MeanMicroseconds * (o.Requests - o.Failures)
			n += o.Requests - o.Failures
		}
	}
	if n == 0 {
		return 0, ""
	}
	return sum / n, v1alpha1.BaseFromReads
}

func sameButForDistance(a, b v1alpha1.TopologySpec) bool {
	a.Zones, a.Links, b.Zones, b.Links = nil, nil, nil, nil
	return equality.Semantic.DeepEqual(a, b)
}
