package validation

import (
	"fmt"
	"slices"

	"replab.dev/api/v1alpha1"
)

// faults: what cannot be done at all, and then what comes to nothing when the faults are played.
func faults(s *spec) {
	before := len(s.errs)
	for i, f := range s.Faults {
		inTime(s, i, f)
		aimed(s, i, f)
		possible(s, i, f)
		held(s, i, f)
		partition(s, i, f)
	}
	if len(s.errs) == before { // else there is nothing that could be played
		newSimulator(s).play()
	}
}

// inTime: a fault outside of the stages that count.
func inTime(s *spec, i int, f v1alpha1.Fault) {
	path, end := at("faults", i, "atSeconds"), int64(0)
	for _, stage := range s.Load.Stages {
		begin := end
		end += stage.DurationSeconds
		s.refuse(stage.Discard && f.AtSeconds >= begin && f.AtSeconds < end, path,
			fmt.Sprintf("stage %s is discarded, so the effect counts nowhere. Start the fault later, or remove discard.", stage.Name))
	}
	s.refuse(f.AtSeconds >= end, path, fmt.Sprintf("the load ends at %d s. Start the fault earlier, or make a stage longer.", end))
}

// aimed: a target that there is not.
func aimed(s *spec, i int, f v1alpha1.Fault) {
	nodes := s.Topology.Nodes
	s.refuse(f.Node != nil && *f.Node >= nodes, at("faults", i, "node"), fmt.Sprintf("the topology has no such node. Use 0 to %d.", nodes-1))
	s.refuse(nodes == 1 && (f.Target == v1alpha1.TargetReplica || f.Target == v1alpha1.TargetAllReplicas), at("faults", i, "target"),
		"the topology has no replicas. Use target Primary, or set topology.nodes to 2 or more.")
	s.refuse(s.dualPrimary() && f.Target != v1alpha1.TargetNode, at("faults", i, "target"), "with DualPrimary both nodes are primaries. Use target Node, with node 0 or 1.")
}

// possible: an action that nobody can carry out.
func possible(s *spec, i int, f v1alpha1.Fault) {
	path := at("faults", i, "action")
	if s.dualPrimary() {
		possibleForTwo(s, i, f)
	} else if f.Action == v1alpha1.ActionSwitchover {
		switchover(s, i, f)
	}
	s.refuse(f.Action == v1alpha1.ActionKillServer && !s.postgres(), path, "KillServer needs Patroni, which starts the server again in its container. Use Kill.")
	s.refuse(f.Action.EndsServer() && s.Topology.Nodes > 1 && s.Topology.Failover == v1alpha1.FailoverNone && s.postgres(), path,
		"with failover None Patroni is paused and starts no stopped server. Use Pause or Partition, or failover Automatic.")
	done := (f.Action == v1alpha1.ActionDeletePod || f.Action == v1alpha1.ActionSwitchover) && f.HoldSeconds == 0
	s.refuse(s.zalando() && !done, path, "ZalandoOperator supports only Switchover, and DeletePod without holdSeconds. Use those, or provider StatefulSet.")
}

// possibleForTwo: an action that two primaries cannot carry out.
func possibleForTwo(s *spec, i int, f v1alpha1.Fault) {
	path := at("faults", i, "action")
	s.refuse(f.Action == v1alpha1.ActionSwitchover, path, "with DualPrimary no node hands the writes over: the proxy moves them from a lost one. Use another action.")
	logs := s.Topology.DualPrimary == nil || s.Topology.DualPrimary.LogReplicaUpdates == nil || *s.Topology.DualPrimary.LogReplicaUpdates
	s.refuse(!logs && f.Action == v1alpha1.ActionDeletePod && s.Topology.Storage.Medium != v1alpha1.MediumVolumeClaim, path,
		"the node's data go with its pod, and the other's log lacks a part. Use dualPrimary.logReplicaUpdates true, or storage.medium VolumeClaim.")
}

