// Package plan turns an experiment into its objects. It is pure, and golden files keep its results.
package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/kube"
	"replab.dev/internal/load"
	"replab.dev/internal/proxy"
	proxies "replab.dev/internal/proxy/registry"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/registry"
	"replab.dev/internal/wire"
)

// Plan is every object of an experiment, apart from the random Secret, and the audit, which needs the nodes' roles.
type Plan struct {
	// Deploy are the objects of the system under test and the recorder.
	Deploy []kube.Object
	// Seed loads the users.
	Seed *batchv1.Job
	// Load has k6 run: what the runner of load.runner makes.
	Load []kube.Object
	// Watched are the objects by which it is told how the load stands: see load.Runner.
	Watched []kube.Object
	// Pods is how many pods Deploy has when all are there, those of other controllers included.
	Pods int
	// Proxy are the settings of the proxy, nil without one.
	Proxy map[string]string
	// SendsTwice: the proxy may send a statement again.
	SendsTwice bool
	// Nodes are the pods of the database nodes in their order.
	Nodes []string
	// CommitWaits is for how many other nodes a commit waits: see topology.System.
	CommitWaits int
	// StandbysChosen, by a manager: see topology.System.
	StandbysChosen bool
	// LossesWhileDegraded and DegradedBy: see topology.System.
	LossesWhileDegraded bool
	DegradedBy          string
	// Independent nodes take writes: see topology.System.
	Independent bool
	// CountGroup: the nodes are members of a group, see topology.System.
	CountGroup bool
	// ReadsWait for the commits of other nodes: see topology.System.
	ReadsWait bool
	// Store: the nodes agree on the writer in the API server: see topology.System.
	Store bool
}

// Input of Build.
type Input struct {
	Experiment *v1alpha1.ReplicationExperiment
	// Images are those of the run: see Images.
	Images        v1alpha1.ImagesStatus
	ClusterDomain string
	// OperatorNamespace is where the operator runs, empty outside of the cluster.
	OperatorNamespace string
	// Prometheus may read the processes' metrics; nil if none may.
	Prometheus *wire.PodPeer
	// Pods are the operator's settings of all experiments' pods.
	Pods *v1alpha1.PodsSpec
	// PlatformUser leaves the pods' users to the platform.
	PlatformUser bool
	// ForeignOperators are those that make nodes, by provider, or run k6, by load.runner.
	ForeignOperators map[string]wire.ForeignOperator
	Servers          engine.Lookup[engine.Server]
}

// builder carries what every part of the plan needs.
type builder struct {
	topology.Params
	spec   *v1alpha1.ReplicationExperimentSpec
	system topology.System
	proxy  proxy.System

	proxyTraits       proxy.Traits
	operatorNamespace string
	prometheus        *wire.PodPeer
	podDefaults       *v1alpha1.PodsSpec
	platformUser      bool
	foreignOperators  map[string]wire.ForeignOperator
}

func newBuilder(in Input) (*builder, error) {
	x := in.Experiment
	driver, err := registry.For(x.Spec.Topology)
	if err != nil {
		return nil, err
	}
	routing, err := proxies.For(x.Spec.Routing.Proxy)
	if err != nil {
		return nil, err
	}
	if _, err := in.Servers.For(string(registry.Engine(x.Spec.Topology))); err != nil {
		return nil, err
	}
	params := Params(in)
	system, err := driver.System(params)
	if err != nil {
		return nil, err
	}
	b := &builder{
		Params: params, spec: &x.Spec, system: system, proxyTraits: routing.Traits(),
		operatorNamespace: in.OperatorNamespace, prometheus: in.Prometheus, podDefaults: in.Pods, platformUser: in.PlatformUser,
		foreignOperators: in.ForeignOperators,
	}
	b.proxy = routing.System(b.proxyParams())
	return b, nil
}

// Params returns what the topology's driver is told.
func Params(in Input) topology.Params {
	x := in.Experiment
	name := string(registry.Engine(x.Spec.Topology))
	routing, err := proxies.For(x.Spec.Routing.Proxy) // Build tells of an error
	return topology.Params{
		RolesByLabel: err == nil && routing.Traits().RolesByLabel,
		WriteAll:     x.Spec.Routing.Writes == v1alpha1.WritesAll,
		Name:         x.Name, Namespace: x.Namespace, Labels: Labels(x.Name),
		Spec: x.Spec.Topology, Faults: x.Spec.Faults,
		Images: in.Images, ClusterDomain: in.ClusterDomain,
		Engine: name, Server: in.Servers[name], // Build has refused one that is not there
		Foreign: in.ForeignOperators[registry.Provider(x.Spec.Topology)], NodePods: nodePods(in.Pods, x.Spec.Pods), PlatformUser: in.PlatformUser,
	}
}

