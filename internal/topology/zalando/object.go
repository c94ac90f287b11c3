package zalando

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"replab.dev/internal/engine"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/node"
	"replab.dev/internal/topology/patroni"
	"replab.dev/internal/wire"
)

// kind of the resource that the operator makes nodes of.
var kind = schema.GroupVersionKind{Group: "acid.zalan.do", Version: "v1", Kind: "postgresql"}

// controllerAnnotation names which of several operators is meant. One with an id leaves alone what does not name it, and one without what names any.
const controllerAnnotation = "acid.zalan.do/controller"

const agentContainer = "agent"

// fsGroup lets the agent write to the node's volume whatever user its container runs as. It is what that operator's documentation proposes. Where
// the platform chooses the user, both containers have the same one, and another group would be refused.
const fsGroup = 103

// Limits that say that there are none: a resource without any gets that operator's default ones.
var (
	anyCPU    = resource.MustParse("1000")
	anyMemory = resource.MustParse("1Ti")
)

// What follows is the part of the resource's spec that is used, by its own names.
type spec struct {
	TeamID            string             `json:"teamId"`
	NumberOfInstances int32              `json:"numberOfInstances"`
	DockerImage       string             `json:"dockerImage"`
	Volume            volume             `json:"volume"`
	FSGroup           *int64             `json:"spiloFSGroup,omitempty"`
	ShmVolume         bool               `json:"enableShmVolume"`
	PostgreSQL        server             `json:"postgresql"`
	Patroni           patroniSettings    `json:"patroni"`
	Resources         resources          `json:"resources"`
	Sidecars          []sidecar          `json:"sidecars"`
	AdditionalVolumes []additionalVolume `json:"additionalVolumes"`

	// Never asked for: that operator's configuration may order load balancers, from outside of the cluster, for whoever does not say so.
	MasterLoadBalancer  bool `json:"enableMasterLoadBalancer"`
	ReplicaLoadBalancer bool `json:"enableReplicaLoadBalancer"`

	NodeAffinity         *corev1.NodeAffinity `json:"nodeAffinity,omitempty"`
	Tolerations          []corev1.Toleration  `json:"tolerations,omitempty"`
	PodPriorityClassName string               `json:"podPriorityClassName,omitempty"`
	PodAnnotations       map[string]string    `json:"podAnnotations,omitempty"`
}

type volume struct {
	Size         string `json:"size"`
	StorageClass string `json:"storageClass,omitempty"`
}

type server struct {
	Version    string            `json:"version"`
	Parameters map[string]string `json:"parameters"`
}

type patroniSettings struct {
	TTL                   int64             `json:"ttl"`
	LoopWait              int64             `json:"loop_wait"`
	RetryTimeout          int64             `json:"retry_timeout"`
	MaximumLagOnFailover  int64             `json:"maximum_lag_on_failover"`
	SynchronousMode       bool              `json:"synchronous_mode"`
	SynchronousModeStrict bool              `json:"synchronous_mode_strict"`
	SynchronousNodeCount  int32             `json:"synchronous_node_count"`
	FailsafeMode          bool              `json:"failsafe_mode"`
	InitDB                map[string]string `json:"initdb"`
	PgHba                 []string          `json:"pg_hba"`
}

type resources struct {
	Requests quantities `json:"requests"`
	Limits   quantities `json:"limits"`
}

type quantities struct {
	CPU    string `json:"cpu"`
	Memory string `json:"memory"`
}

type sidecar struct {
	Name      string                 `json:"name"`
	Image     string                 `json:"image"`
	Command   []string               `json:"command"`
	Env       []corev1.EnvVar        `json:"env"`
	Ports     []corev1.ContainerPort `json:"ports"`
	Resources resources              `json:"resources"`
}

type additionalVolume struct {
	Name             string              `json:"name"`
	MountPath        string              `json:"mountPath"`
	TargetContainers []string            `json:"targetContainers"`
	VolumeSource     corev1.VolumeSource `json:"volumeSource"`
}

// ForeignKind implements topology.Foreign. NotServed has no command: an installation without that page's settings serves no experiment, and everybody
// else's clusters.
func (Driver) ForeignKind() kube.ForeignKind {
	return kube.ForeignKind{
		GroupVersionKind: kind,
		NotServed:        "provider ZalandoOperator: this cluster has no Zalando operator. Install one for experiments alone (docs/how-to/zalando.md), or use provider StatefulSet",
		Forbidden:        "provider ZalandoOperator: replab's operator may not create postgresqls.acid.zalan.do. Set rbac.zalandoOperator in its chart, or apply config/zalando",
	}
}

