// Package zalando is the driver of the topology whose nodes the Zalando operator makes: replab states a `postgresql` resource, and its agents
// watch the servers from within the pods that come of it, as sidecars. Patroni runs the servers as it does in package patroni, which makes
// sense of what the agents tell.
package zalando

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/patroni"
	"replab.dev/internal/wire"
)

// Driver implements topology.Driver, topology.Foreign and topology.Remaker.
type Driver struct{}

var (
	_ topology.Foreign = Driver{}
	_ topology.Remaker = Driver{}
)

// Patroni's labels in the pods of that operator, as its default configuration has them.
const (
	roleLabel     = "spilo-role"
	primaryRole   = "master"
	replicaRole   = "replica"
	scopeLabel    = "cluster-name"
	familyLabel   = "application"
	family        = "spilo"
	operatorName  = "postgres-operator" // its chart's, and the namespace that its documentation puts it into
	podNameLabel  = "statefulset.kubernetes.io/pod-name"
	agentConfig   = "agent.json"
	volumeDir     = "/home/postgres/pgdata" // where that operator mounts a node's volume, in its sidecars too
	agentStateDir = volumeDir + "/replab-agent"
)

// System implements topology.Driver.
func (Driver) System(p topology.Params) (topology.System, error) {
	if len(p.Spec.Links) > 0 {
		return topology.System{}, fmt.Errorf("topology.links need agents that may change the network of the nodes' pods, which the Zalando operator's sidecars may not: remove them, or use patroni.provider StatefulSet")
	}
	if _, ok := p.Server.(engine.Described); !ok {
		return topology.System{}, errors.New(notDescribed(p))
	}
	text, err := json.MarshalIndent(agent(p), "", "  ")
	if err != nil {
		return topology.System{}, fmt.Errorf("%s: %w", agentConfig, err)
	}
	waits := patroni.CommitWaits(p)
	return topology.System{
		Nodes: nodes(p), Objects: objects(p), Files: map[string]string{agentConfig: string(text)}, Routes: patroni.Routes(p),
		Settings: patroni.Settings(p), Store: true, CountCommits: waits > 0, CommitWaits: waits, StandbysChosen: patroni.StandbysChosen(p),
		LossesWhileDegraded: patroni.LossesWhileDegraded(p), DegradedBy: patroni.DegradedBy(p),
		Pods:   int(p.Spec.Nodes),
		Guests: []topology.Guest{guest(p)},
	}, nil
}

// guest is that operator, which makes users on the servers and asks Patroni. Nothing but the network keeps others from Patroni in its pods:
// they ask for no password.
func guest(p topology.Params) topology.Guest {
	labels := p.Foreign.PodLabels
	if len(labels) == 0 {
		labels = map[string]string{"app.kubernetes.io/name": operatorName}
	}
	return topology.Guest{
		Namespace: cmp.Or(p.Foreign.Namespace, operatorName), Labels: labels, Ports: []int{p.Server.Port(), patroni.RESTPort},
	}
}

// Questions implements topology.Driver.
func (Driver) Questions(p topology.Params) []topology.Question { return topology.AskAgents(nodes(p)) }

// Assess implements topology.Driver.
func (Driver) Assess(p topology.Params, answers topology.Answers) topology.State {
	return cluster(p).Assess(answers)
}

// Switchover implements topology.Driver.
func (Driver) Switchover(p topology.Params, name, from string) topology.Request {
	return topology.SwitchAgent(nodes(p), name, from)
}

func cluster(p topology.Params) patroni.Cluster {
	return patroni.Cluster{Params: p, Nodes: nodes(p), Lacks: func(writer wire.ManagerState) string {
		if !writer.Furnished {
			return "the app's accounts and tables are not made yet"
		}
		return patroni.Differs(p, writer.Config, patroni.Unsaid(p), same) // that operator leaves out what is off or has no value
	}}
}

// nodes are found by Services of their own: the one that governs their names has no endpoints of theirs.
func nodes(p topology.Params) []wire.Node {
	all := make([]wire.Node, 0, p.Spec.Nodes)
	for i := range p.Spec.Nodes {
		name := fmt.Sprintf("%s-%d", clusterName(p), i)
		all = append(all, wire.Node{Name: name, Host: p.Host(hostService(name))})
	}
	return all
}

