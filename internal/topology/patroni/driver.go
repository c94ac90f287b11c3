// Package patroni is the driver of the topologies whose servers Patroni runs: alone, asynchronous, and with commits that wait for standbys.
// The Patroni beside each server decides with the others, through the API server, which of them takes the writes.
package patroni

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/kube"
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
	if _, ok := p.Server.(engine.Described); !ok {
		return topology.System{}, errors.New(keepsNothing(p))
	}
	n := nodes(p)
	files, err := n.ConfigFiles()
	if err != nil {
		return topology.System{}, err
	}
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
	s := node.For(p, ClusterName(p), Settings(p))
	s.Server.Inspect = true
	s.Server.Manager = &node.Manager{
		ManagerProgram: *s.Program.Manager, Template: s.Program.ConfigFile, Port: RESTPort, Path: leaderPath, Pause: Paused(p),
	}
	s.Ports = append(s.Ports, corev1.ContainerPort{Name: "manager", ContainerPort: RESTPort})
	s.PodLabels = map[string]string{scopeLabel: ClusterName(p)}
	s.Env = []corev1.EnvVar{node.Field(wire.EnvPodIP, "status.podIP")}
	s.Identity, s.NamedUser = ClusterName(p), true
	return s
}

// Paused tells that Patroni is to decide nothing once the nodes are in their places. A single server has no other node to take its place.
func Paused(p topology.Params) bool {
	return p.Spec.Failover == v1alpha1.FailoverNone && p.Spec.Nodes > 1
}

// ClusterName is that of the nodes, of their cluster in Patroni's words.
func ClusterName(p topology.Params) string { return p.Name + "-db" }

func primaryName(p topology.Params) string  { return p.Name + "-db-primary" }
func replicasName(p topology.Params) string { return p.Name + "-db-replicas" }

// objects are the nodes, what they agree in, and the right to do so.
func objects(p topology.Params) []kube.Object {
	account, role, binding := kube.Identity(kube.Meta(p.Namespace, ClusterName(p), kube.ComponentNode, p.Labels), rules(p)...)
	all := append([]kube.Object{account, role, binding}, StoreMaps(p, map[string]string{scopeLabel: ClusterName(p)})...)
	all = append(all, nodes(p).Objects()...)
	return append(all, RoleServices(p, wire.RoleLabel, string(wire.RoleWriter), string(wire.RoleReader))...)
}

// StoreNames are those of the ConfigMaps that Patroni keeps: its settings, the lock, the nodes that may take it, and requests.
func StoreNames(p topology.Params) []string {
	var names []string
	for _, suffix := range []string{"config", "leader", "sync", "failover"} {
		names = append(names, ClusterName(p)+"-"+suffix)
	}
	return names
}

// StoreMaps are where Patroni keeps its state: made beforehand and empty, so that they go with the experiment, and that one which is somebody
// else's is seen. labels are those by which Patroni finds them. It writes annotations alone.
func StoreMaps(p topology.Params, labels map[string]string) []kube.Object {
	var all []kube.Object
	for _, name := range StoreNames(p) {
		meta := kube.Meta(p.Namespace, name, kube.ComponentNode, p.Labels)
		for label, value := range labels {
			meta.Labels = kube.With(meta.Labels, label, value)
		}
		all = append(all, &corev1.ConfigMap{ObjectMeta: meta})
	}
	return all
}

// RoleServices lead to the nodes of a role by the label that Patroni keeps, with its values for the node that takes the writes and for others;
// none where clients have another way. They do so for nodes that are ready: the label of one that has died stays. Routes tell of them.
func RoleServices(p topology.Params, label, writer, reader string) []kube.Object {
	if !p.RolesByLabel {
		return nil
	}
	service := func(name, role string) kube.Object {
		meta := kube.Meta(p.Namespace, name, kube.ComponentNode, p.Labels)
		return kube.Service(meta, kube.With(kube.Selector(meta), label, role), false, p.Server.Port())
	}
	return []kube.Object{service(primaryName(p), writer), service(replicasName(p), reader)}
}

// scopeLabel is on all that Patroni looks for: the nodes' pods, and the ConfigMaps in which they agree.
const scopeLabel = "replab.dev/scope"

// defaults are Patroni's own, and those of the CRD, for a topology that says nothing of it.
var defaults = v1alpha1.PatroniSpec{
	SynchronousMode: string(engine.SyncQuorum), SynchronousNodeCount: 1, TTLSeconds: 30, LoopWaitSeconds: 10, RetryTimeoutSeconds: 10,
	MaximumLagOnFailoverBytes: 1 << 20,
}

