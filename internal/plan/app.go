package plan

import (
	"cmp"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	proxies "replab.dev/internal/proxy/registry"
	"replab.dev/internal/topology/registry"
	"replab.dev/internal/wire"
)

// How long a request may take before it is given up, and how many may be under way in one pod of the app: what its memory holds with ease.
const (
	requestTimeoutMilliseconds = 10_000
	appMaxConnections          = 64
	appMaxInFlight             = 2048
)

func (b *builder) socialConfig() wire.SocialConfig {
	paths := b.paths()
	return wire.SocialConfig{
		Listen: fmt.Sprintf(":%d", wire.PortSocial), Engine: b.Engine, Writes: paths.Writes, Reads: paths.Reads,
		SecretDir: wire.SecretsDir, PasswordHash: b.spec.App.PasswordHash, PasswordHashCost: int(b.spec.App.PasswordHashCost),
		MaxConnections: appMaxConnections, MaxInFlight: appMaxInFlight, RequestTimeoutMilliseconds: requestTimeoutMilliseconds,
		NotSent: paths.NotSent, HideNodes: paths.SendsTwice,
	}
}

func (b *builder) socialObjects() []kube.Object {
	meta := kube.Meta(b.Namespace, b.Name+"-social", kube.ComponentSocial, b.Labels)
	c := b.socialContainer()
	c.Ports = append(c.Ports, corev1.ContainerPort{Name: "http", ContainerPort: wire.PortSocial})
	// An app whose database is away is to answer so, not to vanish.
	c.ReadinessProbe = kube.Patient(kube.HTTPProbe(wire.SocialPathReady, wire.PortSocial, 1))
	c.LivenessProbe = kube.HungProbe(wire.SocialPathHealth, wire.PortSocial)
	pod := b.pod(c, wire.AccountApp)
	if b.spec.App.Image != "" {
		pod.Volumes = append(pod.Volumes, kube.EmptyDir("tmp", corev1.StorageMediumDefault, "256Mi"))
	}
	return []kube.Object{
		kube.Service(meta, kube.Selector(meta), false, wire.PortSocial),
		b.each(eachAppSuffix, kube.ComponentSocial, wire.PortSocial),
		kube.Deployment(meta, b.spec.App.Replicas, pod),
	}
}

// socialContainer runs the built-in app, or the user's own by the contract of docs/how-to/own-app.md: its image's command, configured by the environment.
func (b *builder) socialContainer() corev1.Container {
	c := kube.Container(b.Images, "social")
	c.Resources = kube.Requests("50m", "32Mi", "256Mi")
	if b.spec.App.Image != "" {
		c.Image, c.Args = string(b.spec.App.Image), nil
		c.Env = []corev1.EnvVar{{Name: wire.EnvConfig, Value: wire.ConfigDir + "/social.json"}, {Name: "HOME", Value: "/tmp"}}
		c.Resources = kube.Requests("50m", "64Mi", "1Gi")
		c.VolumeMounts = append(c.VolumeMounts, kube.MountWritable("tmp", "/tmp"))
		return c
	}
	kube.Metered(&c)
	return c
}

func (b *builder) seedConfig() wire.SeedConfig {
	d := b.spec.Dataset
	return wire.SeedConfig{
		Engine: b.Engine, Writes: b.paths().Seed, SecretDir: wire.SecretsDir,
		Users: d.Users, Seed: d.Seed, Locale: d.Locale, PasswordHash: b.spec.App.PasswordHash, PasswordHashCost: int(b.spec.App.PasswordHashCost),
	}
}

// seedJob may be tried again: it goes on behind the last user that is there.
func (b *builder) seedJob() *batchv1.Job {
	c := kube.Container(b.Images, "seed")
	kube.Metered(&c)
	c.Resources = kube.Requests("50m", "32Mi", "256Mi")
	return b.job("-seed", kube.ComponentSeed, 2, b.pod(c, wire.AccountApp))
}

// pod runs one container of replab's with its configuration file and the secrets it needs.
func (b *builder) pod(c corev1.Container, secrets ...string) corev1.PodSpec {
	return corev1.PodSpec{
		SecurityContext: kube.PodSecurity(), AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To[int64](5),
		Containers:                    []corev1.Container{c},
		Volumes:                       []corev1.Volume{kube.ConfigVolume(b.Name, c.Name+".json"), kube.SecretsVolume(b.Name, secrets...)},
	}
}

func (b *builder) job(suffix, component string, retries int32, pod corev1.PodSpec) *batchv1.Job {
	pod.RestartPolicy = corev1.RestartPolicyNever
	meta := kube.Meta(b.Namespace, b.Name+suffix, component, b.Labels)
	return &batchv1.Job{
		ObjectMeta: meta,
		Spec: batchv1.JobSpec{
			BackoffLimit: ptr.To(retries),
			Template:     corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels}, Spec: pod},
		},
	}
}

// Images resolves the images of an experiment: its own, or else the catalogue's.
func Images(spec *v1alpha1.ReplicationExperimentSpec, catalogue wire.Images) (v1alpha1.ImagesStatus, error) {
	t, engine := spec.Topology, string(registry.Engine(spec.Topology))
	usual := catalogue.Servers[engine]
	if registry.Special(t) {
		usual = ""
	}
	usual = cmp.Or(catalogue.Servers[string(t.Type)+"/"+engine], usual)
	if provider := registry.Provider(t); provider != "" { // it wants an image that understands what it says, which one for the type need not
		usual = cmp.Or(catalogue.Servers[provider+"/"+engine], usual)
	}
	images := v1alpha1.ImagesStatus{
		Replab: catalogue.Replab, PullPolicy: catalogue.PullPolicy,
		Server: cmp.Or(string(t.Image), usual),
		Proxy:  cmp.Or(string(spec.Routing.Image), catalogue.Proxies[string(spec.Routing.Proxy)]),
		K6:     cmp.Or(string(spec.Load.Image), catalogue.K6),
	}
	routing, err := proxies.For(spec.Routing.Proxy)
	switch {
	case err != nil:
		return images, err
	case images.Server == "":
		return images, fmt.Errorf("the operator's catalogue has no image of %s for topology.type %s: set topology.image, or images.servers in the operator's configuration", engine, t.Type)
	case images.Proxy == "" && routing.Traits().NeedsImage:
		return images, fmt.Errorf("the operator's catalogue has no image for routing.proxy %s: set routing.image, or images.proxies in the operator's configuration", spec.Routing.Proxy)
	}
	return images, nil
}
