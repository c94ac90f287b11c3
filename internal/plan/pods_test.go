package plan

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/node"
	"replab.dev/test/experiment"
)

// everyPod is every pod template of an experiment by its component, the audit's too.
func everyPod(t *testing.T, in Input) map[string]*corev1.PodTemplateSpec {
	t.Helper()
	p, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	_, audit, err := Audit(in, topology.State{})
	if err != nil {
		t.Fatal(err)
	}
	pods := map[string]*corev1.PodTemplateSpec{}
	for _, o := range append(append([]kube.Object{}, p.Deploy...), p.Seed, p.Load[0], audit) {
		if pod := template(o); pod != nil {
			pods[pod.Labels[kube.LabelComponent]] = pod
		}
	}
	for _, c := range []string{
		kube.ComponentNode, kube.ComponentManager, kube.ComponentProxy, kube.ComponentSocial,
		kube.ComponentRecorder, kube.ComponentLoad, kube.ComponentSeed, kube.ComponentAudit,
	} {
		if pods[c] == nil {
			t.Fatalf("no pod of %s", c)
		}
	}
	return pods
}

func TestEveryPodTakesWhatIsSaidOfAllPods(t *testing.T) {
	in := input(experiment.Load(t, "semisync"))
	in.Pods = &v1alpha1.PodsSpec{All: &v1alpha1.PodSettings{
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "chart"}}, NodeSelector: map[string]string{"pool": "chart", "zone": "a"},
		PriorityClassName: "chart",
	}}
	in.Experiment.Spec.Pods = &v1alpha1.PodsSpec{All: &v1alpha1.PodSettings{
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "mine"}, {Name: "chart"}}, NodeSelector: map[string]string{"pool": "mine"},
		Labels:          map[string]string{"team": "dba", kube.LabelComponent: "stolen"},
		Annotations:     map[string]string{"note": "x"},
		Tolerations:     []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}},
		SecurityContext: &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](7000)},
	}}
	for component, pod := range everyPod(t, in) {
		s := pod.Spec
		switch {
		case len(s.ImagePullSecrets) != 2 || s.ImagePullSecrets[0].Name != "chart" || s.ImagePullSecrets[1].Name != "mine":
			t.Errorf("%s: pull secrets %v", component, s.ImagePullSecrets)
		case s.NodeSelector["pool"] != "mine" || s.NodeSelector["zone"] != "a":
			t.Errorf("%s: node selector %v", component, s.NodeSelector)
		case pod.Labels["team"] != "dba" || pod.Labels[kube.LabelComponent] != component || pod.Annotations["note"] != "x":
			t.Errorf("%s: labels %v, annotations %v", component, pod.Labels, pod.Annotations)
		case len(s.Tolerations) != 1 || s.PriorityClassName != "chart":
			t.Errorf("%s: tolerations %v, priority class %s", component, s.Tolerations, s.PriorityClassName)
		case *s.SecurityContext.RunAsUser != 7000 || !*s.SecurityContext.RunAsNonRoot || *s.SecurityContext.FSGroup != kube.UserID:
			t.Errorf("%s: security context %+v", component, s.SecurityContext)
		}
	}
}

func TestAPartOfThePodsTakesItsOwn(t *testing.T) {
	in := input(experiment.Load(t, "semisync"))
	memory := func(s string) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(s)}}
	}
	mine := &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
	in.Experiment.Spec.Pods = &v1alpha1.PodsSpec{
		All:         &v1alpha1.PodSettings{PriorityClassName: "all"},
		Nodes:       &v1alpha1.PodSettings{PriorityClassName: "nodes", Resources: memory("3Gi"), Affinity: mine},
		Instruments: &v1alpha1.PodSettings{Resources: memory("2Gi")},
	}
	for component, pod := range everyPod(t, in) {
		priority, limit := "all", ""
		switch component {
		case kube.ComponentNode:
			priority, limit = "nodes", "3Gi"
		case kube.ComponentRecorder, kube.ComponentLoad, kube.ComponentSeed, kube.ComponentAudit:
			limit = "2Gi"
		}
		if pod.Spec.PriorityClassName != priority {
			t.Errorf("%s: priority class %s, want %s", component, pod.Spec.PriorityClassName, priority)
		}
		if got := pod.Spec.Containers[0].Resources.Limits.Memory().String(); (limit != "" || got == "3Gi" || got == "2Gi") && got != limit {
			t.Errorf("%s: memory limit %s, want %s", component, got, limit)
		}
		if own := pod.Spec.Affinity != nil && pod.Spec.Affinity.NodeAffinity != nil; own != (component == kube.ComponentNode) {
			t.Errorf("%s: affinity %+v", component, pod.Spec.Affinity)
		}
	}
}

