package distance

import (
	"slices"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// commitTrip is the shortest round trip in microseconds that a commit of a stage waits for, or why it is unknown.
func commitTrip(e evidence.Run, r wire.StageResult, base v1alpha1.DistanceBase) (trip int64, why finding.Finding) {
	between := measuredTrip(e, base)
	if e.StandbysChosen && farthestCommit(e) != leastCommit(e, topology.Asked(e.Spec.Topology)) {
		return chosenTrip(e, r, between)
	}
	return leastCommit(e, between), why
}

// tripUnknown is the reason why the round trip of a stage's commits is unknown, if there is one.
func tripUnknown(e evidence.Run, r wire.StageResult) finding.Finding {
	_, why := commitTrip(e, r, "")
	return why
}

// leastCommit is the round trip to the last of the nearest nodes that a commit needs.
func leastCommit(e evidence.Run, between topology.NodeTrip) int64 {
	all := int(e.Spec.Topology.Nodes)
	least := topology.CommitRoundTrip(all, 0, e.CommitWaits, between)
	if e.Spec.Routing.Writes == v1alpha1.WritesAll {
		for node := range all {
			least = min(least, topology.CommitRoundTrip(all, node, e.CommitWaits, between))
		}
	}
	return least
}

// farthestCommit is the longest round trip, as asked for, that a commit may have to wait for.
func farthestCommit(e evidence.Run) int64 {
	asked := topology.Asked(e.Spec.Topology)
	if !e.StandbysChosen {
		return leastCommit(e, asked)
	}
	return topology.CommitRoundTrip(int(e.Spec.Topology.Nodes), 0, int(e.Spec.Topology.Nodes)-1, asked)
}

// chosenTrip is the round trip to the farthest of the standbys that commits of the first node waited for by name.
func chosenTrip(e evidence.Run, r wire.StageResult, between topology.NodeTrip) (trip int64, why finding.Finding) {
	sets := chosenDuring(e, r)
	if len(sets) == 0 {
		return 0, finding.Of(finding.ChosenStandbyUnknown)
	}
	asked := topology.Asked(e.Spec.Topology)
	far := farthest(sets[0], asked)
	trip = farthest(sets[0], between)
	for _, s := range sets[1:] {
		if farthest(s, asked) != far {
			return 0, finding.Of(finding.StandbysDiffer)
		}
		trip = min(trip, farthest(s, between))
	}
	if far == 0 {
		return 0, finding.Of(finding.StandbyNear)
	}
	return trip, why
}

func farthest(nodes []int, between topology.NodeTrip) int64 {
	var longest int64
	for _, n := range nodes {
		longest = max(longest, between(0, n))
	}
	return longest
}

// chosenDuring are the sets of standbys that the first node's commits waited for during a stage. None unless known of the whole stage.
func chosenDuring(e evidence.Run, r wire.StageResult) [][]int {
	begin, end, known := evidence.WindowOf(e, r)
	if !known || len(e.Nodes) == 0 || e.Recorder.Commits == nil {
		return nil
	}
	var sets [][]int
	covered := begin
	for _, c := range e.Recorder.Commits.Nodes {
		for _, span := range c.StandbySpans {
			if c.Name != e.Nodes[0] || span.To.Time.Before(begin) || span.From.After(end) {
				continue
			}
			set := numbersOf(e.Nodes, span.Nodes)
			if set == nil || span.From.After(covered) {
				return nil
			}
			sets, covered = append(sets, set), span.To.Time
		}
	}
	if covered.Before(end) {
		return nil
	}
	return sets
}

// numbersOf nodes by their names, nil where one is not known.
func numbersOf(all, names []string) []int {
	var found []int
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			return nil
		}
		found = append(found, i)
	}
	return found
}

// measuredTrip is the measured round trip that matches the source of the latency without distance, or the requested one: see StageDistance.
func measuredTrip(e evidence.Run, base v1alpha1.DistanceBase) topology.NodeTrip {
	asked := topology.Asked(e.Spec.Topology)
	return func(a, b int) int64 {
		r := roundTripOf(e, min(a, b), max(a, b))
		if asked(a, b) == 0 || r == nil || r.Before == nil {
			return asked(a, b)
		}
		trip := r.Before.P50Microseconds
		if r.After != nil {
			trip = min(trip, r.After.P50Microseconds)
		}
		switch {
		case base == v1alpha1.BaseFromReads:
			return trip
		case base == v1alpha1.BaseFromStage && r.WithoutDistance != nil:
			return max(trip-r.WithoutDistance.P50Microseconds, 0)
		}
		return min(trip, asked(a, b)) // how long it is without distance is not known, and the base has it in it
	}
}

// roundTripOf two nodes, nil where it was not looked at.
func roundTripOf(e evidence.Run, from, to int) *v1alpha1.RoundTripStatus {
	if e.Distance == nil || to >= len(e.Nodes) {
		return nil
	}
	for i := range e.Distance.RoundTrips {
		if r := &e.Distance.RoundTrips[i]; r.From == e.Nodes[from] && r.To == e.Nodes[to] {
			return r
		}
	}
	return nil
}
