// Package load holds what has k6 run in pods, and what all that do so have in common. A runner is pure: it names the objects that it
// wants, and makes sense of what has become of them. Each k6 waits, ready and paused, until it is told to begin by its own REST API,
// and leaves its summary in its pod's termination message, whatever runs it.
package load

import (
	"encoding/json"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/dataset"
	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
)

// Runner is one way of having k6 run.
type Runner interface {
	// Objects make the k6 pods. Each is created once, and not again: a second load is another experiment. Watched are the objects that show how
	// the load stands: the same and, where another operator makes the pods, what it makes of them. All that make pods are among them.
	Objects(Params) (objects, watched []kube.Object)
	// Assess tells how the shares of the load stand, one for each k6 pod, in their order.
	Assess(Seen) []Share
	// Kind is an empty object of the kind that Objects are of: all of an experiment are deleted together.
	Kind() kube.Object
}

// Foreign is a Runner whose pods another operator makes, from an object of a kind of its own.
type Foreign interface {
	// ForeignKind of that object.
	ForeignKind() kube.ForeignKind
	// Guest tells where that operator's pods run, and their labels: they ask each k6 by its REST API how it stands.
	Guest(wire.ForeignOperator) (namespace string, labels map[string]string)
}

// Params are what a runner builds from.
type Params struct {
	// Meta names and labels what belongs to the load: an object has this name, or the name, "-" and a number.
	Meta metav1.ObjectMeta
	// Pod is a k6 pod but for its command: that begins the module at Script, paused, with the REST API open at wire.PortK6.
	Pod    corev1.PodTemplateSpec
	Script string
	// ConfigMap has the file of that module among its own, for who mounts it himself.
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
	// Pod is the share's k6 pod, nil when there is none.
	Pod *corev1.Pod
	// Hold tells that its k6 is not to begin yet, ready or not: something else is still to come that would disturb the load.
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

// config is the JSON document that tells the built-in script what to do.
func config(in Input) (string, error) {
	mix := in.Load.Mix
	users, err := dataset.New(in.Dataset.Seed, in.Dataset.Locale)
	if err != nil {
		return "", err
	}
	c := wire.LoadConfig{
		Mix:      map[string]int{wire.OperationRegister: int(mix.Register), "profile": int(mix.Profile), "search": int(mix.Search), "login": int(mix.Login)},
		Users:    in.Dataset.Users,
		Prefixes: users.Prefixes(searchPrefixes),
	}
	var start int64
	for _, s := range in.Load.Stages {
		stage := wire.LoadStage{
			Name: s.Name, StartSeconds: start, DurationSeconds: s.DurationSeconds,
			Users: s.Users, SpawnPerSecond: s.SpawnPerSecond, RequestsPerSecond: s.RequestsPerSecond, MaxUsers: s.MaxUsers,
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