// primaryStartSeconds is Patroni's own primary_start_timeout.
const primaryStartSeconds = 300

// spec of a topology. Types that are not Patroni take the timings from it alone.
func spec(p topology.Params) v1alpha1.PatroniSpec {
	s := defaults
	if p.Spec.Patroni != nil {
		s = *p.Spec.Patroni
	}
	if p.Spec.Type != v1alpha1.TopologyPatroni {
		s.SynchronousMode, s.SynchronousNodeCount, s.Strict = string(engine.SyncOff), 1, false
	}
	return s
}

// Settings that every node runs with.
func Settings(p topology.Params) engine.Settings {
	s := spec(p)
	seconds := func(n int64) time.Duration { return time.Duration(n) * time.Second }
	return engine.Settings{
		Durability: engine.Durability(p.Spec.Durability), Parameters: p.Spec.Parameters,
		Manager: &engine.Manager{
			Scope: ClusterName(p), Namespace: p.Namespace, Labels: kube.With(p.Labels, kube.LabelComponent, kube.ComponentNode), ScopeLabel: scopeLabel,
			RoleLabel: wire.RoleLabel, WriterValue: string(wire.RoleWriter), ReaderValue: string(wire.RoleReader),
			Synchronous: engine.SyncMode(s.SynchronousMode), NodeCount: s.SynchronousNodeCount, Strict: s.Strict, Failsafe: s.FailsafeMode,
			TTL: seconds(s.TTLSeconds), LoopWait: seconds(s.LoopWaitSeconds), RetryTimeout: seconds(s.RetryTimeoutSeconds),
			PrimaryStartTimeout: seconds(ptr.Deref(s.PrimaryStartTimeoutSeconds, primaryStartSeconds)),
			MaxLagBytes:         s.MaximumLagOnFailoverBytes,
		},
	}
}

// Unsaid is what Patroni runs with, by its own names, where its store says nothing: its own values, with which commits wait for no standby.
func Unsaid(p topology.Params) map[string]string {
	keeper, ok := p.Server.(engine.Described)
	if !ok {
		return nil // Differs says so
	}
	p.Spec.Patroni, p.Spec.Type = nil, v1alpha1.TopologyAsync
	return keeper.Kept(Settings(p))
}

// CommitWaits is how many standbys a commit waits for while Patroni finds as many fit.
func CommitWaits(p topology.Params) int {
	s := spec(p)
	if s.SynchronousMode == string(engine.SyncOff) {
		return 0
	}
	return int(min(s.SynchronousNodeCount, p.Spec.Nodes-1))
}

// StandbysChosen tells that Patroni has commits wait for standbys by name. With a quorum any of all will do.
func StandbysChosen(p topology.Params) bool {
	return spec(p).SynchronousMode == string(engine.SyncOn)
}

// LossesWhileDegraded tells that writes which no standby was waited for are told apart: where Patroni may have commits wait, and stop to.
func LossesWhileDegraded(p topology.Params) bool { return p.Spec.Type == v1alpha1.TopologyPatroni }

// DegradedBy is what has no commit wait for a standby, "" where they do, or never could.
func DegradedBy(p topology.Params) string {
	if !LossesWhileDegraded(p) || CommitWaits(p) > 0 {
		return ""
	}
	return "topology.patroni.synchronousMode " + string(engine.SyncOff)
}

// promotable is how many standbys Patroni is to know of as fit before the load: those that it has commits wait for, which with a quorum are
// any of all.
func promotable(p topology.Params) int {
	if spec(p).SynchronousMode == string(engine.SyncQuorum) {
		return int(p.Spec.Nodes) - 1
	}
	return CommitWaits(p)
}

// Patroni gets this from the operator, who can grant only what he has himself; what else rules has is among the operator's own.
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=list;watch;update
// +kubebuilder:rbac:groups="",resources=pods,verbs=watch

// rules let each Patroni find the nodes and the ConfigMaps by their labels, which needs the right to look at all of the namespace, and write
// its own. It makes none: those that it needs are there.
func rules(p topology.Params) []rbacv1.PolicyRule {
	var pods []string
	for _, n := range nodes(p).Nodes() {
		pods = append(pods, n.Name)
	}
	core := []string{""}
	return []rbacv1.PolicyRule{
		{APIGroups: core, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}},
		{APIGroups: core, Resources: []string{"configmaps"}, ResourceNames: StoreNames(p), Verbs: []string{"get", "patch", "update"}},
		{APIGroups: core, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}},
		{APIGroups: core, Resources: []string{"pods"}, ResourceNames: pods, Verbs: []string{"get", "patch"}},
	}
}
