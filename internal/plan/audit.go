package plan

import (
	"encoding/json"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/agent/client"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

const (
	auditConnectTimeoutMilliseconds = 20_000
	// auditDeadlineSeconds is far more than the largest dataset takes: a node that hangs must not hang the run.
	auditDeadlineSeconds = 1800
)

// AuditStateName names the ConfigMap that the audit writes its result into.
func AuditStateName(experiment string) string { return experiment + auditSuffix + "-state" }

// RecountStateName is the same of the audit of nodes that were brought back.
func RecountStateName(experiment string) string { return experiment + recountSuffix + "-state" }

const (
	auditSuffix   = "-audit"
	recountSuffix = "-recount"
)

// AuditNames are the names of the Jobs that audit an experiment.
func AuditNames(experiment string) []string {
	return []string{experiment + auditSuffix, experiment + recountSuffix}
}

// Audit returns the audit's objects for the roles that the nodes have once the load has settled. The Job is the last.
func Audit(in Input, state topology.State) ([]kube.Object, *batchv1.Job, error) {
	return auditOf(in, auditSuffix, func(b *builder, c *wire.AuditConfig) {
		c.Ledger, c.SeededUsers = RecorderURL(in)+wire.RecorderPathLedger, b.spec.Dataset.Users
		c.Nodes = auditNodes(b.system, state, in.Experiment.Status.Faults)
	})
}

// Recount returns the objects of an audit that compares nodes that came back since with the one that all were compared with before, without
// the ledger. Whatever they do by now, that one has the role of the writer, and they are readers.
func Recount(in Input, with string, back []string) ([]kube.Object, *batchv1.Job, error) {
	return auditOf(in, recountSuffix, func(b *builder, c *wire.AuditConfig) {
		for _, n := range b.system.Nodes {
			switch {
			case n.Name == with:
				c.Nodes = append(c.Nodes, wire.AuditNode{Node: n, Role: wire.RoleWriter, Checksum: true})
			case slices.Contains(back, n.Name):
				c.Nodes = append(c.Nodes, wire.AuditNode{Node: n, Role: wire.RoleReader, Checksum: true})
			}
		}
	})
}

// auditOf are the objects of one audit, configured further by more. What lies in the cluster has names with this suffix.
func auditOf(in Input, suffix string, more func(*builder, *wire.AuditConfig)) ([]kube.Object, *batchv1.Job, error) {
	b, err := newBuilder(in)
	if err != nil {
		return nil, nil, err
	}
	meta := kube.Meta(b.Namespace, b.Name+suffix, kube.ComponentAudit, b.Labels)
	result := &corev1.ConfigMap{ObjectMeta: kube.Meta(b.Namespace, meta.Name+"-state", kube.ComponentAudit, b.Labels)}
	config := wire.AuditConfig{
		Namespace: b.Namespace, StateMap: result.Name, Engine: b.Engine, SecretDir: wire.SecretsDir, ConnectTimeoutMilliseconds: auditConnectTimeoutMilliseconds,
	}
	more(b, &config)
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return nil, nil, err
	}
	account, role, binding := kube.Identity(meta, kube.OwnConfigMap(result.Name))
	files := &corev1.ConfigMap{
		ObjectMeta: kube.Meta(b.Namespace, meta.Name+"-input", kube.ComponentAudit, b.Labels),
		Data:       map[string]string{"audit.json": string(text)},
	}

	c := kube.Container(b.Images, "audit")
	kube.Metered(&c)
	c.Resources = kube.Requests("50m", "64Mi", "256Mi")
	pod := b.pod(c, wire.AccountProbe)
	pod.Volumes[0].ConfigMap.Name = files.Name
	pod.ServiceAccountName, pod.AutomountServiceAccountToken = meta.Name, ptr.To(true)
	job := b.job(suffix, kube.ComponentAudit, 2, pod)
	job.Spec.ActiveDeadlineSeconds = ptr.To[int64](auditDeadlineSeconds)
	return []kube.Object{account, role, binding, result, files}, job, b.finish(job)
}

// auditNodes are all nodes. The rows of those that a fault hit are summed up, and of the one that they are compared with; those of all where
// several take writes, which may differ without a fault.
func auditNodes(system topology.System, state topology.State, faults []v1alpha1.FaultStatus) []wire.AuditNode {
	var nodes []wire.AuditNode
	for _, n := range system.Nodes {
		node := wire.AuditNode{Node: n, Role: state.Node(n.Name).Role}
		node.Checksum = len(state.Writers) > 1 || slices.ContainsFunc(faults, func(f v1alpha1.FaultStatus) bool { return f.Pod == n.Name })
		if system.Inspects {
			node.Agent = client.URL(n.Host)
		}
		nodes = append(nodes, node)
	}
	writer := slices.IndexFunc(nodes, func(n wire.AuditNode) bool { return n.Role == wire.RoleWriter })
	if writer >= 0 && len(faults) > 0 {
		nodes[writer].Checksum = true
	}
	return nodes
}
