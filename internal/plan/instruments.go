package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/agent/client"
	"replab.dev/internal/kube"
	"replab.dev/internal/load"
	runners "replab.dev/internal/load/registry"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// ledgerSize is room for 67 million writes.
const (
	ledgerDir  = "/var/lib/replab"
	ledgerSize = "1Gi"
)

// RecorderStateName names the ConfigMap that the recorder writes its state and results into.
func RecorderStateName(experiment string) string { return experiment + "-recorder-state" }

// RecorderURL is the recorder's control port.
func RecorderURL(in Input) string {
	x := in.Experiment
	return fmt.Sprintf("http://%s-recorder.%s.svc.%s:%d", x.Name, x.Namespace, in.ClusterDomain, wire.PortRecorderControl)
}

func (b *builder) recorderConfig() wire.RecorderConfig {
	c := wire.RecorderConfig{
		Namespace: b.Namespace, StateMap: RecorderStateName(b.Name),
		Listen: fmt.Sprintf(":%d", wire.PortRecorder), ListenControl: fmt.Sprintf(":%d", wire.PortRecorderControl),
		App:       wire.Endpoint{Host: b.Host(b.Name + "-social"), Port: wire.PortSocial},
		SecretDir: wire.SecretsDir, LedgerPath: ledgerDir + "/ledger", Engine: b.Engine,
		Nodes: b.system.Nodes, Writes: b.paths().Writes, Clocks: b.system.Clocks,
		CountCommits:                     b.system.CountCommits,
		SeveralWriters:                   b.WriteAll,
		CountGroup:                       b.system.CountGroup,
		CountLinks:                       len(b.spec.Topology.Links) > 0,
		Settings:                         b.Server.Expected(b.system.Settings),
		LagPayloadBytes:                  b.spec.Probes.Lag.SweepPayloadBytes,
		AvailabilityIntervalMilliseconds: b.spec.Probes.Availability.IntervalMilliseconds,
		RequestTimeoutMilliseconds:       requestTimeoutMilliseconds + 5_000, // the app gives up first, and says why
	}
	c.Processes = b.processes()
	for _, clock := range c.Clocks {
		c.Processes = append(c.Processes, wire.ProcessSource{Name: clock.Name, URL: strings.TrimSuffix(clock.URL, wire.DirectorPathClock)})
	}
	if b.spec.Topology.Nodes > 1 {
		c.LagIntervalMilliseconds = b.spec.Probes.Lag.IntervalMilliseconds
	}
	if len(c.LagPayloadBytes) == 0 {
		c.LagPayloadBytes = []int64{b.spec.Probes.Lag.PayloadBytes}
	}
	for _, s := range b.spec.Load.Stages {
		c.Stages = append(c.Stages, wire.Stage{Name: s.Name, Discard: s.Discard, DurationSeconds: s.DurationSeconds, Rest: s.AtRest(), TimeoutMilliseconds: b.spec.Load.TimeoutMilliseconds})
	}
	return c
}

// processes beside the nodes that are measured.
func (b *builder) processes() []wire.ProcessSource {
	source := func(name, suffix string, port int, each bool) wire.ProcessSource {
		return wire.ProcessSource{Name: name, URL: fmt.Sprintf("http://%s:%d", b.Host(b.Name+suffix), port), Each: each}
	}
	all := []wire.ProcessSource{source("app", eachAppSuffix, wire.PortSocial, true)}
	if b.proxyTraits.NeedsImage {
		all = append(all, source("proxy", "-proxy", wire.PortMeasure, false))
	}
	if b.measuresLoad() {
		all = append(all, source("k6", eachLoadSuffix, wire.PortMeasure, true))
	}
	return all
}

// each is a headless Service, by which the recorder finds every pod of a component.
func (b *builder) each(suffix, component string, port int) *corev1.Service {
	meta := kube.Meta(b.Namespace, b.Name+suffix, component, b.Labels)
	return kube.Service(meta, kube.Selector(meta), true, port)
}

// Suffixes of their names.
const (
	eachAppSuffix  = "-social-pods"
	eachLoadSuffix = "-load-pods"
)

