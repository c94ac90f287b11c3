package agent

import (
	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/metrics"
	"replab.dev/internal/wire"
)

var (
	upFamily       = metrics.Gauge("replab_agent_server_up", "1 while the server answers a query.")
	roleFamily     = metrics.Gauge("replab_agent_role", "1 for the role that the agent tells proxies, primary or replica; 0 for one that the server has not.", "role")
	cpuFamily      = metrics.Counter("replab_agent_server_cpu_seconds_total", "Processor time of the server; absent while none runs.")
	memoryFamily   = metrics.Gauge("replab_agent_server_resident_memory_bytes", "Resident memory of the server; absent while none runs.")
	readFamily     = metrics.Counter("replab_agent_server_read_bytes_total", "What the server had fetched from disks; absent while none runs.")
	writtenFamily  = metrics.Counter("replab_agent_server_written_bytes_total", "What the server had sent to disks; absent while none runs.")
	receivedFamily = metrics.Counter("replab_agent_network_receive_bytes_total", "What the pod's network received; absent while no server runs.")
	sentFamily     = metrics.Counter("replab_agent_network_transmit_bytes_total", "What the pod's network sent; absent while no server runs.")
	holdsFamily    = metrics.Gauge("replab_agent_holds", "Faults whose hold stands: the server is not started again while there is one.")
	leaseFamily    = metrics.Gauge("replab_agent_lease_held", "1 while the server may be writable by a lease; absent where the topology has none.")

	delayedFamily = metrics.Counter("replab_agent_link_delayed_packets_total", "Packets that came to be delayed; absent where the agent delays none itself.")
	lateFamily    = metrics.Counter("replab_agent_link_late_packets_total", "Packets that were let go more than 5% of their delay, and more than 1 ms, after it; absent where the agent delays none itself.")

	writerFamily   = metrics.Gauge("replab_agent_group_writer", "1 for the member that this agent takes for the one with the writes; absent where servers form no group.", "writer")
	primaryFamily  = metrics.Gauge("replab_agent_group_primary_component", "1 while the members that are connected with this one may commit; absent while the server does not answer.")
	syncedFamily   = metrics.Gauge("replab_agent_group_synced", "1 while this member has what the others have; absent while the server does not answer.")
	membersFamily  = metrics.Gauge("replab_agent_group_members", "Servers that this member is connected with, its own included; absent while the server does not answer.")
	sequenceFamily = metrics.Counter("replab_agent_group_transactions_total", "Transactions of the group's history that this member has committed; absent while the server does not answer.")

	answersFamily   = metrics.Gauge("replab_agent_manager_up", "1 while the server's manager answers; absent where none runs the server.")
	leaderFamily    = metrics.Gauge("replab_agent_manager_leader", "1 while this node holds the lock of who takes the writes; absent where no manager runs the server.")
	streamingFamily = metrics.Gauge("replab_agent_manager_streaming", "1 while the server is a standby that is connected with the one that it takes its log from; absent where no manager runs the server.")
	standbyFamily   = metrics.Gauge("replab_agent_manager_synchronous", "1 while the managers count the node among the standbys that commits wait for; absent where no manager runs the server.")
	waitsFamily     = metrics.Gauge("replab_agent_manager_commits_wait", "1 while the server has commits wait for standbys; absent where no manager runs the server.")
	pauseFamily     = metrics.Gauge("replab_agent_manager_paused", "1 while the managers decide nothing; absent where no manager runs the server.")
	timelineFamily  = metrics.Gauge("replab_agent_manager_timeline", "Timeline that the server writes or receives; absent while the server does not answer.")
	logFamily       = metrics.Counter("replab_agent_manager_log_bytes_total", "How far the server's log has come: written of a writer, received and applied of a standby; absent while the server does not answer.", "position")
)

