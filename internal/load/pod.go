package load

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/load/k6"
	"replab.dev/internal/wire"
)

// Files of the experiment's ConfigMap: the module that k6 runs.
const (
	ScriptFile  = "k6-main.js" // the built-in load
	WrapperFile = "k6-user.js" // around the user's own script
)

// ScriptVolume has the module alone.
const ScriptVolume = "config"

const (
	scriptDir = "/scripts"
	suffix    = "-load"
	// graceSeconds beyond the stages before a k6 pod is ended: it may have to wait for the others first.
	graceSeconds = 240
)

// Input of New.
type Input struct {
	Name      string // of the experiment; object names begin with it
	Namespace string
	Labels    map[string]string // of every object
	Load      v1alpha1.LoadSpec
	Dataset   v1alpha1.DatasetSpec
	Images    v1alpha1.ImagesStatus
	// RecorderURL is where the script sends its requests.
	RecorderURL string
}

// Files are what k6 runs, by name, for the experiment's ConfigMap.
func Files(user *v1alpha1.ScriptSource) map[string]string {
	if user == nil {
		return map[string]string{ScriptFile: k6.Script()}
	}
	return map[string]string{WrapperFile: k6.Wrapper(user.ConfigMapKeyRef.Key)}
}

// New returns what a runner builds from. A k6 pod is never tried again.
func New(in Input) (Params, error) {
	settings, err := config(in)
	if err != nil {
		return Params{}, err
	}
	meta := kube.Meta(in.Namespace, in.Name+suffix, kube.ComponentLoad, in.Labels)
	p := Params{
		Meta: meta, Parallelism: in.Load.Parallelism, DeadlineSeconds: int64(Deadline(in.Load).Seconds()),
		ConfigMap: in.Name + kube.ConfigMapSuffix, File: ScriptFile, Images: in.Images,
		Pod: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels}},
	}
	var user []corev1.Volume
	env := []corev1.EnvVar{{Name: wire.URLEnv, Value: in.RecorderURL}, {Name: wire.LoadEnv, Value: settings}, {Name: "HOME", Value: "/tmp"}}
	mounts := []corev1.VolumeMount{kube.Mount(ScriptVolume, scriptDir), kube.MountWritable("tmp", "/tmp")}
	if s := in.Load.Script; s != nil {
		p.File, user = WrapperFile, []corev1.Volume{userScript(s)}
		mounts = append(mounts, kube.Mount("user", scriptDir+"/user"))
		for _, v := range s.Env {
			env = append(env, v.EnvVar())
		}
	}
	p.Script = scriptDir + "/" + p.File
	scripts := append([]corev1.Volume{kube.ConfigVolume(in.Name, p.File)}, user...)
	p.Pod.Spec = corev1.PodSpec{
		SecurityContext: kube.PodSecurity(), AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To[int64](5),
		RestartPolicy:                 corev1.RestartPolicyNever,
		Volumes:                       append(scripts, kube.EmptyDir("tmp", corev1.StorageMediumDefault, "64Mi")),
		Containers: []corev1.Container{{
			Name: "k6", Image: in.Images.K6, ImagePullPolicy: corev1.PullPolicy(in.Images.PullPolicy),
			WorkingDir:      "/tmp",
			Ports:           []corev1.ContainerPort{{Name: "k6", ContainerPort: wire.PortK6}},
			Env:             env,
			SecurityContext: kube.ContainerSecurity(),
			Resources:       kube.Requests("100m", "64Mi", "1Gi"),
			VolumeMounts:    mounts,
		}},
	}
	return p, nil
}

func userScript(s *v1alpha1.ScriptSource) corev1.Volume {
	return corev1.Volume{Name: "user", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: s.ConfigMapKeyRef.Name},
	}}}
}