// Labels of every object of an experiment.
func Labels(experiment string) map[string]string {
	return map[string]string{kube.LabelManagedBy: kube.ManagedBy, kube.LabelExperiment: experiment}
}

// Build returns the plan of an experiment whose defaults are filled in, as the API server does.
func Build(in Input) (Plan, error) {
	b, err := newBuilder(in)
	if err != nil {
		return Plan{}, err
	}
	config, err := b.configMap()
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Deploy: append(b.policies(), config)}
	p.Deploy = append(p.Deploy, b.system.Objects...)
	p.Deploy = append(p.Deploy, b.proxy.Objects...)
	p.Deploy = append(p.Deploy, b.socialObjects()...)
	p.Deploy = append(p.Deploy, b.recorderObjects()...)
	p.Pods, p.Proxy, p.SendsTwice = pods(p.Deploy)+b.system.Pods, b.proxy.Settings, b.paths().SendsTwice
	p.CommitWaits, p.ReadsWait, p.Store = b.system.CommitWaits, b.system.ReadsWait, b.system.Store
	p.Independent, p.CountGroup = b.system.Independent, b.system.CountGroup
	p.StandbysChosen, p.LossesWhileDegraded, p.DegradedBy = b.system.StandbysChosen, b.system.LossesWhileDegraded, b.system.DegradedBy
	for _, n := range b.system.Nodes {
		p.Nodes = append(p.Nodes, n.Name)
	}
	p.Seed = b.seedJob()
	if p.Load, p.Watched, err = b.loadObjects(); err != nil {
		return Plan{}, err
	}
	if err := b.finish(append(slices.Clone(p.Deploy), p.Seed)...); err != nil {
		return Plan{}, err
	}
	nameUsers(config, p.Deploy)
	return p, nil
}

// Controllers names the objects that make pods, including those that other operators make of the plan's objects.
func (p Plan) Controllers() []string {
	var names []string
	for _, o := range p.Deploy {
		if _, foreign := o.(*unstructured.Unstructured); foreign || template(o) != nil {
			names = append(names, o.GetName())
		}
	}
	names = append(names, p.Seed.Name)
	for _, w := range p.Watched {
		names = append(names, w.GetName())
	}
	return names
}

// Templates are those of the pods, by the names of the objects that make them. Pods of other operators' objects have none.
func (p Plan) Templates() map[string]*corev1.PodTemplateSpec {
	all := map[string]*corev1.PodTemplateSpec{}
	for _, o := range append(append(slices.Clone(p.Deploy), p.Seed), p.Load...) {
		if t := template(o); t != nil {
			all[o.GetName()] = t
		}
	}
	return all
}

func pods(objects []kube.Object) int {
	n := int32(0)
	for _, o := range objects {
		switch o := o.(type) {
		case *appsv1.StatefulSet:
			n += *o.Spec.Replicas
		case *appsv1.Deployment:
			n += *o.Spec.Replicas
		}
	}
	return int(n)
}

// Hash identifies all objects of the plan. It writes them out whole, which takes as long as to plan them.
func (p Plan) Hash() (string, error) {
	text, err := json.Marshal([]any{p.Deploy, p.Seed, p.Load})
	if err != nil {
		return "", fmt.Errorf("hash the plan: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// configMap holds the configuration file of every process; each pod mounts its own alone.
func (b *builder) configMap() (*corev1.ConfigMap, error) {
	files := maps.Clone(b.system.Files)
	maps.Copy(files, b.proxy.Files)
	for name, config := range map[string]any{"social.json": b.socialConfig(), "recorder.json": b.recorderConfig(), "seed.json": b.seedConfig()} {
		text, err := json.MarshalIndent(config, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = string(text)
	}
	for name, script := range load.Files(b.spec.Load.Script) {
		files[name] = script
	}
	return &corev1.ConfigMap{ObjectMeta: kube.Meta(b.Namespace, b.Name+kube.ConfigMapSuffix, "config", b.Labels), Data: files}, nil
}

func (b *builder) proxyParams() proxy.Params {
	return proxy.Params{
		Name: b.Name, Namespace: b.Namespace, Labels: b.Labels, Spec: b.spec.Routing, Nodes: b.system.Nodes,
		Routes: b.system.Routes, Images: b.Images, ClusterDomain: b.ClusterDomain, ReadsReplicas: readsReplicas(b.spec),
		RoundTrip: time.Duration(topology.FarthestNode(b.spec.Topology, b.spec.App.Zone)) * time.Microsecond,
	}
}

// paths are the ways of the app and of the seed to the nodes.
func (b *builder) paths() proxy.Paths {
	p := b.proxy.Paths
	if !readsReplicas(b.spec) {
		p.Reads = p.Writes
	}
	return p
}

func readsReplicas(s *v1alpha1.ReplicationExperimentSpec) bool {
	return s.Routing.Reads != v1alpha1.ReadsPrimary && s.Topology.Nodes > 1
}