func families() []*metrics.Family {
	return []*metrics.Family{
		upFamily, roleFamily, cpuFamily, memoryFamily, readFamily, writtenFamily, receivedFamily, sentFamily, holdsFamily, leaseFamily,
		delayedFamily, lateFamily, writerFamily, primaryFamily, syncedFamily, membersFamily, sequenceFamily,
		answersFamily, leaderFamily, streamingFamily, standbyFamily, waitsFamily, pauseFamily, timelineFamily, logFamily,
	}
}

// metrics tell what the agent has seen already. The server is asked nothing for it.
func (a *api) metrics() *prometheus.Registry {
	return metrics.New(metrics.Collector{Families: families(), Read: func(tell metrics.Tell) {
		a.tellRoles(tell)
		if r, err := a.measure(); err == nil {
			tellResources(tell, r)
		}
		tell(holdsFamily, float64(len(a.faults.Holds())))
		if a.keeper != nil {
			tell(leaseFamily, metrics.Bool(a.keeper.held()))
		}
		tellLinks(tell, a.links.Counts())
		if a.group != nil {
			if state, err := a.group.State(); err == nil {
				tellGroup(tell, state)
			}
		}
		if a.manager != nil {
			tellManager(tell, a.manager.State())
		}
	}})
}

func (a *api) tellRoles(tell metrics.Tell) {
	v := a.watcher.view()
	ready, _ := isReady(v)
	may, whyNot := a.mayWrite()
	primary, _ := isPrimary(v, may, whyNot)
	replica, _ := a.replica()
	tell(upFamily, metrics.Bool(ready))
	tell(roleFamily, metrics.Bool(primary), "primary")
	tell(roleFamily, metrics.Bool(replica), "replica")
}

func tellResources(tell metrics.Tell, r wire.Resources) {
	tell(cpuFamily, metrics.Seconds(r.CPUMicroseconds))
	tell(memoryFamily, float64(r.ResidentBytes))
	tell(readFamily, float64(r.ReadBytes))
	tell(writtenFamily, float64(r.WrittenBytes))
	tell(receivedFamily, float64(r.NetworkReceivedBytes))
	tell(sentFamily, float64(r.NetworkSentBytes))
}

func tellLinks(tell metrics.Tell, c wire.LinkCounts) {
	if c.Method != wire.LinkPacketQueue {
		return
	}
	tell(delayedFamily, float64(c.Packets))
	tell(lateFamily, float64(c.Late))
}

func tellGroup(tell metrics.Tell, s wire.GroupState) {
	if s.Writer != "" {
		tell(writerFamily, 1, s.Writer)
	}
	if v := s.View; v != nil {
		tell(primaryFamily, metrics.Bool(v.Primary))
		tell(syncedFamily, metrics.Bool(v.Synced))
		tell(membersFamily, float64(len(v.Servers)))
		tell(sequenceFamily, float64(v.Position.Sequence))
	}
}

func tellManager(tell metrics.Tell, s wire.ManagerState) {
	tell(answersFamily, metrics.Bool(s.Answers))
	tell(leaderFamily, metrics.Bool(s.Holds))
	tell(streamingFamily, metrics.Bool(s.Streaming))
	tell(standbyFamily, metrics.Bool(s.Synchronous))
	tell(waitsFamily, metrics.Bool(s.Waits))
	tell(pauseFamily, metrics.Bool(s.Paused))
	if s.Timeline == 0 {
		return
	}
	tell(timelineFamily, float64(s.Timeline))
	for position, at := range map[string]uint64{"written": s.Written, "received": s.Received, "applied": s.Applied} {
		if at > 0 {
			tell(logFamily, float64(at), position)
		}
	}
}

// metrics of a server that is seen by its address: whether it answers, and what its manager says.
func (r *remote) metrics() *prometheus.Registry {
	return metrics.New(metrics.Collector{Families: families(), Read: func(tell metrics.Tell) {
		look, err := r.watcher.Look()
		tell(upFamily, metrics.Bool(err == nil && look.Position != nil))
		state := r.manager.State()
		tell(roleFamily, metrics.Bool(state.Writes), "primary")
		tell(roleFamily, metrics.Bool(state.Streaming), "replica")
		tellManager(tell, state)
	}})
}