func switchover(s *spec, i int, f v1alpha1.Fault) {
	path := at("faults", i, "action")
	s.refuse(f.Target != v1alpha1.TargetPrimary, at("faults", i, "target"), "Switchover asks for another primary. Set target to Primary.")
	s.refuse(s.Topology.Nodes == 1 || s.Topology.Failover == v1alpha1.FailoverNone, path,
		"Switchover needs another node that may lead. Set topology.nodes to 2 or more and failover Automatic, or use another action.")
	s.refuse(s.galera() && (s.Routing.Proxy == v1alpha1.ProxyProxySQL || s.Routing.Writes == v1alpha1.WritesAll), path,
		"only HAProxy follows a switchover of Galera. Set routing.proxy to HAProxy and routing.writes to Primary, or use another action.")
	for j, other := range s.Faults[:i] {
		s.refuse(other.Action == v1alpha1.ActionSwitchover && other.AtSeconds == f.AtSeconds, at("faults", i, "atSeconds"),
			fmt.Sprintf("faults[%d] is a Switchover at the same second, and only one can run. Choose another second.", j))
	}
}

// held: holds that do not go with the action.
func held(s *spec, i int, f v1alpha1.Fault) {
	path := at("faults", i, "holdSeconds")
	s.refuse((f.Action == v1alpha1.ActionPause || f.Action == v1alpha1.ActionPartition) && f.HoldSeconds == 0, path,
		fmt.Sprintf("%s lasts as long as it is held. Set 1 to 3600, or -1 until the audit is done.", f.Action))
	s.refuse(f.Action == v1alpha1.ActionSwitchover && f.HoldSeconds != 0, path, "a Switchover has no hold. Remove holdSeconds.")
	s.refuse(f.Action == v1alpha1.ActionKillServer && f.HoldSeconds != 0, path, "Patroni starts the server again at once. Remove it, or use Kill to keep the server down.")
	s.refuse(f.Action == v1alpha1.ActionDeletePod && f.HoldSeconds != 0 && s.Topology.Storage.Medium != v1alpha1.MediumVolumeClaim, path,
		"the hold is stored on the node's volume, which DeletePod deletes with the pod. Remove holdSeconds, or use storage.medium VolumeClaim.")
}

// partition: from nodes, zones or a store that there are not.
func partition(s *spec, i int, f v1alpha1.Fault) {
	path := at("faults", i, "partitionFrom")
	among := f.PartitionFrom == v1alpha1.PartitionPeers || f.PartitionFrom == v1alpha1.PartitionZone
	s.refuse(among && s.Topology.Nodes == 1, path, "there is no other node to be cut off from. Use Clients or Everyone, or set topology.nodes to 2 or more.")
	s.refuse(f.PartitionFrom == v1alpha1.PartitionStore && !s.postgres(), path, "only nodes with Patroni decide in the API server. Use Peers, Clients or Everyone.")
	if f.PartitionFrom != v1alpha1.PartitionZone {
		return
	}
	s.refuse(len(s.Topology.Zones) == 0, path, "Zone needs topology.zones. Say which nodes are where, or use Peers.")
	s.refuse(slices.ContainsFunc(s.Topology.Zones, func(z v1alpha1.Zone) bool { return len(z.Nodes) >= int(s.Topology.Nodes) && s.Topology.Nodes > 1 }), path,
		"all nodes are in one zone, so nothing would be cut off. Put some elsewhere, or use Peers.")
	for j, other := range s.Faults[:i] {
		s.refuse(f.Target == v1alpha1.TargetReplica && other.Target == f.Target && other.PartitionFrom == f.PartitionFrom && other.AtSeconds == f.AtSeconds, at("faults", i, "atSeconds"),
			fmt.Sprintf("faults[%d] cuts off a replica's zone in the same second, which may be the same zone. Choose another second.", j))
	}
}
