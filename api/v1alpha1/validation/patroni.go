package validation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
)

// Modes of Patroni's synchronous replication.
const (
	modeOff    = "Off"
	modeQuorum = "Quorum"
)

// patroni: settings of nodes that Patroni runs.
func patroni(s *spec) {
	t, path := s.Topology, at("topology.patroni")
	isType := t.Type == v1alpha1.TopologyPatroni
	waits := isType && (t.Patroni == nil || t.Patroni.SynchronousMode != modeOff)
	s.refuse(waits && t.Durability == v1alpha1.DurabilityVolatile, at("topology.durability"),
		`with Volatile no commit of PostgreSQL waits for a standby. Use Full or Relaxed, or set patroni.synchronousMode to "Off".`)
	if t.Patroni == nil {
		return
	}
	p := *t.Patroni
	alone := (t.Type == v1alpha1.TopologySingle || t.Type == v1alpha1.TopologyAsync) && s.postgres()
	if !isType && !alone {
		s.refuse(true, path, "these settings belong to nodes with PostgreSQL. Remove them, or use type Patroni.")
		return
	}
	s.refuse(!isType && (p.SynchronousMode != modeOff || p.Provider == v1alpha1.ProviderZalando), path,
		`types Single and Async take timings only. Set synchronousMode "Off" and provider StatefulSet, or use type Patroni.`)
	s.refuse(p.LoopWaitSeconds+2*p.RetryTimeoutSeconds > p.TTLSeconds, path.Child("ttlSeconds"),
		fmt.Sprintf("a leader could lose its lock in a slow loop. Use at least %d: loopWaitSeconds + 2 x retryTimeoutSeconds.", p.LoopWaitSeconds+2*p.RetryTimeoutSeconds))
	s.refuse(p.Strict && p.SynchronousMode == modeOff, path.Child("strict"), "strict needs a synchronous standby. Set synchronousMode to On or Quorum, or remove strict.")
	s.refuse(p.SynchronousNodeCount > 1 && p.SynchronousMode == modeOff, path.Child("synchronousNodeCount"),
		`no commit waits with synchronousMode "Off". Set the mode to On or Quorum, or remove synchronousNodeCount.`)
	s.refuse(isType && p.SynchronousMode != modeOff && p.SynchronousNodeCount >= t.Nodes, path.Child("synchronousNodeCount"),
		fmt.Sprintf("%d exceeds the number of standbys, and Patroni would lower it silently. Set topology.nodes to %d or more%s.",
			p.SynchronousNodeCount, p.SynchronousNodeCount+1, orAtMost(t.Nodes-1)))
	zalando(s, p)
}

// zalando: what the resource of the Zalando operator cannot say.
func zalando(s *spec, p v1alpha1.PatroniSpec) {
	if !s.zalando() {
		return
	}
	path := at("topology.patroni")
	s.refuse(p.SynchronousMode == modeQuorum, path.Child("synchronousMode"), `the Zalando operator has no quorum commit. Use "On" or "Off", or provider StatefulSet.`)
	s.refuse(p.PrimaryStartTimeoutSeconds != nil && *p.PrimaryStartTimeoutSeconds != 300, path.Child("primaryStartTimeoutSeconds"),
		"the Zalando operator cannot set it. Remove it, or use provider StatefulSet.")
	s.refuse(p.MaximumLagOnFailoverBytes < 1 || p.MaximumLagOnFailoverBytes > 16777216, path.Child("maximumLagOnFailoverBytes"),
		"the Zalando operator omits 0 and rounds large values. Use 1 to 16777216, or provider StatefulSet.")
	s.refuse(len(s.Topology.Links) > 0, at("topology.links"), "links need agents that may delay packets, which the Zalando operator's pods lack. Remove them, or use provider StatefulSet.")
	s.refuse(s.Topology.Storage.Medium != v1alpha1.MediumVolumeClaim, at("topology.storage.medium"), "the Zalando operator makes volume claims only. Use VolumeClaim, or provider StatefulSet.")
	for _, list := range []corev1.ResourceList{s.Topology.Resources.Requests, s.Topology.Resources.Limits} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			s.refuse(name != corev1.ResourceCPU && name != corev1.ResourceMemory, at("topology.resources"),
				"the Zalando operator knows cpu and memory only. Remove the others, or use provider StatefulSet.")
		}
	}
	if s.Pods == nil {
		return
	}
	s.refuse(s.Pods.Nodes != nil, at("pods.nodes"), "the Zalando operator makes the nodes' pods itself. Remove it, and configure that operator.")
	all := s.Pods.All
	s.refuse(all != nil && (len(all.TopologySpreadConstraints) > 0 || all.Affinity != nil && (all.Affinity.PodAffinity != nil || all.Affinity.PodAntiAffinity != nil)), at("pods.all"),
		"podAffinity, podAntiAffinity and topologySpreadConstraints do not reach the Zalando operator's pods. Use pods.instruments, or nodeSelector.")
}
