package zalando

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
)

// patience is how long that operator may take to notice a resource.
const patience = 30 * time.Second

// serverContainer is what that operator calls it.
const serverContainer = "postgres"

// Hopeless implements topology.Foreign.
func (Driver) Hopeless(p topology.Params, found topology.Found) string {
	name := clusterName(p)
	if found.Object == nil {
		return fmt.Sprintf("postgresql %s is gone: somebody has deleted it", name)
	}
	if found.Set != nil {
		if why := unfit(p, found.Set); why != "" {
			return why
		}
	}
	switch status, _, _ := unstructured.NestedString(found.Object.Object, "status", "PostgresClusterStatus"); {
	case status == "CreateFailed" || status == "Invalid":
		why := "the Zalando operator says of postgresql " + name + " that it is " + status
		if found.LastEvent != "" {
			why += ": " + found.LastEvent
		}
		return why + "; its log says more" + remedyOf(p, found.LastEvent)
	case status == "" && found.Set == nil && found.Applied > patience:
		return fmt.Sprintf("the Zalando operator ignored postgresql %s for %s. Check that it runs, watches namespace %s and has CONTROLLER_ID %q: docs/how-to/zalando.md",
			name, patience, p.Namespace, p.Foreign.ControllerID)
	}
	return ""
}

// remedyOf what that operator says of an object that it could not make, "" where it has none but that operator's own words. Without words it may be
// that it reaches no server.
func remedyOf(p topology.Params, event string) string {
	if strings.Contains(event, "Only one reference can have Controller set to true") { // what it makes has the experiment for its controller
		return ". Set enable_owner_references to false in its configuration, restart it and run the experiment again"
	}
	unreached := []string{"could not create users", "could not init db connection", "could not connect", "dial tcp"}
	if event != "" && !slices.ContainsFunc(unreached, func(words string) bool { return strings.Contains(event, words) }) {
		return ""
	}
	g := guest(p)
	return fmt.Sprintf(". If network policies block it, set zalandoOperator.namespace and podLabels in replab's chart to its pods', now %s and %s",
		g.Namespace, labels.FormatLabels(g.Labels))
}

// unfit says which setting of that operator has it make nodes of which an experiment knows nothing.
func unfit(p topology.Params, set *appsv1.StatefulSet) string {
	// The configuration is one for all of that operator's clusters.
	const remedy = "set %s in the Zalando operator's configuration (%s), and restart it. Use an operator for experiments alone: docs/how-to/zalando.md"
	template := set.Spec.Template
	var wanted []string
	missing := false
	for name, value := range kube.Meta(p.Namespace, clusterName(p), kube.ComponentNode, p.Labels).Labels {
		wanted = append(wanted, name)
		missing = missing || template.Labels[name] != value
	}
	slices.Sort(wanted)
	i := slices.IndexFunc(template.Spec.Containers, func(c corev1.Container) bool { return c.Name == serverContainer })
	if i < 0 {
		return fmt.Sprintf("the pods of StatefulSet %s have no container %q: this version of the Zalando operator is not known", set.Name, serverContainer)
	}
	env := map[string]string{}
	for _, e := range template.Spec.Containers[i].Env {
		env[e.Name] = e.Value
	}
	switch {
	case missing:
		return fmt.Sprintf("the nodes' pods do not have the labels of the experiment: "+remedy, "inherited_labels", strings.Join(wanted, ", "))
	case env["KUBERNETES_USE_CONFIGMAPS"] != "true":
		return fmt.Sprintf("Patroni keeps its state in Endpoints, which would stay behind: "+remedy+
			". NEVER change it while that operator has other clusters: they may split and lose writes", "kubernetes_use_configmaps", "true")
	case env["KUBERNETES_SCOPE_LABEL"] != scopeLabel || env["KUBERNETES_ROLE_LABEL"] != roleLabel || !hasFamily(env["KUBERNETES_LABELS"]):
		return fmt.Sprintf("Patroni does not find the ConfigMaps made for it: "+remedy,
			"cluster_name_label, pod_role_label and cluster_labels", fmt.Sprintf("%s, %s and %s: %s, its defaults", scopeLabel, roleLabel, familyLabel, family))
	case !slices.ContainsFunc(template.Spec.Containers, func(c corev1.Container) bool { return c.Name == agentContainer }):
		return fmt.Sprintf("the nodes' pods have no agent: "+remedy, "enable_sidecars", "true")
	case set.Spec.Replicas != nil && *set.Spec.Replicas != p.Spec.Nodes:
		return fmt.Sprintf("%d nodes are requested, and the Zalando operator makes %d: "+remedy, p.Spec.Nodes, *set.Spec.Replicas, "min_instances and max_instances", "-1")
	}
	if other := otherResources(p, template.Spec.Containers[i]); other != "" {
		return fmt.Sprintf("the Zalando operator gives the servers %s. Change topology.resources, or that operator's minimums and maximums: docs/how-to/zalando.md", other)
	}
	return ""
}

// otherResources says what a server's container has of another resource than is stated. That operator corrects them by its configuration, and says
// so in an event alone: figures of such servers would be taken for those of what was asked for.
func otherResources(p topology.Params, server corev1.Container) string {
	wanted := stated(p)
	for _, r := range []struct {
		what   string
		has    corev1.ResourceList
		wanted quantities
	}{{"limits", server.Resources.Limits, wanted.Limits}, {"requests", server.Resources.Requests, wanted.Requests}} {
		for _, q := range []struct {
			name   corev1.ResourceName
			wanted string
		}{{corev1.ResourceCPU, r.wanted.CPU}, {corev1.ResourceMemory, r.wanted.Memory}} {
			has, want := r.has[q.name], resource.MustParse(q.wanted)
			if q.name == corev1.ResourceMemory { // it is stated in bytes
				want = *resource.NewQuantity(want.Value(), resource.BinarySI)
			}
			if has.Cmp(want) != 0 {
				return fmt.Sprintf("%s.%s %s instead of %s", r.what, q.name, has.String(), want.String())
			}
		}
	}
	return ""
}

// hasFamily tells whether Patroni looks for the labels that its ConfigMaps have, and no others.
func hasFamily(text string) bool {
	var found map[string]string
	return json.Unmarshal([]byte(text), &found) == nil && len(found) == 1 && found[familyLabel] == family
}
