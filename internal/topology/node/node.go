// Package node makes what every database node has, whatever its topology: a StatefulSet whose pods hold the server, its agent
// and their volumes, and a Service that gives each a name. Drivers say what differs. It is pure.
package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/engine"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Paths in the server's container.
const (
	volumeDir = "/var/lib/replab"
	DataDir   = volumeDir + "/data"
	holdsDir  = "/var/lib/replab-holds" // read only
	RunDir    = "/run/replab"           // in memory: the socket, and the file with the first statements and their passwords
	TmpDir    = "/tmp"                  // goes with the pod
)

// stateDir is in the agent's container alone.
const stateDir = "/var/lib/replab-agent"

// Configuration files of replab's own processes.
const (
	agentConfigFile  = "agent.json"
	serverConfigFile = "server.json"
)

// Spec is what a driver decides about its nodes.
type Spec struct {
	topology.Params
	Name string // of the StatefulSet and of its Service; the pods are Name-0, Name-1 and so on
	// Program that the nodes run; its configuration is one of Files.
	Program engine.Program
	Server  Server
	// Ports of the server by name, as its pods' Service has them.
	Ports []corev1.ContainerPort
	// Files of the experiment's ConfigMap that the server reads.
	Files []string
	// PodLabels are those of the pods beside their object's. Nothing selects by them.
	PodLabels map[string]string
	// Env of the server's container beside its own.
	Env []corev1.EnvVar
	// Identity is the ServiceAccount whose token the server's container has, and no other; "" for none.
	Identity string
	// NamedUser gives the user that the server runs as a name, which its programs ask the system for.
	NamedUser bool
}

// For is nodes that run the engine's program with these settings.
func For(p topology.Params, name string, settings engine.Settings) Spec {
	program := p.Server.Program(engine.Place{
		ConfigDir: wire.ConfigDir, DataDir: DataDir, RunDir: RunDir, TmpDir: TmpDir, Port: p.Server.Port(),
	}, settings)
	return Spec{
		Params: p, Name: name, Program: program,
		Server: Server{Engine: p.Engine, Process: program.Process, Socket: program.Socket, Argv: program.Argv},
		Ports:  []corev1.ContainerPort{{Name: strings.ToLower(p.Engine), ContainerPort: int32(p.Server.Port())}},
		Files:  []string{program.ConfigFile},
	}
}

// Server is what the start wrapper and the agent are told of the server.
type Server struct {
	Engine  string
	Argv    []string
	Process string // comm of its process
	Socket  string // below RunDir
	// CopyPort is where its start wrapper gives copies of its data; 0: nowhere.
	CopyPort int
	Leases   bool // it may be writable only while its manager gives it leases
	// Group is nil for servers that form none.
	Group *Group
	// Pair is nil for servers of which not both take writes.
	Pair *Pair
	// Inspect has each server that had data read before it is started in its place, or before a manager takes some of them away.
	Inspect bool
	// Manager is nil for servers that the start wrapper starts itself.
	Manager *Manager
}

// Manager starts the server and decides, with the other nodes', which server takes the writes.
type Manager struct {
	engine.ManagerProgram
	// Template is its configuration file, one of Spec.Files.
	Template string
	// Port and Path are where a manager answers with 200 once another node may copy its server's data.
	Port int
	Path string
	// Pause has managers decide nothing any more once all nodes were in their places.
	Pause bool
}

// Group is what the nodes are members of.
type Group struct {
	Name     string
	WriteAll bool // every member takes writes
}

// Pair is two nodes whose servers replicate from each other and both take writes.
type Pair struct{ SemiSync bool }

// Nodes are the pods in their order.
func (s Spec) Nodes() []wire.Node {
	nodes := make([]wire.Node, 0, s.Spec.Nodes)
	for i := range s.Spec.Nodes {
		name := fmt.Sprintf("%s-%d", s.Name, i)
		nodes = append(nodes, wire.Node{Name: name, Host: s.Host(name + "." + s.Name)})
	}
	return nodes
}

