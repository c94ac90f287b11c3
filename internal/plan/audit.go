package plan

import (
	"encoding/json"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
func AuditStateName(experiment string) string { return experiment + "-audit-state" }

// auditInputName names the ConfigMap that tells the audit the nodes' roles.
func auditInputName(experiment string) string { return experiment + "-audit-input" }

// Audit returns the audit's objects for the roles that the nodes have once the load has settled. The Job is the last.
func Audit(in Input, state topology.State) ([]client.Object, *batchv1.Job, error) {
	b, err := newBuilder(in)
	if err != nil {
		return nil, nil, err
	}
	config := wire.AuditConfig{
		Namespace: b.Namespace, StateMap: AuditStateName(b.Name), Engine: b.Engine,
		Ledger: WitnessURL(in) + wire.WitnessPathLedger, SecretDir: wire.SecretsDir,
		SeededUsers: b.spec.Dataset.Users, ConnectTimeoutMilliseconds: auditConnectTimeoutMilliseconds,
	}
	for _, n := range b.system.Nodes {
		config.Nodes = append(config.Nodes, wire.AuditNode{Node: n, Role: state.Node(n.Name).Role})
	}
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return nil, nil, err
	}
	meta := kube.Meta(b.Namespace, b.Name+"-audit", kube.ComponentAudit, b.Labels)
	account, role, binding := kube.Identity(meta, kube.OwnConfigMap(AuditStateName(b.Name)))
	result := &corev1.ConfigMap{ObjectMeta: kube.Meta(b.Namespace, AuditStateName(b.Name), kube.ComponentAudit, b.Labels)}
	files := &corev1.ConfigMap{
		ObjectMeta: kube.Meta(b.Namespace, auditInputName(b.Name), kube.ComponentAudit, b.Labels),
		Data:       map[string]string{"audit.json": string(text)},
	}

	c := kube.Container(b.Images, "audit")
	c.Resources = kube.Requests("50m", "64Mi", "256Mi")
	pod := b.pod(c, wire.AccountProbe)
	pod.Volumes[0].ConfigMap.Name = files.Name
	pod.ServiceAccountName, pod.AutomountServiceAccountToken = meta.Name, ptr.To(true)
	job := b.job("-audit", kube.ComponentAudit, 2, pod)
	job.Spec.ActiveDeadlineSeconds = ptr.To[int64](auditDeadlineSeconds)
	return []client.Object{account, role, binding, result, files}, job, b.finish(job)
}
