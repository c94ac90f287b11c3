// Package patroni is the driver of the topologies whose servers Patroni runs: alone, asynchronous, and with commits that wait for standbys.
// The Patroni beside each server decides with the others, through the API server, which of them takes the writes.
package patroni

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/node"
	"replab.dev/internal/wire"
)

// Driver implements topology.Driver for Single, Async and Patroni.
type Driver struct{}

// RESTPort is where each Patroni answers, and the paths are of that.
const (
	RESTPort   = 8008
	leaderPath = "/leader"  // 200 by the node that has the lock
	writerPath = "/primary" // 200 by that node once its server takes writes
	readerPath = "/replica" // 200 by those that run as standbys
)

// System implements topology.Driver.
func (Driver) System(p topology.Params) (topology.System, error) {
	if _, ok := p.Server.(engine.Keeper); !ok {
		return topology.System{}, errors.New(keepsNothing(p))
	}
	n := nodes(p)
	files, err := n.ConfigFiles()
	if err != nil {
		return topology.System{}, err
	}
	server := program(p)
	files[server.ConfigFile] = server.Config
	return topology.System{
		Nodes: n.Nodes(), Objects: objects(p), Files: files, Routes: Routes(p), Settings: Settings(p), Inspects: true, Store: true,
		CountCommits: CommitWaits(p) > 0, CommitWaits: CommitWaits(p), StandbysChosen: StandbysChosen(p),
		LossesWhileDegraded: LossesWhileDegraded(p), DegradedBy: DegradedBy(p),
	}, nil
}

// Switchover implements topology.Driver: it is asked of the agent beside the server that takes the writes.
func (Driver) Switchover(p topology.Params, name, from string) topology.Request {
	return topology.SwitchAgent(nodes(p).Nodes(), name, from)
}

// Routes lead to the nodes by the labels and by the answers of Patroni.
func Routes(p topology.Params) topology.Routes {
	return topology.Routes{
		Port: p.Server.Port(), CheckPort: RESTPort, WriterPath: writerPath, ReaderPath: readerPath,
		Writer:  wire.Endpoint{Host: p.Host(primaryName(p)), Port: p.Server.Port()},
		Readers: wire.Endpoint{Host: p.Host(replicasName(p)), Port: p.Server.Port()},
	}
}

func nodes(p topology.Params) node.Spec {
	server := program(p)
	return node.Spec{
		Params: p, Name: ClusterName(p),
		Server: node.Server{
			Engine: p.Engine, Process: server.Process, Socket: server.Socket, Argv: server.Argv, Inspect: true,
			Manager: &node.Manager{ManagerProgram: *server.Manager, Template: server.ConfigFile, Port: RESTPort, Path: leaderPath, Pause: Paused(p)},
		},
		Ports: []corev1.ContainerPort{
			{Name: strings.ToLower(p.Engine), ContainerPort: int32(p.Server.Port())},
			{Name: "manager", ContainerPort: RESTPort},
		},
		Files:     []string{server.ConfigFile},
		PodLabels: map[string]string{scopeLabel: ClusterName(p)},
		Env:       []corev1.EnvVar{node.Field(wire.EnvPodIP, "status.podIP")},
		Identity:  ClusterName(p),
		NamedUser: true,
	}
}

// Paused tells that Patroni is to decide nothing once the nodes are in their places. A server alone has nobody to take its place.
func Paused(p topology.Params) bool {
	return p.Spec.Failover == v1alpha1.FailoverNone && p.Spec.Nodes > 1
}

// program is what runs on each node.
func program(p topology.Params) engine.Program {
	return p.Server.Program(engine.Place{
		ConfigDir: wire.ConfigDir, DataDir: node.DataDir, RunDir: node.RunDir, TmpDir: node.TmpDir, Port: p.Server.Port(),
	}, Settings(p))
}

// ClusterName is that of the nodes, of their cluster in Patroni's words.
func ClusterName(p topology.Params) string { return p.Name + "-db" }

func primaryName(p topology.Params) string  { return p.Name + "-db-primary" }
func replicasName(p topology.Params) string { return p.Name + "-db-replicas" }
