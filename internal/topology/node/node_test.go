package node

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
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

// TestTheServersContainerAloneHasItsIdentity, and nobody has one that was not asked for.
func TestTheServersContainerAloneHasItsIdentity(t *testing.T) {
	for _, asked := range []string{"", "x-db"} {
		pod := podOf(t, func(s *Spec) { s.Identity = asked })
		if pod.ServiceAccountName != asked || *pod.AutomountServiceAccountToken {
			t.Errorf("identity %q: the pods are of %q, and get its token everywhere: %v", asked, pod.ServiceAccountName, *pod.AutomountServiceAccountToken)
		}
		tokens := map[string]bool{}
		for _, v := range pod.Volumes {
			if v.Projected == nil {
				continue
			}
			for _, source := range v.Projected.Sources {
				tokens[v.Name] = tokens[v.Name] || source.ServiceAccountToken != nil
			}
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			has := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return tokens[m.Name] && m.MountPath == identityDir && m.ReadOnly })
			if want := asked != "" && c.Name == "server"; has != want {
				t.Errorf("identity %q: container %s has a token: %v, want %v", asked, c.Name, has, want)
			}
		}
	}
}

// TestTheServersUserHasAName where that is asked for: its list of users is the file that the configuration has.
func TestTheServersUserHasAName(t *testing.T) {
	for _, asked := range []bool{false, true} {
		pod := podOf(t, func(s *Spec) { s.NamedUser = asked })
		server := container(t, pod, "server")
		mount := slices.IndexFunc(server.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/etc/passwd" && m.SubPath == UsersFile })
		if (mount >= 0) != asked {
			t.Errorf("asked for %v: the server has a list of users: %v", asked, mount >= 0)
		}
		if mount >= 0 && !slices.Contains(files(pod, server.VolumeMounts[mount].Name), UsersFile) {
			t.Error("the server's list of users is no file of its volume")
		}
		config, err := Spec{NamedUser: asked}.ConfigFiles()
		if err != nil {
			t.Fatal(err)
		}
		if (config[UsersFile] != "") != asked {
			t.Errorf("asked for %v: the list of users is %q", asked, config[UsersFile])
		}
	}
	if got := Users(7000, 7001); !strings.Contains(got, "replab:x:7000:7001:") {
		t.Errorf("the list of users is %q", got)
	}
}

// TestLabelsOfPodsSelectNothing: objects are found by the labels that all of them have.
func TestLabelsOfPodsSelectNothing(t *testing.T) {
	s := Spec{Params: topology.Params{Name: "x", Labels: map[string]string{"of": "all"}}, Name: "x-db", PodLabels: map[string]string{"scope": "x-db"}}
	for _, o := range s.Objects() {
		if o.GetLabels()["scope"] != "" {
			t.Errorf("%s has a label of the pods", o.GetName())
		}
		if set, ok := o.(*appsv1.StatefulSet); ok {
			if pod := set.Spec.Template.Labels; pod["scope"] != "x-db" || pod["of"] != "all" {
				t.Errorf("the pods have the labels %v", pod)
			}
			if set.Spec.Selector.MatchLabels["scope"] != "" {
				t.Error("the nodes are selected by a label of the pods")
			}
		}
	}
}

// TestEachNodeIsToldOfItsManager, and where there may be data to copy.
func TestEachNodeIsToldOfItsManager(t *testing.T) {
	program := engine.ManagerProgram{Argv: []string{"manager", "--fast"}, Process: "manager", URL: "http://127.0.0.1:8008"}
	s := Spec{
		Params: topology.Params{Name: "x", Namespace: "ns", ClusterDomain: "cluster.local", Spec: v1alpha1.TopologySpec{Nodes: 2}}, Name: "x-db",
		Server: Server{Manager: &Manager{ManagerProgram: program, Template: "manager.yml", Port: 8008, Path: "/leader", Pause: true}},
	}
	want := &wire.ManagerConfig{
		Argv: program.Argv, Process: program.Process, URL: program.URL, Template: wire.ConfigDir + "/manager.yml", PauseAt: 2,
		First: []string{"http://x-db-0.x-db.ns.svc.cluster.local:8008/leader", "http://x-db-1.x-db.ns.svc.cluster.local:8008/leader"},
	}
	if d := cmp.Diff(want, s.serverConfig().Manager); d != "" {
		t.Error("the start wrapper is told (-want +got)\n" + d)
	}
	if d := cmp.Diff(want, s.agentConfig().Manager); d != "" {
		t.Error("the agent is told (-want +got)\n" + d)
	}
	if s.serverConfig().RunDir == "" || s.agentConfig().RunDir == "" {
		t.Error("nobody is told where notes are left")
	}
	s.Server.Manager.Pause = false
	if got := s.agentConfig().Manager.PauseAt; got != 0 {
		t.Errorf("managers are paused at %d nodes, and nobody asked for it", got)
	}
	if other := (Spec{}); other.serverConfig().Manager != nil || other.agentConfig().Manager != nil {
		t.Error("servers without a manager have one")
	}
}
