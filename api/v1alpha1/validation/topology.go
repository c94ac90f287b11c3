package validation

import (
	"fmt"
	"slices"

	"replab.dev/api/v1alpha1"
)

// topology: fields that belong to other types or engines, and too few nodes.
func topology(s *spec) {
	t := s.Topology
	engineOf(s)
	single := t.Type == v1alpha1.TopologySingle
	s.refuse(single && t.Nodes > 1, at("topology.nodes"), "type Single has 1 node. Set nodes to 1, or use type Async or SemiSync.")
	alone(s)
	s.refuse(s.galera() && t.Failover == v1alpha1.FailoverNone, at("topology.failover"),
		"type Galera always fails over. Remove failover.")
	s.refuse(t.Galera != nil && !s.galera(), at("topology.galera"), "these settings belong to type Galera. Remove them, or change the type.")
	s.refuse(t.DualPrimary != nil && !s.dualPrimary(), at("topology.dualPrimary"),
		"these settings belong to type DualPrimary. Remove them.")
	s.refuse(s.dualPrimary() && t.Nodes > 2, at("topology.nodes"), "type DualPrimary has 2 nodes. Set nodes to 2, or use type Galera.")
	s.refuse(s.dualPrimary() && t.Failover == v1alpha1.FailoverNone, at("topology.failover"),
		"with type DualPrimary the proxy moves the writes. Remove failover.")
	s.refuse(!s.replication() && t.Director != v1alpha1.DirectorSpec{PeriodMilliseconds: 250, FailureThreshold: 3, LeaseMilliseconds: 5000} &&
		t.Director != v1alpha1.DirectorSpec{}, at("topology.director"),
		"no director manages these nodes: it is for Single, Async and SemiSync with MySQL or MariaDB. Remove it.")
	noticed := t.Director.PeriodMilliseconds * int64(t.Director.FailureThreshold)
	s.refuse(s.replication() && !single && t.Failover != v1alpha1.FailoverNone && noticed > s.Load.Seconds()*1000, at("topology.director"),
		fmt.Sprintf("it would notice a lost node after the load, which takes %d s. Lower periodMilliseconds or failureThreshold.", s.Load.Seconds()))
	semiSync(s)
}

// alone: a single node of a type that needs others.
func alone(s *spec) {
	t := s.Topology
	message := fmt.Sprintf("type %s needs at least 2 nodes. Set nodes to 2 or more, or use type Single.", t.Type)
	if s.dualPrimary() {
		message = "type DualPrimary has 2 nodes. Set nodes to 2, or use type Single."
	}
	s.refuse(t.Nodes == 1 && t.Type != v1alpha1.TopologySingle && !s.galera(), at("topology.nodes"), message)
}

func engineOf(s *spec) {
	t := s.Topology
	s.refuse(t.Type == v1alpha1.TopologyPatroni && !s.postgres(), at("topology.engine"), "type Patroni runs PostgreSQL only. Set PostgreSQL, or remove engine.")
	none := []v1alpha1.TopologyType{v1alpha1.TopologySemiSync, v1alpha1.TopologyDualPrimary, v1alpha1.TopologyGalera}
	s.refuse(s.postgres() && slices.Contains(none, t.Type), at("topology.engine"),
		fmt.Sprintf("type %s does not run PostgreSQL. Use type Patroni, or engine MySQL or MariaDB.", t.Type))
}

// orAtMost is the other remedy of a number that exceeds the number of replicas, where there is a replica.
func orAtMost(replicas int32) string {
	if replicas < 1 {
		return ""
	}
	return fmt.Sprintf(", or use at most %d", replicas)
}

// semiSync: more acknowledgements than there can be.
func semiSync(s *spec) {
	t := s.Topology
	if t.SemiSync == nil {
		return
	}
	path := at("topology.semiSync")
	if t.Type != v1alpha1.TopologySemiSync {
		s.refuse(true, path, "these settings belong to type SemiSync. Remove them, or change the type.")
		return
	}
	s.refuse(t.SemiSync.AckReplicas >= t.Nodes, path.Child("ackReplicas"),
		fmt.Sprintf("%d exceeds the number of replicas, so every commit would wait for its timeout. Set topology.nodes to %d or more%s.",
			t.SemiSync.AckReplicas, t.SemiSync.AckReplicas+1, orAtMost(t.Nodes-1)))
	s.refuse(s.engine == v1alpha1.EngineMariaDB && t.SemiSync.AckReplicas > 1, path.Child("ackReplicas"),
		"MariaDB waits for one replica, whatever their number. Set 1, or use engine MySQL.")
}
