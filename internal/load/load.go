// Package load has k6 run in pods. A runner is pure: it names its objects, and interprets their state. Each k6 waits for its start by its REST API,
// and leaves a summary in its pod's termination message.
package load

import (
	"encoding/json"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/dataset"
	"replab.dev/internal/kube"
	"replab.dev/internal/load/k6"
	"replab.dev/internal/wire"
)

// Runner is one way of having k6 run.
type Runner interface {
	// Objects make the k6 pods, each created once. Watched show how the load stands: also what another operator makes of these objects.
	Objects(Params) (objects, watched []kube.Object)
	// Assess returns the state of each k6 pod's share of the load.
	Assess(Seen) []Share
	// Kind is an empty object of the kind that Objects are of: all of an experiment are deleted together.
	Kind() kube.Object
}

// Foreign is a Runner whose pods another operator makes, from an object of a kind of its own.
type Foreign interface {
	// ForeignKind of that object.
	ForeignKind() kube.ForeignKind
	// Guest is where that operator's pods run, and their labels. They ask each k6 by its REST API.
	Guest(wire.ForeignOperator) (namespace string, labels map[string]string)
}

// Params are what a runner builds from.
type Params struct {
	// Meta names and labels what belongs to the load: an object has this name, or the name, "-" and a number.
	Meta metav1.ObjectMeta
	// Pod is a k6 pod but for its command: that begins the module at Script, paused, with the REST API open at wire.PortK6.
	Pod    corev1.PodTemplateSpec
	Script string
	// ConfigMap and File hold that module, for runners that mount it themselves.
	ConfigMap, File string
	Images          v1alpha1.ImagesStatus
	Parallelism     int32 // k6 pods that share the load by k6's execution segments
	// DeadlineSeconds is how long a k6 pod may take, from its making to its end.
	DeadlineSeconds int64
}

// Seen is what there is of a load.
type Seen struct {
	// Watched are those of Runner.Objects, and Found the same as they are, nil for one that does not exist.
	Watched, Found []kube.Object
	Pods           []corev1.Pod // all of the experiment
	Now            time.Time
	// Deadline is Params.DeadlineSeconds.
	Deadline time.Duration
}

// State of a share.
type State int

// States of a share.
const (
	Absent  State = iota // not made yet, or deleted
	Running              // it has neither ended nor failed; its pod may still be on its way
	Complete
	Failed
	Hopeless // there is none, and none will be made
)

// Share is one k6 pod's part of the load.
type Share struct {
	Name  string // of the object that it stands for, with its kind
	State State
	Why   string // it failed, in Kubernetes' words, or is hopeless; "" when it has none
	// Pod is the share's k6 pod, nil without one.
	Pod *corev1.Pod
	// Hold: its k6 must not begin yet, since something is to come that would disturb the load.
	Hold bool
}

// Deadline is how long a k6 pod of a load may take, from its making to its end.
func Deadline(load v1alpha1.LoadSpec) time.Duration {
	sum := int64(graceSeconds)
	for _, s := range load.Stages {
		sum += s.DurationSeconds
	}
	return time.Duration(sum) * time.Second
}

const (
	searchPrefixes  = 50
	defaultMaxUsers = 100
)

// config is the JSON configuration of the built-in script.
func config(in Input) (string, error) {
	mix := in.Load.Mix
	users, err := dataset.New(in.Dataset.Seed, in.Dataset.Locale)
	if err != nil {
		return "", err
	}
	c := wire.LoadConfig{
		Mix: map[string]int{
			wire.OperationRegister: int(mix.Register), wire.OperationProfile: int(mix.Profile), "search": int(mix.Search), "login": int(mix.Login), wire.OperationUpdate: int(mix.Update),
		},
		Users:    in.Dataset.Users,
		Prefixes: users.Prefixes(searchPrefixes),
	}
	var start int64
	for _, s := range in.Load.Stages {
		stage := wire.LoadStage{
			Name: s.Name, StartSeconds: start, DurationSeconds: s.DurationSeconds,
			Users: s.ClosedUsers(), SpawnPerSecond: s.SpawnPerSecond, RequestsPerSecond: s.RequestsPerSecond, MaxUsers: s.MaxUsers,
		}
		if stage.RequestsPerSecond > 0 && stage.MaxUsers == 0 {
			stage.MaxUsers = defaultMaxUsers
		}
		c.Stages = append(c.Stages, stage)
		start += s.DurationSeconds
	}
	text, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("load configuration: %w", err)
	}
	return string(text), nil
}

// OfJob is how the share of a k6 pod stands that a Job has made, and why it failed.
func OfJob(job *batchv1.Job) (s State, why string) {
	switch ended, message := kube.JobEnded(job); ended {
	case batchv1.JobComplete:
		return Complete, ""
	case batchv1.JobFailed:
		return Failed, message
	}
	return Running, ""
}

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
