package provenance

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/kube"
)

var created, started = metav1.Unix(1_699_999_990, 0), metav1.Unix(1_700_000_000, 0)

func pod(name, machine string, ids map[string]string) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: created, Labels: map[string]string{kube.LabelComponent: kube.ComponentNode}}}
	p.Spec.NodeName = machine
	p.Spec.InitContainers = []corev1.Container{{Name: "copy", Image: "replab:1"}}
	p.Spec.Containers = []corev1.Container{{Name: "server", Image: "mysql:9"}}
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "copy", Image: "docker.io/replab:1", ImageID: ids["copy"]}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "server", ImageID: ids["server"]}}
	if ids != nil {
		p.Status.ContainerStatuses[0].State.Running = &corev1.ContainerStateRunning{StartedAt: started}
		p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, FinishedAt: started}
	}
	return p
}

func node(name string) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Status.NodeInfo = corev1.NodeSystemInfo{KernelVersion: "6.1", OSImage: "Debian", Architecture: "amd64", ContainerRuntimeVersion: "containerd://2"}
	n.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("1Ki")}
	return n
}

func TestOf(t *testing.T) {
	got := Of("v1", []corev1.Pod{pod("b", "m1", map[string]string{"copy": "r@1", "server": "s@1"}), pod("a", "m2", nil)}, []corev1.Node{node("m0"), node("m1")})
	want := Provenance{
		Operator: "v1",
		Containers: []Container{
			{Pod: "a", Component: "node", Name: "copy", Image: "replab:1", Machine: "m2", PodCreatedAt: &created},
			{Pod: "a", Component: "node", Name: "server", Image: "mysql:9", Machine: "m2", PodCreatedAt: &created},
			{Pod: "b", Component: "node", Name: "copy", Image: "replab:1", ImageID: "r@1", Machine: "m1", PodCreatedAt: &created},
			{Pod: "b", Component: "node", Name: "server", Image: "mysql:9", ImageID: "s@1", Machine: "m1", PodCreatedAt: &created, StartedAt: &started, EndedAt: &started, ExitCode: ptr.To[int32](137)},
		},
		Machines: []Machine{{Name: "m1", Kernel: "6.1", OperatingSystem: "Debian", Architecture: "amd64", ContainerRuntime: "containerd://2", CPUs: 2, MemoryBytes: 1024}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAnEndOfUnknownTimeIsNone: the kubelet says so of a container that it lost sight of.
func TestAnEndOfUnknownTimeIsNone(t *testing.T) {
	p := pod("a", "m1", map[string]string{"server": "s@1"})
	p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}
	for _, c := range Of("v1", []corev1.Pod{p}, nil).Containers {
		if c.EndedAt != nil || c.ExitCode != nil {
			t.Errorf("container %s ended at %v with %v", c.Name, c.EndedAt, c.ExitCode)
		}
	}
}

func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		name string
		ids  []string // of the server in one pod each
		want []string
	}{
		{"one image everywhere", []string{"s@1", "s@1"}, nil},
		{"a tag that moved between two pods", []string{"s@1", "s@2"}, []string{"mysql:9 was s@1 in container server of pod p0, and s@2"}},
		{"a container that has not started is no difference", []string{"s@1", ""}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var pods []corev1.Pod
			for i, id := range c.ids {
				pods = append(pods, pod("p"+string(rune('0'+i)), "m", map[string]string{"copy": "r@1", "server": id}))
			}
			got := Of("v1", pods, nil).Differences()
			if len(got) != len(c.want) {
				t.Fatalf("found %q, want %q", got, c.want)
			}
			for i := range c.want {
				if !strings.Contains(got[i], c.want[i]) {
					t.Errorf("found %q, want %q", got[i], c.want[i])
				}
			}
		})
	}
}