func TestThePlatformsUserIsNotOverruled(t *testing.T) {
	in := input(experiment.Load(t, "semisync"))
	in.PlatformUser = true
	for component, pod := range everyPod(t, in) {
		if s := pod.Spec.SecurityContext; s.RunAsUser != nil || s.RunAsGroup != nil || s.FSGroup != nil || !*s.RunAsNonRoot {
			t.Errorf("%s: security context %+v, want no user of replab's own", component, s)
		}
	}
}

// TestTheTopologysResourcesGoBeforeDefaults of the operator for nodes, which are for experiments that name none.
func TestTheTopologysResourcesGoBeforeDefaults(t *testing.T) {
	in := input(experiment.Load(t, "single"))
	memory := func(size string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(size)}}
	}
	in.Pods = &v1alpha1.PodsSpec{Nodes: &v1alpha1.PodSettings{Resources: ptr.To(memory("3Gi"))}}
	if got := everyPod(t, in)[kube.ComponentNode].Spec.Containers[0].Resources.Limits.Memory().String(); got != "3Gi" {
		t.Errorf("without a word of the experiment a server has %s, want the default of 3Gi", got)
	}
	in.Experiment.Spec.Topology.Resources = memory("1Gi")
	if got := everyPod(t, in)[kube.ComponentNode].Spec.Containers[0].Resources.Limits.Memory().String(); got != "1Gi" {
		t.Errorf("a server has %s, want the experiment's 1Gi", got)
	}
}

// TestAnAgentThatBeginsAsRootGoesOnAsItsServersUser: as another one it could neither signal the server nor read what it uses.
func TestAnAgentThatBeginsAsRootGoesOnAsItsServersUser(t *testing.T) {
	in := input(experiment.Load(t, "async-loss"))
	goesOnAs := func() string {
		t.Helper()
		pod := everyPod(t, in)[kube.ComponentNode]
		for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			if i := slices.Index(c.Args, kube.FlagRunAs); i >= 0 {
				return c.Args[i+1]
			}
		}
		t.Fatal("no container begins as root")
		return ""
	}
	if got := goesOnAs(); got != strconv.Itoa(kube.UserID) {
		t.Errorf("it goes on as %s", got)
	}
	in.PlatformUser = true
	if _, err := Build(in); err == nil || !strings.Contains(err.Error(), "set spec.pods.nodes.securityContext.runAsUser") {
		t.Errorf("where the platform chooses the user: %v, want what to set", err)
	}
	in.Experiment.Spec.Pods = &v1alpha1.PodsSpec{Nodes: &v1alpha1.PodSettings{SecurityContext: &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](7000)}}}
	if got := goesOnAs(); got != "7000" {
		t.Errorf("it goes on as %s, want 7000 as its server", got)
	}
}

// TestTheNodesUserHasANameWhateverItsNumber: where the platform chooses the number, it is the one to name it.
func TestTheNodesUserHasANameWhateverItsNumber(t *testing.T) {
	for name, c := range map[string]struct {
		user, group *int64
		want        string // in the list; "" where the image's own is to stay
	}{
		"as replab sets it": {ptr.To[int64](kube.UserID), nil, "replab:x:1001:1001:"},
		"as asked for":      {ptr.To[int64](7000), ptr.To[int64](7001), "replab:x:7000:7001:"},
		"by the platform":   {nil, nil, ""},
	} {
		spec := node.Spec{Params: topology.Params{Name: "x"}, Name: "x-db", NamedUser: true}
		config := &corev1.ConfigMap{Data: map[string]string{}}
		objects := spec.Objects()
		var pod *corev1.PodTemplateSpec
		for _, o := range objects {
			if pod = template(o); pod != nil {
				pod.Spec.SecurityContext.RunAsUser, pod.Spec.SecurityContext.RunAsGroup = c.user, c.group
				break
			}
		}
		nameUsers(config, objects)
		if got := config.Data[node.UsersFile]; c.want != "" && !strings.Contains(got, c.want) {
			t.Errorf("%s: the list of users is %q, want %s in it", name, got, c.want)
		}
		mounted := slices.ContainsFunc(pod.Spec.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.SubPath == node.UsersFile })
		if mounted != (c.want != "") {
			t.Errorf("%s: the server has the list: %v", name, mounted)
		}
	}
}

