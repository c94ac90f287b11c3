// Package replication is the driver of the topologies with one primary and its replicas: alone, asynchronous and semi-synchronous. They
// differ in the number of replicas and in what commits wait for; the director manages all three.
package replication

import (
	"encoding/json"
	"fmt"

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

// Driver implements topology.Driver for Single, Async and SemiSync.
type Driver struct{}

const directorConfigFile = "director.json"

// Timing of the director that cannot be set: no outage depends on it.
const (
	timeoutMilliseconds   = 1000 // of one look; the rule of topology.director counts with it
	catchUpMilliseconds   = 30000
	rejoinMaxMilliseconds = 120000
)

// System implements topology.Driver.
func (Driver) System(p topology.Params) (topology.System, error) {
	configuration, err := files(p)
	system := topology.System{
		Nodes: nodes(p).Nodes(), Objects: objects(p), Files: configuration, Routes: routes(p),
		Settings: settings(p), Clocks: clocks(p),
	}
	if s := semiSync(p); s != nil {
		system.CountCommits, system.CommitWaits = true, int(s.AckReplicas)
	}
	return system, err
}

func routes(p topology.Params) topology.Routes {
	return topology.Routes{
		Port: p.Server.Port(), CheckPort: wire.PortAgent,
		WriterPath: wire.AgentPathPrimary, ReaderPath: wire.AgentPathReplica,
		Writer:  wire.Endpoint{Host: p.Host(primaryName(p)), Port: p.Server.Port()},
		Readers: wire.Endpoint{Host: p.Host(replicasName(p)), Port: p.Server.Port()},
	}
}

func files(p topology.Params) (map[string]string, error) {
	files, err := nodes(p).ConfigFiles()
	if err != nil {
		return nil, err
	}
	director, err := json.MarshalIndent(directorConfig(p), "", "  ")
	if err != nil {
		return nil, err
	}
	files[directorConfigFile] = string(director)
	return files, nil
}

func objects(p topology.Params) []kube.Object {
	all := nodes(p).Objects()
	if p.RolesByLabel {
		all = append(all, roleService(p, primaryName(p), wire.RoleWriter), roleService(p, replicasName(p), wire.RoleReader))
	}
	return append(all, directorObjects(p)...)
}

// Rejoin implements topology.Driver.
func (Driver) Rejoin(p topology.Params, name string) topology.Request {
	body, _ := json.Marshal(wire.RejoinRequest{Node: name}) // a struct of one string always marshals
	return topology.Request{Method: "POST", URL: directorURL(p) + wire.DirectorPathRejoin, Body: body}
}

// Switchover implements topology.Driver.
func (Driver) Switchover(p topology.Params, name, from string) topology.Request {
	body, _ := json.Marshal(wire.SwitchoverRequest{Name: name, From: from}) // a struct of strings always marshals
	return topology.Request{Method: "POST", URL: directorURL(p) + wire.DirectorPathSwitchover, Body: body}
}

func nodes(p topology.Params) node.Spec {
	s := node.For(p, nodesName(p), settings(p))
	s.Server.Leases = true
	if p.Spec.Nodes > 1 { // there is another node to become a copy
		s.Server.CopyPort = s.Program.CopyPort
	}
	return s
}

// roleService leads to the nodes of a role, ready or not: the director alone decides who has it.
func roleService(p topology.Params, name string, role wire.Role) *corev1.Service {
	meta := kube.Meta(p.Namespace, name, kube.ComponentNode, p.Labels)
	s := kube.Service(meta, kube.With(kube.Selector(meta), wire.RoleLabel, string(role)), false, p.Server.Port())
	s.Spec.PublishNotReadyAddresses = true
	return s
}

func directorConfig(p topology.Params) wire.DirectorConfig {
	c := wire.DirectorConfig{
		Namespace: p.Namespace, StateMap: directorStateName(p), Engine: p.Engine, Nodes: nodes(p).Nodes(), Port: p.Server.Port(),
		SecretDir: wire.SecretsDir,
		Listen:    fmt.Sprintf(":%d", wire.PortDirector),
		Failover:  p.Spec.Failover != v1alpha1.FailoverNone && p.Spec.Nodes > 1,
		LabelPods: p.RolesByLabel,

		ProbeMilliseconds: p.Spec.Director.PeriodMilliseconds, TimeoutMilliseconds: timeoutMilliseconds,
		FailureThreshold: int(p.Spec.Director.FailureThreshold), LeaseMilliseconds: p.Spec.Director.LeaseMilliseconds,
		CatchUpMilliseconds: catchUpMilliseconds, RejoinMaxMilliseconds: rejoinMaxMilliseconds,
	}
	if s := semiSync(p); s != nil {
		c.SemiSync = &wire.SemiSync{AckReplicas: int(s.AckReplicas), TimeoutMilliseconds: s.TimeoutMilliseconds}
	}
	return c
}

// settings that every node runs with.
func settings(p topology.Params) engine.Settings {
	s := engine.Settings{Durability: engine.Durability(p.Spec.Durability), Parameters: p.Spec.Parameters}
	if sync := semiSync(p); sync != nil {
		s.SemiSync = &engine.SemiSync{
			AckReplicas: int(sync.AckReplicas), TimeoutMilliseconds: sync.TimeoutMilliseconds, AfterCommit: sync.WaitPoint == v1alpha1.WaitAfterCommit,
		}
	}
	return s
}

// semiSync returns the settings of a SemiSync topology with their defaults, nil for the others.
func semiSync(p topology.Params) *v1alpha1.SemiSyncSpec {
	if p.Spec.Type != v1alpha1.TopologySemiSync {
		return nil
	}
	if p.Spec.SemiSync != nil {
		return p.Spec.SemiSync
	}
	return &v1alpha1.SemiSyncSpec{AckReplicas: 1, TimeoutMilliseconds: 10000, WaitPoint: v1alpha1.WaitAfterSync}
}

func directorURL(p topology.Params) string {
	return fmt.Sprintf("http://%s:%d", p.Host(directorName(p)), wire.PortDirector)
}

func nodesName(p topology.Params) string         { return p.Name + "-db" }
func primaryName(p topology.Params) string       { return p.Name + "-db-primary" }
func replicasName(p topology.Params) string      { return p.Name + "-db-replicas" }
func directorName(p topology.Params) string      { return p.Name + "-director" }
func directorStateName(p topology.Params) string { return p.Name + "-director-state" }

// directorObjects run one director. A StatefulSet never has two pods under one name at once, so neither are there two
// directors.
func directorObjects(p topology.Params) []kube.Object {
	meta := kube.Meta(p.Namespace, directorName(p), kube.ComponentManager, p.Labels)
	account, role, binding := kube.Identity(meta, directorRules(p)...)
	state := &corev1.ConfigMap{ObjectMeta: kube.Meta(p.Namespace, directorStateName(p), kube.ComponentManager, p.Labels)}
	set := kube.Singleton(meta, corev1.PodSpec{
		SecurityContext: kube.PodSecurity(), ServiceAccountName: meta.Name, AutomountServiceAccountToken: ptr.To(true),
		TerminationGracePeriodSeconds: ptr.To[int64](5), EnableServiceLinks: ptr.To(false),
		Containers: []corev1.Container{directorContainer(p)},
		Volumes: []corev1.Volume{
			kube.ConfigVolume(p.Name, directorConfigFile),
			kube.SecretsVolume(p.Name, wire.AccountAdmin, wire.AccountReplication, wire.AgentTokenFile),
		},
	})
	return []kube.Object{account, role, binding, state, kube.Service(meta, kube.Selector(meta), true, wire.PortDirector), set}
}

func directorContainer(p topology.Params) corev1.Container {
	c := kube.Container(p.Images, "director")
	c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: wire.PortDirector}}
	kube.Metered(&c)
	c.ReadinessProbe = kube.HTTPProbe(wire.DirectorPathHealth, wire.PortDirector, 5)
	c.Resources = kube.Requests("10m", "24Mi", "128Mi")
	return c
}

// directorRules let it renew its own state and, where Services select by role, label its own nodes.
func directorRules(p topology.Params) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{kube.OwnConfigMap(directorStateName(p))}
	if !p.RolesByLabel {
		return rules
	}
	var names []string
	for _, n := range nodes(p).Nodes() {
		names = append(names, n.Name)
	}
	return append(rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: names, Verbs: []string{"get", "patch"}})
}