func (b *builder) recorderObjects() []kube.Object {
	meta := kube.Meta(b.Namespace, b.Name+"-recorder", kube.ComponentRecorder, b.Labels)
	account, role, binding := kube.Identity(meta, kube.OwnConfigMap(RecorderStateName(b.Name)))
	state := &corev1.ConfigMap{ObjectMeta: kube.Meta(b.Namespace, RecorderStateName(b.Name), kube.ComponentRecorder, b.Labels)}

	c := kube.Container(b.Images, "recorder")
	c.Ports = []corev1.ContainerPort{
		{Name: "http", ContainerPort: wire.PortRecorder}, {Name: "control", ContainerPort: wire.PortRecorderControl},
	}
	c.ReadinessProbe = kube.Patient(kube.HTTPProbe(wire.RecorderPathHealth, wire.PortRecorderControl, 1))
	c.Resources = kube.Requests("50m", "64Mi", "512Mi")
	c.Env = append(c.Env, corev1.EnvVar{Name: "GODEBUG", Value: wire.RecorderGoDebug})
	kube.Metered(&c)
	c.VolumeMounts = append(c.VolumeMounts, kube.MountWritable("ledger", ledgerDir))
	pod := b.pod(c, wire.AccountProbe, wire.AgentTokenFile)
	pod.ServiceAccountName, pod.AutomountServiceAccountToken = meta.Name, ptr.To(true)
	pod.TerminationGracePeriodSeconds = ptr.To[int64](20) // requests under way are answered and recorded

	set := kube.Singleton(meta, pod)
	if s := b.spec.Topology.Storage; s.Medium == v1alpha1.MediumVolumeClaim {
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{kube.Claim("ledger", resource.MustParse(ledgerSize), s.ClassName, meta.Labels)}
	} else {
		set.Spec.Template.Spec.Volumes = append(set.Spec.Template.Spec.Volumes, kube.EmptyDir("ledger", corev1.StorageMediumDefault, ledgerSize))
	}
	service := kube.Service(meta, kube.Selector(meta), false, wire.PortRecorder, wire.PortRecorderControl)
	objects := []kube.Object{account, role, binding, state, service, set}
	if b.measuresLoad() {
		objects = append(objects, b.each(eachLoadSuffix, kube.ComponentLoad, wire.PortMeasure))
	}
	return objects
}

// measuresLoad: pods of another operator that runs k6 are not measured.
func (b *builder) measuresLoad() bool { return runners.Foreign(b.spec.Load.Runner) == nil }

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

// Recount returns the objects of an audit that compares returned nodes with the node of the first audit, without the ledger.
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
		Independent: b.system.Independent,
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

// auditNodes are all nodes. Checksums are taken of those that a fault hit, of their reference, and of all where several take writes.
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

// loadObjects are the runner's, around a k6 pod that is finished as all pods are, and those by which it is told how the load stands.
func (b *builder) loadObjects() (objects, watched []kube.Object, err error) {
	runner, err := runners.For(b.spec.Load.Runner)
	if err != nil {
		return nil, nil, err
	}
	params, err := load.New(load.Input{
		Name: b.Name, Namespace: b.Namespace, Labels: b.Labels, Load: b.spec.Load, Dataset: b.spec.Dataset, Images: b.Images,
		RecorderURL: fmt.Sprintf("http://%s:%d", b.Host(b.Name+"-recorder"), wire.PortRecorder),
	})
	if err != nil {
		return nil, nil, err
	}
	if b.measuresLoad() {
		kube.Measured(&params.Pod.Spec, b.Images)
	}
	if err := b.finishPod(&params.Pod); err != nil {
		return nil, nil, fmt.Errorf("k6 pods: %w", err)
	}
	objects, watched = runner.Objects(params)
	return objects, watched, nil
}

// loadGuests are the pods of another operator that runs k6: they ask k6 how it stands.
func (b *builder) loadGuests() []topology.Guest {
	foreign := runners.Foreign(b.spec.Load.Runner)
	if foreign == nil {
		return nil
	}
	namespace, labels := foreign.Guest(b.foreignOperators[string(b.spec.Load.Runner)])
	return []topology.Guest{{Namespace: namespace, Labels: labels, Ports: []int{wire.PortK6}}}
}
