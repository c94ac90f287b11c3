// Package provenance says what an experiment ran on: which images under which names, on which machines. It is pure.
package provenance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/kube"
)

// Provenance of an experiment's figures.
type Provenance struct {
	Operator   string      `json:"operator"`   // version of the operator that judged
	Containers []Container `json:"containers"` // of the pods that were there when it did, by pod and name
	Machines   []Machine   `json:"machines,omitempty"`
	// MachinesUnknown says why the machines are not described, such as an operator that may not read them.
	MachinesUnknown string `json:"machinesUnknown,omitempty"`
}

// Container is what one container was made of.
type Container struct {
	Pod       string `json:"pod"`
	Component string `json:"component"`
	Name      string `json:"name"`
	Image     string `json:"image"`             // as the plan names it
	ImageID   string `json:"imageID,omitempty"` // what the machine took for it, by digest
	Machine   string `json:"machine,omitempty"`
	// PodCreatedAt is when its pod was created, by the clock of the API server. One that took another's place has the same name, and its own time.
	PodCreatedAt *metav1.Time `json:"podCreatedAt,omitempty"`
	// StartedAt is when it was started last, EndedAt when it ended last, with ExitCode, by the clock of its machine: absent where it does not
	// run, or never ended.
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	EndedAt   *metav1.Time `json:"endedAt,omitempty"`
	ExitCode  *int32       `json:"exitCode,omitempty"`
}

// Machine is a node of the cluster that ran pods of the experiment.
type Machine struct {
	Name             string `json:"name"`
	Kernel           string `json:"kernel"`
	OperatingSystem  string `json:"operatingSystem"`
	Architecture     string `json:"architecture"`
	ContainerRuntime string `json:"containerRuntime"`
	CPUs             int64  `json:"cpus"`
	MemoryBytes      int64  `json:"memoryBytes"`
}

// Of describes the pods of an experiment and the machines that they ran on.
func Of(operator string, pods []corev1.Pod, machines []corev1.Node) Provenance {
	p := Provenance{Operator: operator, Containers: []Container{}}
	used := map[string]bool{}
	for i := range pods {
		used[pods[i].Spec.NodeName] = true
		p.Containers = append(p.Containers, containers(&pods[i])...)
	}
	slices.SortFunc(p.Containers, func(a, b Container) int {
		return cmp.Or(strings.Compare(a.Pod, b.Pod), strings.Compare(a.Name, b.Name))
	})
	for i := range machines {
		if used[machines[i].Name] {
			p.Machines = append(p.Machines, machine(&machines[i]))
		}
	}
	return p
}

func containers(pod *corev1.Pod) []Container {
	statuses := map[string]corev1.ContainerStatus{}
	for _, s := range append(slices.Clone(pod.Status.InitContainerStatuses), pod.Status.ContainerStatuses...) {
		statuses[s.Name] = s
	}
	var found []Container
	for _, c := range append(slices.Clone(pod.Spec.InitContainers), pod.Spec.Containers...) {
		s := statuses[c.Name]
		one := Container{
			Pod: pod.Name, Component: pod.Labels[kube.LabelComponent], Name: c.Name, Image: c.Image, ImageID: s.ImageID, Machine: pod.Spec.NodeName,
			PodCreatedAt: &pod.CreationTimestamp,
		}
		if s.State.Running != nil {
			one.StartedAt = &s.State.Running.StartedAt
		}
		if end := cmp.Or(s.State.Terminated, s.LastTerminationState.Terminated); end != nil && !end.FinishedAt.IsZero() { // the kubelet may have lost sight of it
			one.EndedAt, one.ExitCode = &end.FinishedAt, &end.ExitCode
		}
		found = append(found, one)
	}
	return found
}

func machine(n *corev1.Node) Machine {
	info := n.Status.NodeInfo
	return Machine{
		Name: n.Name, Kernel: info.KernelVersion, OperatingSystem: info.OSImage, Architecture: info.Architecture,
		ContainerRuntime: info.ContainerRuntimeVersion,
		CPUs:             n.Status.Capacity.Cpu().Value(), MemoryBytes: n.Status.Capacity.Memory().Value(),
	}
}

// Differences are names that stood for several images at once: what was compared within the experiment was not the same then.
func (p Provenance) Differences() []string {
	first := map[string]Container{}
	var found []string
	for _, c := range p.Containers {
		f, seen := first[c.Image]
		switch {
		case c.ImageID == "":
		case !seen:
			first[c.Image] = c
		case f.ImageID != c.ImageID:
			found = append(found, fmt.Sprintf("%s was %s in container %s of pod %s, and %s in container %s of pod %s",
				c.Image, f.ImageID, f.Name, f.Pod, c.ImageID, c.Name, c.Pod))
		}
	}
	return found
}
