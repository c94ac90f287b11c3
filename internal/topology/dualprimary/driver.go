// Package dualprimary is the driver of the topology with two servers that replicate from each other and both take writes. The agents beside
// them set the replication up. No node takes over from another: the proxy decides where writes go.
package dualprimary

import (
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/node"
	"replab.dev/internal/wire"
)

// Driver implements topology.Driver.
type Driver struct{}

// timeoutMilliseconds is how long a commit waits for the other server: the servers' own default.
const timeoutMilliseconds = 10_000

// System implements topology.Driver.
func (Driver) System(p topology.Params) (topology.System, error) {
	n := nodes(p)
	files, err := n.ConfigFiles()
	if err != nil {
		return topology.System{}, err
	}
	s := topology.System{
		Nodes: n.Nodes(), Objects: n.Objects(), Files: files, Settings: settings(p), Independent: true,
		Routes: topology.Routes{
			Port: p.Server.Port(), CheckPort: wire.PortAgent, WriterPath: wire.AgentPathPrimary, ReaderPath: wire.AgentPathReplica, Several: true,
		},
	}
	if semiSync(p) {
		s.CountCommits, s.CommitWaits = true, 1
	}
	return s, nil
}

// Switchover implements topology.Driver. No node is asked for one: validation refuses it.
func (Driver) Switchover(p topology.Params, name, from string) topology.Request {
	return topology.SwitchAgent(nodes(p).Nodes(), name, from)
}

func nodes(p topology.Params) node.Spec {
	s := node.For(p, p.Name+"-db", settings(p))
	s.Server.Pair = &node.Pair{SemiSync: semiSync(p)}
	return s
}

// settings that both nodes run with.
func settings(p topology.Params) engine.Settings {
	s := engine.Settings{
		Durability: engine.Durability(p.Spec.Durability), Parameters: p.Spec.Parameters, Pair: &engine.Pair{LogReplicaUpdates: ptr.Deref(spec(p).LogReplicaUpdates, true)},
	}
	if semiSync(p) {
		s.SemiSync = &engine.SemiSync{AckReplicas: 1, TimeoutMilliseconds: timeoutMilliseconds}
	}
	return s
}

func semiSync(p topology.Params) bool { return ptr.Deref(spec(p).SemiSync, true) }

func spec(p topology.Params) v1alpha1.DualPrimarySpec {
	return ptr.Deref(p.Spec.DualPrimary, v1alpha1.DualPrimarySpec{})
}
