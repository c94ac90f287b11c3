package zalando

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
)

// made is the StatefulSet that the operator makes where its configuration is as it should be.
func made(p topology.Params) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{}
	set.Name, set.Spec.Replicas = "a-db", ptr.To[int32](3)
	set.Spec.Template.Labels = kube.With(p.Labels, kube.LabelComponent, kube.ComponentNode)
	set.Spec.Template.Spec.Containers = []corev1.Container{
		{Name: "postgres", Env: []corev1.EnvVar{
			{Name: "KUBERNETES_USE_CONFIGMAPS", Value: "true"},
			{Name: "KUBERNETES_SCOPE_LABEL", Value: "cluster-name"},
			{Name: "KUBERNETES_ROLE_LABEL", Value: "spilo-role"},
			{Name: "KUBERNETES_LABELS", Value: `{"application":"spilo"}`},
		}, Resources: corev1.ResourceRequirements{ // of servers of which nothing is said
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("512Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000"), corev1.ResourceMemory: resource.MustParse("1Ti")},
		}},
		{Name: "agent"},
	}
	return set
}

// TestTheOperatorIsInstalledInOneWay: what is said where it is missing is not another one than the page's.
func TestTheOperatorIsInstalledInOneWay(t *testing.T) {
	if says := (Driver{}).ForeignKind().NotServed; !strings.Contains(says, "docs/how-to/zalando.md") || strings.Contains(says, "helm ") || strings.Contains(says, "kubectl ") {
		t.Errorf("it says %q, want docs/how-to/zalando.md, and no command of its own", says)
	}
}

func TestHopeless(t *testing.T) {
	p := params()
	env := func(name, value string) func(*topology.Found) {
		return func(f *topology.Found) {
			for i, e := range f.Set.Spec.Template.Spec.Containers[0].Env {
				if e.Name == name {
					f.Set.Spec.Template.Spec.Containers[0].Env[i].Value = value
				}
			}
		}
	}
	has := func(list func(corev1.ResourceRequirements) corev1.ResourceList, name corev1.ResourceName, quantity string) func(*topology.Found) {
		return func(f *topology.Found) {
			list(f.Set.Spec.Template.Spec.Containers[0].Resources)[name] = resource.MustParse(quantity)
		}
	}
	limits := func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Limits }
	requests := func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Requests }
	event := func(words string) func(*topology.Found) {
		return func(f *topology.Found) { f.LastEvent = words }
	}
	status := func(s string) func(*topology.Found) {
		return func(f *topology.Found) {
			if err := unstructured.SetNestedField(f.Object.Object, s, "status", "PostgresClusterStatus"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		change []func(*topology.Found)
		says   []string // nothing where it may come to something; "!" before what must not be said
	}{
		"as it should be":          {nil, nil},
		"running":                  {[]func(*topology.Found){status("Running")}, nil},
		"a sync that failed":       {[]func(*topology.Found){status("SyncFailed")}, nil}, // it tries again
		"nobody has seen it yet":   {[]func(*topology.Found){func(f *topology.Found) { f.Set, f.Applied = nil, 29*time.Second }}, nil},
		"nobody sees it":           {[]func(*topology.Found){func(f *topology.Found) { f.Set, f.Applied = nil, 31*time.Second }}, []string{"a-db", "Check that it runs", "namespace ns", "CONTROLLER_ID"}},
		"nodes are long in coming": {[]func(*topology.Found){status("Creating"), func(f *topology.Found) { f.Set, f.Applied = nil, time.Hour }}, nil},
		"it is gone":               {[]func(*topology.Found){func(f *topology.Found) { f.Object = nil }}, []string{"postgresql a-db is gone"}},
		"it could not be made":     {[]func(*topology.Found){status("CreateFailed"), event("quota")}, []string{"CreateFailed", "quota", "!network"}},
		"it says nothing of why":   {[]func(*topology.Found){status("CreateFailed")}, []string{"CreateFailed", "network"}},
		"it reaches no server": {[]func(*topology.Found){status("CreateFailed"), event("could not create cluster: could not create users: could not init db connection")}, []string{
			"network", "postgres-operator and app.kubernetes.io/name=postgres-operator",
		}},
		"owners of its own": {[]func(*topology.Found){status("CreateFailed"), event("Only one reference can have Controller set to true. Found \"true\" in references")}, []string{
			"enable_owner_references to false", "!network",
		}},
		"it cannot be read": {[]func(*topology.Found){status("Invalid")}, []string{"Invalid"}},
		"no labels": {[]func(*topology.Found){func(f *topology.Found) { delete(f.Set.Spec.Template.Labels, kube.LabelExperiment) }}, []string{
			"inherited_labels", "app.kubernetes.io/component, app.kubernetes.io/managed-by, replab.dev/experiment",
		}},
		"labels of another one": {[]func(*topology.Found){func(f *topology.Found) { f.Set.Spec.Template.Labels[kube.LabelExperiment] = "b" }}, []string{"inherited_labels"}},
		"Endpoints":             {[]func(*topology.Found){env("KUBERNETES_USE_CONFIGMAPS", "")}, []string{"kubernetes_use_configmaps", "NEVER", "other clusters", "may split", "docs/how-to/zalando.md"}},
		"another scope":         {[]func(*topology.Found){env("KUBERNETES_SCOPE_LABEL", "version")}, []string{"cluster_name_label"}},
		"another role label":    {[]func(*topology.Found){env("KUBERNETES_ROLE_LABEL", "role")}, []string{"pod_role_label"}},
		"more labels":           {[]func(*topology.Found){env("KUBERNETES_LABELS", `{"application":"spilo","a":"b"}`)}, []string{"cluster_labels"}},
		"labels that are none":  {[]func(*topology.Found){env("KUBERNETES_LABELS", "application=spilo")}, []string{"cluster_labels"}},
		"no agent":              {[]func(*topology.Found){func(f *topology.Found) { f.Set.Spec.Template.Spec.Containers[1].Name = "x" }}, []string{"enable_sidecars"}},
		"no server":             {[]func(*topology.Found){func(f *topology.Found) { f.Set.Spec.Template.Spec.Containers[0].Name = "x" }}, []string{`no container "postgres"`}},
		"another limit":         {[]func(*topology.Found){has(limits, corev1.ResourceCPU, "250m")}, []string{"limits.cpu 250m", "docs/how-to/zalando.md"}},
		"another request":       {[]func(*topology.Found){has(requests, corev1.ResourceMemory, "1Ti")}, []string{"requests.memory 1Ti instead of 512Mi", "topology.resources"}},
		"the same, in bytes":    {[]func(*topology.Found){has(requests, corev1.ResourceMemory, "536870912")}, nil},
		"fewer nodes":           {[]func(*topology.Found){func(f *topology.Found) { f.Set.Spec.Replicas = ptr.To[int32](2) }}, []string{"3 nodes", "makes 2", "max_instances"}},
	} {
		found := topology.Found{Object: Driver{}.Object(p), Set: made(p), Applied: time.Second}
		for _, change := range c.change {
			change(&found)
		}
		got := Driver{}.Hopeless(p, found)
		if (got == "") != (len(c.says) == 0) {
			t.Errorf("%s: it says %q", name, got)
		}
		for _, words := range c.says {
			if without, not := strings.CutPrefix(words, "!"); strings.Contains(got, without) == not {
				t.Errorf("%s: it says %q, want %q in it", name, got, words)
			}
		}
	}
}
