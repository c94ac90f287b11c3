package replication

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

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
