package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
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
	if b.spec.Topology.Nodes > 1 {
		c.LagIntervalMilliseconds = b.spec.Probes.Lag.IntervalMilliseconds
	}
	if len(c.LagPayloadBytes) == 0 {
		c.LagPayloadBytes = []int64{b.spec.Probes.Lag.PayloadBytes}
	}
	for _, s := range b.spec.Load.Stages {
		c.Stages = append(c.Stages, wire.Stage{Name: s.Name, Discard: s.Discard, DurationSeconds: s.DurationSeconds})
	}
	return c
}

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
	return []kube.Object{account, role, binding, state, service, set}
}