// TestWhatIsAskedOfAllPodsIsAskedOfNodesThatOthersMake: of the operator's own settings those of nodes too.
func TestWhatIsAskedOfAllPodsIsAskedOfNodesThatOthersMake(t *testing.T) {
	in := input(experiment.Load(t, "patroni-zalando"))
	in.Pods = &v1alpha1.PodsSpec{
		All:         &v1alpha1.PodSettings{NodeSelector: map[string]string{"pool": "chart", "zone": "a"}, PriorityClassName: "chart"},
		Nodes:       &v1alpha1.PodSettings{Tolerations: []corev1.Toleration{{Key: "db", Operator: corev1.TolerationOpExists}}},
		Instruments: &v1alpha1.PodSettings{PriorityClassName: "instruments"},
	}
	in.Experiment.Spec.Pods = &v1alpha1.PodsSpec{All: &v1alpha1.PodSettings{
		NodeSelector: map[string]string{"pool": "mine"}, Tolerations: []corev1.Toleration{{Key: "mine", Operator: corev1.TolerationOpExists}},
	}}
	got := Params(in).NodePods
	switch {
	case got.NodeSelector["pool"] != "mine" || got.NodeSelector["zone"] != "a":
		t.Errorf("node selector %v", got.NodeSelector)
	case len(got.Tolerations) != 2 || got.Tolerations[0].Key != "db" || got.Tolerations[1].Key != "mine":
		t.Errorf("tolerations %v", got.Tolerations)
	case got.PriorityClassName != "chart":
		t.Errorf("priority class %s", got.PriorityClassName)
	}
	p, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(p.Deploy, func(o kube.Object) bool { _, is := o.(*unstructured.Unstructured); return is })
	if i < 0 {
		t.Fatal("there is no resource of the other operator's")
	}
	if class, _, err := unstructured.NestedString(p.Deploy[i].(*unstructured.Unstructured).Object, "spec", "podPriorityClassName"); err != nil || class != "chart" {
		t.Errorf("the resource asks for priority class %q, %v", class, err)
	}
}

// What an experiment overloads answers late: that it is the one that is to be seen, and nobody ends it or takes it out of the path.
func TestNobodyTakesAnOverloadedPodOutOfThePath(t *testing.T) {
	pods := everyPod(t, input(experiment.Load(t, "semisync")))
	for component, pod := range pods {
		for _, c := range pod.Spec.Containers {
			if p := c.LivenessProbe; p != nil && p.TimeoutSeconds*p.FailureThreshold < 60 {
				t.Errorf("%s: %s is ended after %d answers later than %d s", component, c.Name, p.FailureThreshold, p.TimeoutSeconds)
			}
		}
	}
	for _, component := range []string{kube.ComponentSocial, kube.ComponentRecorder, kube.ComponentProxy} {
		if late := pods[component].Spec.Containers[0].ReadinessProbe.FailureThreshold; late < 60 {
			t.Errorf("%s leaves its Service after %d late answers", component, late)
		}
	}
}

// TestNodesRunNoImagesOwnCommand: where a server may patch its pod, the image that it names decides less.
func TestNodesRunNoImagesOwnCommand(t *testing.T) {
	for _, x := range []*v1alpha1.ReplicationExperiment{onPostgreSQL(t), experiment.Load(t, "semisync"), experiment.Load(t, "galera")} {
		for _, o := range build(t, x).Deploy {
			pod := template(o)
			if pod == nil || pod.Labels[kube.LabelComponent] != kube.ComponentNode {
				continue
			}
			for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
				if len(c.Command) == 0 {
					t.Errorf("%s: container %s runs what its image says", x.Name, c.Name)
				}
			}
		}
	}
}