func agent(p topology.Params) wire.AgentConfig {
	c := wire.AgentConfig{
		Listen: fmt.Sprintf(":%d", wire.PortAgent), Engine: p.Engine, StateDir: agentStateDir, SecretDir: wire.SecretsDir,
		Manager: &wire.ManagerConfig{URL: fmt.Sprintf("http://127.0.0.1:%d", patroni.RESTPort)},
		Remote: &wire.RemoteConfig{
			Server: wire.Endpoint{Host: "127.0.0.1", Port: p.Server.Port()}, AccountFrom: "POSTGRES_USER", PasswordFrom: "POSTGRES_PASSWORD",
		},
	}
	if patroni.Paused(p) {
		c.Manager.PauseAt = int(p.Spec.Nodes)
	}
	return c
}

func objects(p topology.Params) []kube.Object {
	all := patroni.StoreMaps(p, scope(p))
	for _, n := range nodes(p) {
		meta := kube.Meta(p.Namespace, hostService(n.Name), kube.ComponentNode, p.Labels)
		selector := kube.With(kube.Selector(meta), podNameLabel, n.Name)
		all = append(all, kube.Service(meta, selector, true, p.Server.Port(), patroni.RESTPort, wire.PortAgent))
	}
	all = append(all, patroni.RoleServices(p, roleLabel, primaryRole, replicaRole)...)
	return append(all, Driver{}.Object(p))
}

// Remade implements topology.Remaker: Patroni makes each of its ConfigMaps that it misses.
func (Driver) Remade(p topology.Params) topology.Remade {
	return topology.Remade{Set: clusterName(p), ConfigMaps: patroni.StoreNames(p), Labels: scope(p)}
}

// scope are the labels by which Patroni finds its ConfigMaps.
func scope(p topology.Params) map[string]string {
	return map[string]string{scopeLabel: clusterName(p), familyLabel: family}
}

func clusterName(p topology.Params) string { return patroni.ClusterName(p) }
func hostService(node string) string       { return node + "-host" }

// machines are those on which the nodes' pods may run, nil where any will do. The resource knows no selector of machines: each label of one is
// asked for in every term, of which one has to hold.
func machines(asked v1alpha1.PodSettings) *corev1.NodeAffinity {
	var affinity corev1.NodeAffinity
	if asked.Affinity != nil && asked.Affinity.NodeAffinity != nil {
		affinity = *asked.Affinity.NodeAffinity.DeepCopy()
	} else if len(asked.NodeSelector) == 0 {
		return nil
	}
	if len(asked.NodeSelector) == 0 {
		return &affinity
	}
	if affinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		affinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	terms := affinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		for _, label := range slices.Sorted(maps.Keys(asked.NodeSelector)) {
			terms[i].MatchExpressions = append(terms[i].MatchExpressions, corev1.NodeSelectorRequirement{
				Key: label, Operator: corev1.NodeSelectorOpIn, Values: []string{asked.NodeSelector[label]},
			})
		}
	}
	return &affinity
}

// same compares numbers as numbers: that operator writes large ones with an exponent.
func same(a, b string) bool {
	x, notX := strconv.ParseFloat(a, 64)
	y, notY := strconv.ParseFloat(b, 64)
	return a == b || notX == nil && notY == nil && x == y
}

// notDescribed says that a resource would be stated of servers of which nobody said what they are to be.
func notDescribed(p topology.Params) string {
	return fmt.Sprintf("engine %s does not say what another operator is to make of its servers", p.Engine)
}

// What comes of the resource the Zalando operator makes and removes, but for pods that it has not got to. It is a right to the
// databases of everybody whom that operator serves, so that it is generated on its own, and given where somebody asks for it: by the chart
// where rbac.zalandoOperator is true, or with config/zalando.
// +kubebuilder:rbac:groups=acid.zalan.do,resources=postgresqls,verbs=get;create;patch;deletecollection
