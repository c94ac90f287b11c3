package patroni

import (
	corev1 "k8s.io/api/core/v1"

	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// objects are the nodes, what they agree in, and the right to do so.
func objects(p topology.Params) []kube.Object {
	account, role, binding := kube.Identity(kube.Meta(p.Namespace, ClusterName(p), kube.ComponentNode, p.Labels), rules(p)...)
	all := append([]kube.Object{account, role, binding}, StoreMaps(p, map[string]string{scopeLabel: ClusterName(p)})...)
	all = append(all, nodes(p).Objects()...)
	return append(all, RoleServices(p, wire.RoleLabel, string(wire.RoleWriter), string(wire.RoleReader))...)
}

// StoreNames are those of the ConfigMaps that Patroni keeps: its settings, who holds the lock, who may take it, and what it was asked for.
func StoreNames(p topology.Params) []string {
	var names []string
	for _, suffix := range []string{"config", "leader", "sync", "failover"} {
		names = append(names, ClusterName(p)+"-"+suffix)
	}
	return names
}

// StoreMaps are where Patroni keeps its state: made beforehand and empty, so that they go with the experiment, and that one which is somebody
// else's is seen. labels are those by which Patroni finds them. It writes annotations alone.
func StoreMaps(p topology.Params, labels map[string]string) []kube.Object {
	var all []kube.Object
	for _, name := range StoreNames(p) {
		meta := kube.Meta(p.Namespace, name, kube.ComponentNode, p.Labels)
		for label, value := range labels {
			meta.Labels = kube.With(meta.Labels, label, value)
		}
		all = append(all, &corev1.ConfigMap{ObjectMeta: meta})
	}
	return all
}

// RoleServices lead to the nodes of a role by the label that Patroni keeps, with its values for the node that takes the writes and for others;
// none where clients have another way. They do so for nodes that are ready: the label of one that has died stays. Routes tell of them.
func RoleServices(p topology.Params, label, writer, reader string) []kube.Object {
	if !p.RolesByLabel {
		return nil
	}
	service := func(name, role string) kube.Object {
		meta := kube.Meta(p.Namespace, name, kube.ComponentNode, p.Labels)
		return kube.Service(meta, kube.With(kube.Selector(meta), label, role), false, p.Server.Port())
	}
	return []kube.Object{service(primaryName(p), writer), service(replicasName(p), reader)}
}