// ConfigFiles are the configuration files of the nodes' processes.
func (s Spec) ConfigFiles() (map[string]string, error) {
	files := map[string]string{}
	if s.Program.ConfigFile != "" {
		files[s.Program.ConfigFile] = s.Program.Config
	}
	for name, config := range map[string]any{agentConfigFile: s.agentConfig(), serverConfigFile: s.serverConfig()} {
		text, err := json.MarshalIndent(config, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = string(text)
	}
	if s.NamedUser {
		files[UsersFile] = Users(kube.UserID, kube.UserID)
	}
	return files, nil
}

func (s Spec) agentConfig() wire.AgentConfig {
	return wire.AgentConfig{
		Listen: fmt.Sprintf(":%d", wire.PortAgent), Engine: s.Server.Engine, Server: s.Server.Argv, Process: s.Server.Process,
		Socket: s.Server.Socket, StateDir: stateDir, HoldDir: stateDir + "/" + holdsFolder, SecretDir: wire.SecretsDir,
		Leases: s.Server.Leases, Group: s.groupConfig(), Pair: s.pairConfig(), Manager: s.managerConfig(), Inspect: s.Server.Inspect, RunDir: s.runDir(),
	}
}

func (s Spec) serverConfig() wire.ServerConfig {
	return wire.ServerConfig{
		Engine: s.Server.Engine, Server: s.Server.Argv, Socket: s.Server.Socket,
		DataDir: DataDir, HoldDir: holdsDir, SecretDir: wire.SecretsDir,
		CopyPort: s.Server.CopyPort, Group: s.groupConfig(), Pair: s.Server.Pair != nil, Manager: s.managerConfig(), Inspect: s.Server.Inspect, RunDir: s.runDir(),
	}
}

func (s Spec) groupConfig() *wire.GroupConfig {
	if s.Server.Group == nil {
		return nil
	}
	return &wire.GroupConfig{Name: s.Server.Group.Name, Members: s.Nodes(), WriteAll: s.Server.Group.WriteAll}
}

func (s Spec) pairConfig() *wire.PairConfig {
	if s.Server.Pair == nil {
		return nil
	}
	return &wire.PairConfig{Nodes: s.Nodes(), Port: s.Params.Server.Port(), SemiSync: s.Server.Pair.SemiSync}
}

func (s Spec) managerConfig() *wire.ManagerConfig {
	m := s.Server.Manager
	if m == nil {
		return nil
	}
	c := &wire.ManagerConfig{Argv: m.Argv, Process: m.Process, URL: m.URL, Template: wire.ConfigDir + "/" + m.Template}
	for _, n := range s.Nodes() {
		c.First = append(c.First, fmt.Sprintf("http://%s:%d%s", n.Host, m.Port, m.Path))
	}
	if m.Pause {
		c.PauseAt = int(s.Spec.Nodes)
	}
	return c
}

// runDir is told where wrapper and agent leave each other notes in it.
func (s Spec) runDir() string {
	if s.Server.Group == nil && s.Server.Manager == nil && !s.Server.Inspect {
		return ""
	}
	return RunDir
}

// Objects are the nodes' Service and their StatefulSet.
func (s Spec) Objects() []kube.Object {
	meta := kube.Meta(s.Namespace, s.Name, kube.ComponentNode, s.Labels)
	var ports []int
	for _, p := range s.Ports {
		ports = append(ports, int(p.ContainerPort))
	}
	return []kube.Object{kube.Service(meta, kube.Selector(meta), true, append(ports, wire.PortAgent)...), s.statefulSet(meta)}
}

func (s Spec) podLabels(meta metav1.ObjectMeta) map[string]string {
	all := maps.Clone(meta.Labels)
	maps.Copy(all, s.PodLabels)
	return all
}

func (s Spec) statefulSet(meta metav1.ObjectMeta) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{
		ObjectMeta: meta,
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To(s.Spec.Nodes), ServiceName: meta.Name, PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector:       &metav1.LabelSelector{MatchLabels: kube.Selector(meta)},
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			Template:       corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: s.podLabels(meta)}, Spec: s.podSpec()},
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
				WhenScaled:  appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
			},
		},
	}
	addStorage(set, s.Spec.Storage)
	return set
}
