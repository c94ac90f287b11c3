package distance

import (
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// latencyWithout distance: of the last stage without one, else of a baseline that is the same but for its distances, else of the reads. 0
// where there is none of them.
func latencyWithout(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus, r wire.StageResult) (int64, v1alpha1.DistanceBase) {
	if stage, last := lastWithoutDistance(e); stage.Users > 0 && !linkedBefore(e, last) { // an open loop may be a queue
		if mean := meanLatency(s.Load, stage.Name); mean > 0 && calm(e, stage.Name) {
			return mean, v1alpha1.BaseFromStage
		}
	}
	if b := e.Baseline; b != nil && atNoDistance(b.Spec.Topology) && sameButForDistance(e.Spec, b.Spec) && compare.Unlike(evidence.Pair(e, s)) == "" {
		if stage := fewestUsers(b.Spec.Load); meanLatency(b.Status.Load, stage) > 0 && !faultBeforeEndOf(b.Spec, stage) {
			return meanLatency(b.Status.Load, stage), v1alpha1.BaseFromBaseline
		}
	}
	return ofReads(e, r)
}

// lastWithoutDistance is the last stage without distance, as it was asked for and as it came; nothing where there is none.
func lastWithoutDistance(e evidence.Run) (v1alpha1.Stage, *wire.StageResult) {
	n := e.Spec.Load.StagesWithoutDistance()
	if n == 0 {
		return v1alpha1.Stage{}, nil
	}
	asked := e.Spec.Load.Stages[n-1]
	i := slices.IndexFunc(evidence.StagesOf(e), func(r wire.StageResult) bool { return r.Name == asked.Name })
	if i < 0 {
		return asked, nil
	}
	return asked, &e.Recorder.Stages[i]
}

// linkedBefore tells whether a node's links may have stood before a stage without distance had its last answer: some of its requests then
// have distance in them, and so has their mean.
func linkedBefore(e evidence.Run, r *wire.StageResult) bool {
	if r == nil || r.Requests == 0 {
		return false
	}
	if r.EndedAt == nil || e.Distance == nil {
		return true
	}
	return slices.ContainsFunc(e.Distance.Nodes, func(n v1alpha1.LinkedNodeStatus) bool {
		if n.LinkingTime == nil { // linkingUnsound tells of one that should have been linked
			return false
		}
		by := evidence.ClockOf(e.Recorder, n.Name)
		return by == nil || !evidence.Told(n.LinkingTime.Time, *by).Earliest.After(r.EndedAt.Time)
	})
}

// ofReads is the mean latency of a stage's reads in microseconds, 0 where there is none, or where they wait for other nodes.
func ofReads(e evidence.Run, r wire.StageResult) (int64, v1alpha1.DistanceBase) {
	if e.ReadsWait {
		return 0, ""
	}
	var sum, n int64
	for _, o := range r.Operations {
		if o.Name != wire.OperationRegister && o.Latency != nil {
			sum += o.Latency.MeanMicroseconds * (o.Requests - o.Failures)
			n += o.Requests - o.Failures
		}
	}
	if n == 0 {
		return 0, ""
	}
	return sum / n, v1alpha1.BaseFromReads
}

// calm tells that no node was out of its place during a stage.
func calm(e evidence.Run, stage string) bool {
	i := slices.IndexFunc(evidence.StagesOf(e), func(r wire.StageResult) bool { return r.Name == stage })
	return i >= 0 && disturbed(e, e.Recorder.Stages[i]).None()
}

// faultBeforeEndOf tells that a fault was planned for a stage, or for one before it: requests then took what they do not take else.
func faultBeforeEndOf(spec v1alpha1.ReplicationExperimentSpec, stage string) bool {
	var end int64
	for _, s := range spec.Load.Stages {
		if end += s.DurationSeconds; s.Name == stage {
			break
		}
	}
	return slices.ContainsFunc(spec.Faults, func(f v1alpha1.Fault) bool { return f.AtSeconds < end })
}

// meanLatency of a stage in microseconds, 0 where it is not known.
func meanLatency(load *v1alpha1.LoadStatus, stage string) int64 {
	for _, s := range load.Stages {
		if s.Name == stage && s.Latency != nil {
			return s.Latency.MeanMicroseconds
		}
	}
	return 0
}

// fewestUsers is the closed loop of a load that counts in which requests wait least for each other.
func fewestUsers(load v1alpha1.LoadSpec) string {
	name, fewest := "", int64(math.MaxInt64)
	for _, s := range load.Stages {
		if s.Users > 0 && s.Users < fewest && !s.Discard {
			name, fewest = s.Name, s.Users
		}
	}
	return name
}

// atNoDistance reports whether no link delays packets.
func atNoDistance(t v1alpha1.TopologySpec) bool {
	return !slices.ContainsFunc(t.Links, func(l v1alpha1.Link) bool { return l.RoundTripMilliseconds > 0 })
}

// sameButForDistance tells whether requests go the same ways through the same servers: how often a proxy asks for their roles is no part of
// what a request takes.
func sameButForDistance(a, b v1alpha1.ReplicationExperimentSpec) bool {
	for _, s := range []*v1alpha1.ReplicationExperimentSpec{&a, &b} {
		s.Topology.Zones, s.Topology.Links, s.Routing.Check = nil, nil, v1alpha1.RoutingCheck{}
	}
	return equality.Semantic.DeepEqual(a.Topology, b.Topology) && equality.Semantic.DeepEqual(a.Routing, b.Routing) && equality.Semantic.DeepEqual(a.Pods, b.Pods)
}
