// Package galera is the driver of the topology whose servers are one group: each commit is agreed upon by all members before it is
// acknowledged. The servers and the agents beside them manage themselves.
package galera

import (
	"crypto/sha256"
	"encoding/hex"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/node"
	"replab.dev/internal/wire"
)

// Driver implements topology.Driver.
type Driver struct{}

// syncWaitReads is the bit of wsrep_sync_wait by which reads wait.
const syncWaitReads = 1

// peerPorts are where members reach each other beside their servers' ports.
var peerPorts = []corev1.ContainerPort{
	{Name: "group", ContainerPort: 4567},
	{Name: "increments", ContainerPort: 4568},
	{Name: "snapshots", ContainerPort: 4444},
}

// System implements topology.Driver.
func (Driver) System(p topology.Params) (topology.System, error) {
	n := nodes(p)
	files, err := n.ConfigFiles()
	if err != nil {
		return topology.System{}, err
	}
	return topology.System{
		Nodes: n.Nodes(), Objects: n.Objects(), Files: files, Routes: routes(p), Settings: settings(p), Inspects: true, CountGroup: true,
		ReadsWait:   spec(p) != nil && spec(p).SyncWait&syncWaitReads != 0,
		CommitWaits: int(p.Spec.Nodes) - 1, // what is to be committed gets its place in the order of all once every member has it
	}, nil
}

// Switchover implements topology.Driver: it is asked of the member that takes the writes.
func (Driver) Switchover(p topology.Params, name, from string) topology.Request {
	return topology.SwitchAgent(nodes(p).Nodes(), name, from)
}

func routes(p topology.Params) topology.Routes {
	return topology.Routes{
		Port: p.Server.Port(), CheckPort: wire.PortAgent, WriterPath: wire.AgentPathPrimary, ReaderPath: wire.AgentPathReplica,
		Sign: topology.SignMembership,
	}
}

func nodes(p topology.Params) node.Spec {
	s := node.For(p, p.Name+"-db", settings(p))
	s.Server.Group, s.Server.Inspect = &node.Group{Name: groupName(p), WriteAll: p.WriteAll}, true
	s.Ports = append(s.Ports, peerPorts...)
	return s
}

// nameMost is how long the library lets a group's name be.
const nameMost = 32

// groupName is told by members to each other, so that those of two experiments never meet.
func groupName(p topology.Params) string {
	name := p.Namespace + "/" + p.Name
	if len(name) <= nameMost {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:nameMost/2])
}

// settings that every node runs with.
func settings(p topology.Params) engine.Settings {
	g := engine.Group{Name: groupName(p)}
	if s := spec(p); s != nil {
		g.SyncWait, g.SuspectMilliseconds, g.SendWindowPackets = s.SyncWait, s.SuspectTimeoutMilliseconds, s.SendWindowPackets
	}
	return engine.Settings{Durability: engine.Durability(p.Spec.Durability), Group: &g, Parameters: p.Spec.Parameters}
}

func spec(p topology.Params) *v1alpha1.GaleraSpec { return p.Spec.Galera }