// Object implements topology.Foreign.
func (Driver) Object(p topology.Params) *unstructured.Unstructured {
	s := specOf(p)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&s)
	if err != nil {
		panic(fmt.Sprintf("the spec of a %s cannot be written: %v", kind.Kind, err)) // a struct of texts and numbers can
	}
	o := &unstructured.Unstructured{Object: map[string]any{"spec": content}}
	o.SetGroupVersionKind(kind)
	meta := kube.Meta(p.Namespace, clusterName(p), kube.ComponentNode, p.Labels)
	o.SetNamespace(meta.Namespace)
	o.SetName(meta.Name)
	o.SetLabels(meta.Labels)
	if id := p.Foreign.ControllerID; id != "" {
		o.SetAnnotations(map[string]string{controllerAnnotation: id})
	}
	return o
}

func specOf(p topology.Params) spec {
	s := spec{
		TeamID: p.Name, NumberOfInstances: p.Spec.Nodes, DockerImage: p.Images.Server, ShmVolume: true, // the name begins with the team's
		Volume:    volume{Size: p.Spec.Storage.Size.String(), StorageClass: p.Spec.Storage.ClassName},
		Resources: stated(p),
		Sidecars: []sidecar{{
			Name: agentContainer, Image: p.Images.Replab, Command: []string{"/replab", "agent", "--config", wire.ConfigDir + "/" + agentConfig},
			Env:       []corev1.EnvVar{node.Field(wire.EnvPodUID, "metadata.uid"), kube.MetricsEnv()}, // that operator gives it the rest
			Ports:     []corev1.ContainerPort{{Name: agentContainer, ContainerPort: wire.PortAgent, Protocol: corev1.ProtocolTCP}, kube.MetricsPort()},
			Resources: limited(kube.Requests("10m", "24Mi", "128Mi"), corev1.ResourceRequirements{}),
		}},
	}
	if !p.PlatformUser {
		s.FSGroup = ptr.To[int64](fsGroup)
	}
	forAgent := func(path string, v corev1.Volume) additionalVolume {
		return additionalVolume{Name: v.Name, MountPath: path, TargetContainers: []string{agentContainer}, VolumeSource: v.VolumeSource}
	}
	s.AdditionalVolumes = []additionalVolume{
		forAgent(wire.ConfigDir, kube.ConfigVolume(p.Name, agentConfig)),
		forAgent(wire.SecretsDir, kube.SecretsVolume(p.Name, append(wire.Accounts(), wire.AgentTokenFile)...)),
	}
	s.NodeAffinity, s.Tolerations = machines(p.NodePods), p.NodePods.Tolerations
	s.PodPriorityClassName, s.PodAnnotations = p.NodePods.PriorityClassName, p.NodePods.Annotations
	settings := patroni.Settings(p)
	m := settings.Manager
	s.Patroni = patroniSettings{
		TTL: int64(m.TTL.Seconds()), LoopWait: int64(m.LoopWait.Seconds()), RetryTimeout: int64(m.RetryTimeout.Seconds()), MaximumLagOnFailover: m.MaxLagBytes,
		SynchronousMode: m.Synchronous == engine.SyncOn, SynchronousModeStrict: m.Strict, SynchronousNodeCount: m.NodeCount, FailsafeMode: m.Failsafe,
	}
	if described, ok := p.Server.(engine.Described); ok {
		d := described.Describe(settings)
		s.PostgreSQL = server{Version: d.Version, Parameters: d.Parameters}
		s.Patroni.InitDB, s.Patroni.PgHba = d.Initialization, d.Access
	}
	return s
}

// stated are the resources that a server is to have.
func stated(p topology.Params) resources {
	return limited(p.NodeResources(), corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("512Mi")}})
}

// limited states all that is not said, as Kubernetes would take it for, and what is asked for where nothing at all is.
func limited(r, otherwise corev1.ResourceRequirements) resources {
	if r.Requests == nil && r.Limits == nil {
		r = otherwise
	}
	limits := quantities{CPU: cpu(r.Limits, anyCPU), Memory: memory(r.Limits, anyMemory)}
	requests := quantities{CPU: cpu(r.Requests, or(r.Limits, corev1.ResourceCPU, "1m")), Memory: memory(r.Requests, or(r.Limits, corev1.ResourceMemory, "1Mi"))}
	return resources{Requests: requests, Limits: limits}
}

// or is a quantity of a list, or another one.
func or(list corev1.ResourceList, name corev1.ResourceName, otherwise string) resource.Quantity {
	if q, ok := list[name]; ok {
		return q
	}
	return resource.MustParse(otherwise)
}

// cpu and memory are written as the resource takes them, which knows fewer ways than Kubernetes.
func cpu(list corev1.ResourceList, otherwise resource.Quantity) string {
	q := or(list, corev1.ResourceCPU, otherwise.String())
	return strconv.FormatInt(q.MilliValue(), 10) + "m"
}

func memory(list corev1.ResourceList, otherwise resource.Quantity) string {
	q := or(list, corev1.ResourceMemory, otherwise.String())
	if q.IsZero() {
		return "0Ki" // that operator takes a bare 0 for nothing said
	}
	return strconv.FormatInt(q.Value(), 10)
}
