package agent

import (
	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/agent/part"
	"replab.dev/internal/metrics"
	"replab.dev/internal/wire"
)

var (
	cpuFamily      = metrics.Counter("replab_agent_server_cpu_seconds_total", "Processor time of the server; absent while none runs.")
	memoryFamily   = metrics.Gauge("replab_agent_server_resident_memory_bytes", "Resident memory of the server; absent while none runs.")
	readFamily     = metrics.Counter("replab_agent_server_read_bytes_total", "Bytes that the server read from disks; absent while none runs.")
	writtenFamily  = metrics.Counter("replab_agent_server_written_bytes_total", "Bytes that the server wrote to disks; absent while none runs.")
	receivedFamily = metrics.Counter("replab_agent_network_receive_bytes_total", "Bytes that the pod received; absent while no server runs.")
	sentFamily     = metrics.Counter("replab_agent_network_transmit_bytes_total", "Bytes that the pod sent; absent while no server runs.")
	holdsFamily    = metrics.Gauge("replab_agent_holds", "Faults that still hold. The server is not started while one does.")
	leaseFamily    = metrics.Gauge("replab_agent_lease_held", "1 while a lease lets the server take writes; absent if the topology has no leases.")

	delayedFamily = metrics.Counter("replab_agent_link_delayed_packets_total", "Packets that were delayed; absent before the first.")
	lateFamily    = metrics.Counter("replab_agent_link_late_packets_total", "Delayed packets that left over 5% and over 1 ms too late; absent before the first delayed packet.")
)

func families() []*metrics.Family {
	return []*metrics.Family{
		part.Up, part.Role, cpuFamily, memoryFamily, readFamily, writtenFamily, receivedFamily, sentFamily, holdsFamily, leaseFamily,
		delayedFamily, lateFamily,
	}
}

// metrics tell what the agent has seen already. The server is asked nothing for it.
func (a *api) metrics() *prometheus.Registry {
	all := families()
	own, _ := a.part.(part.Measured)
	if own != nil {
		all = append(all, own.Families()...)
	}
	return metrics.New(metrics.Collector{Families: all, Read: func(tell metrics.Tell) {
		a.tellRoles(tell)
		if r, err := a.measure(); err == nil {
			tellResources(tell, r)
		}
		tell(holdsFamily, float64(len(a.faults.Holds())))
		if a.keeper != nil {
			tell(leaseFamily, metrics.Bool(a.keeper.held()))
		}
		tellLinks(tell, a.links.Counts())
		if own != nil {
			own.Measure(tell)
		}
	}})
}

func (a *api) tellRoles(tell metrics.Tell) {
	v := a.watcher.view()
	ready, _ := isReady(v)
	may, whyNot := a.mayWrite()
	primary, _ := isPrimary(v, may, whyNot)
	replica, _ := a.replica()
	tell(part.Up, metrics.Bool(ready))
	tell(part.Role, metrics.Bool(primary), "primary")
	tell(part.Role, metrics.Bool(replica), "replica")
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
	if len(c.Delays) == 0 { // nothing was delayed
		return
	}
	tell(delayedFamily, float64(c.Packets))
	tell(lateFamily, float64(c.Late))
}
