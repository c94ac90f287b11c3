package node

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

func podOf(t *testing.T, change func(*Spec)) corev1.PodSpec {
	t.Helper()
	s := Spec{
		Params: topology.Params{Name: "x", Namespace: "ns", Images: v1alpha1.ImagesStatus{Replab: "replab:test", Server: "server:test"}, ClusterDomain: "cluster.local"},
		Name:   "x-db", Server: Server{Engine: "MySQL", Process: "mysqld"}, Files: []string{"my.cnf"},
	}
	change(&s)
	for _, o := range s.Objects() {
		if set, ok := o.(*appsv1.StatefulSet); ok {
			return set.Spec.Template.Spec
		}
	}
	t.Fatal("no StatefulSet")
	return corev1.PodSpec{}
}

func container(t *testing.T, pod corev1.PodSpec, name string) corev1.Container {
	t.Helper()
	i := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no container %s", name)
	}
	return pod.Containers[i]
}

// TestTheServersContainerHasNothingOfTheAgents: its image is anybody's.
func TestTheServersContainerHasNothingOfTheAgents(t *testing.T) {
	for _, medium := range []string{v1alpha1.MediumVolumeClaim, v1alpha1.MediumMemory, v1alpha1.MediumNode} {
		pod := podOf(t, func(s *Spec) { s.Spec.Storage.Medium = medium })
		server, agent := container(t, pod, "server"), container(t, pod, "agent")
		for _, m := range server.VolumeMounts {
			for _, a := range agent.VolumeMounts {
				switch {
				case !overlap(m, a), m.ReadOnly && a.ReadOnly:
				case m.Name == "run" && a.ReadOnly: // the agent connects to the socket there
				case m.ReadOnly && m.SubPath == agentFolder+"/"+holdsFolder:
				default:
					t.Errorf("medium %q: the containers share %s: %q and %q", medium, m.Name, m.SubPath, a.SubPath)
				}
			}
			for _, file := range files(pod, m.Name) {
				if file == wire.AgentTokenFile || file == agentConfigFile {
					t.Errorf("medium %q: the server's container has %s", medium, file)
				}
			}
		}
	}
}

// overlap tells whether two mounts have a file in common.
func overlap(a, b corev1.VolumeMount) bool {
	within := func(inner, outer string) bool {
		return outer == "" || inner == outer || strings.HasPrefix(inner, outer+"/")
	}
	return a.Name == b.Name && (within(a.SubPath, b.SubPath) || within(b.SubPath, a.SubPath))
}

// files of a volume that is made of a Secret or a ConfigMap.
func files(pod corev1.PodSpec, volume string) []string {
	var names []string
	for _, v := range pod.Volumes {
		if v.Name != volume {
			continue
		}
		var items []corev1.KeyToPath
		if v.Secret != nil {
			items = v.Secret.Items
		}
		if v.ConfigMap != nil {
			items = v.ConfigMap.Items
		}
		for _, i := range items {
			names = append(names, i.Path)
		}
	}
	return names
}

// TestTheWrapperAndTheAgentMeanTheSameHolds follows the paths of both containers to the volume.
func TestTheWrapperAndTheAgentMeanTheSameHolds(t *testing.T) {
	s := Spec{}
	pod := podOf(t, func(*Spec) {})
	places := []string{
		place(t, container(t, pod, "server"), s.serverConfig().HoldDir), place(t, container(t, pod, "agent"), s.agentConfig().HoldDir),
	}
	if places[0] != places[1] {
		t.Errorf("the wrapper waits for %s, the agent writes %s", places[0], places[1])
	}
}

// place is a container's path on its volume.
func place(t *testing.T, c corev1.Container, path string) string {
	t.Helper()
	for _, m := range c.VolumeMounts {
		if rest, ok := strings.CutPrefix(path, m.MountPath); ok && (rest == "" || rest[0] == '/') {
			return m.Name + ":" + m.SubPath + rest
		}
	}
	t.Fatalf("container %s has nothing at %s", c.Name, path)
	return ""
}

// TestTheAgentHasACapabilityOnlyWhereItNeedsOne: a partition and a link change the pod's packet filter.
func TestTheAgentHasACapabilityOnlyWhereItNeedsOne(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Spec)
		want   int
	}{
		"nothing":   {func(*Spec) {}, 0},
		"a kill":    {func(s *Spec) { s.Faults = []v1alpha1.Fault{{Action: v1alpha1.ActionKill}} }, 0},
		"zones":     {func(s *Spec) { s.Spec.Zones = []v1alpha1.Zone{{Name: "eu"}} }, 0},
		"partition": {func(s *Spec) { s.Faults = []v1alpha1.Fault{{Action: v1alpha1.ActionPartition}} }, 3},
		"a link":    {func(s *Spec) { s.Spec.Links = []v1alpha1.Link{{From: "eu", To: "us"}} }, 3},
	} {
		pod := podOf(t, c.change)
		if got := len(container(t, pod, "agent").SecurityContext.Capabilities.Add); got != c.want {
			t.Errorf("%s: the agent has %d capabilities added, want %d", name, got, c.want)
		}
		if got := len(container(t, pod, "server").SecurityContext.Capabilities.Add); got != 0 {
			t.Errorf("%s: the server has %d capabilities added", name, got)
		}
	}
}

// TestTheAgentIsStartedFromTheCopy that nobody may read, so that it is closed from the start.
func TestTheAgentIsStartedFromTheCopy(t *testing.T) {
	pod := podOf(t, func(s *Spec) { s.Faults = []v1alpha1.Fault{{Action: v1alpha1.ActionPartition}} })
	agent := container(t, pod, "agent")
	copied := place(t, pod.InitContainers[0], pod.InitContainers[0].Args[2]) + "/replab"
	if started := place(t, agent, agent.Command[0]); started != copied {
		t.Errorf("it is started from %s, the copy is %s", started, copied)
	}
}
