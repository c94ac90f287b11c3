package patroni

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"replab.dev/internal/topology"
)

// Patroni gets this from the operator, who can grant only what he has himself; what else rules has is among the operator's own.
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=list;watch;update
// +kubebuilder:rbac:groups="",resources=pods,verbs=watch

// rules let each Patroni find the nodes and the ConfigMaps by their labels, which needs the right to look at all of the namespace, and write
// its own. It makes none: those that it needs are there.
func rules(p topology.Params) []rbacv1.PolicyRule {
	var pods []string
	for _, n := range nodes(p).Nodes() {
		pods = append(pods, n.Name)
	}
	core := []string{""}
	return []rbacv1.PolicyRule{
		{APIGroups: core, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}},
		{APIGroups: core, Resources: []string{"configmaps"}, ResourceNames: StoreNames(p), Verbs: []string{"get", "patch", "update"}},
		{APIGroups: core, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}},
		{APIGroups: core, Resources: []string{"pods"}, ResourceNames: pods, Verbs: []string{"get", "patch"}},
	}
}
