package plan

import (
	"encoding/json"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/dataset"
	"replab.dev/internal/kube"
	"replab.dev/internal/load/k6"
	"replab.dev/internal/wire"
)

const (
	scriptFile      = "k6-main.js"
	wrapperFile     = "k6-user.js"
	scriptDir       = "/scripts"
	searchPrefixes  = 50
	defaultMaxUsers = 100
	// loadGraceSeconds beyond the stages before a k6 Job is ended: its pod may have to wait for the others first.
	loadGraceSeconds = 240
)

func loadScripts(user *v1alpha1.ScriptSource) map[string]string {
	if user == nil {
		return map[string]string{scriptFile: k6.Script()}
	}
	return map[string]string{wrapperFile: k6.Wrapper(user.ConfigMapKeyRef.Key)}
}

// loadJobs share the load by k6's execution segments. Each k6 waits, ready and paused, until it is told to begin, so that all begin
// together. A k6 pod is never tried again: a second load is another experiment.
func (b *builder) loadJobs() ([]*batchv1.Job, error) {
	settings, err := b.loadConfig()
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("load configuration: %w", err)
	}
	n := b.spec.Load.Parallelism
	jobs := make([]*batchv1.Job, 0, n)
	for i := range n {
		job := b.job("-load-"+strconv.Itoa(int(i)), kube.ComponentLoad, 0, b.loadPod(string(config), i, n))
		job.Spec.ActiveDeadlineSeconds = ptr.To(loadSeconds(b.spec.Load) + loadGraceSeconds)
		jobs = append(jobs, job)
	}
	return jobs, nil
}

func (b *builder) loadPod(config string, i, n int32) corev1.PodSpec {
	file, scripts := scriptFile, []corev1.Volume{kube.ConfigVolume(b.Name, scriptFile)}
	witness := fmt.Sprintf("http://%s:%d", b.host(b.Name+"-witness"), wire.PortWitness)
	env := []corev1.EnvVar{{Name: wire.URLEnv, Value: witness}, {Name: wire.LoadEnv, Value: config}, {Name: "HOME", Value: "/tmp"}}
	mounts := []corev1.VolumeMount{kube.Mount("config", scriptDir), kube.MountWritable("tmp", "/tmp")}
	if s := b.spec.Load.Script; s != nil {
		file, scripts = wrapperFile, []corev1.Volume{kube.ConfigVolume(b.Name, wrapperFile), userScript(s)}
		mounts = append(mounts, kube.Mount("user", scriptDir+"/user"))
		for _, v := range s.Env {
			env = append(env, v.EnvVar())
		}
	}
	command := []string{"k6", "run", "--quiet", "--no-usage-report", "--paused", "--address", ":" + strconv.Itoa(wire.PortK6)}
	if n > 1 {
		command = append(command, "--execution-segment", fmt.Sprintf("%d/%d:%d/%d", i, n, i+1, n), "--execution-segment-sequence", sequence(n))
	}
	return corev1.PodSpec{
		SecurityContext: kube.PodSecurity(), AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To[int64](5),
		Volumes:                       append(scripts, kube.EmptyDir("tmp", corev1.StorageMediumDefault, "64Mi")),
		Containers: []corev1.Container{{
			Name: "k6", Image: b.Images.K6, ImagePullPolicy: corev1.PullPolicy(b.Images.PullPolicy),
			Command:         append(command, scriptDir+"/"+file),
			WorkingDir:      "/tmp",
			Ports:           []corev1.ContainerPort{{Name: "k6", ContainerPort: wire.PortK6}},
			Env:             env,
			SecurityContext: kube.ContainerSecurity(),
			Resources:       kube.Requests("100m", "64Mi", "1Gi"),
			VolumeMounts:    mounts,
		}},
	}
}

func userScript(s *v1alpha1.ScriptSource) corev1.Volume {
	return corev1.Volume{Name: "user", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: s.ConfigMapKeyRef.Name},
	}}}
}

// sequence is "0,1/n,2/n,...,1".
func sequence(n int32) string {
	s := "0"
	for i := int32(1); i < n; i++ {
		s += fmt.Sprintf(",%d/%d", i, n)
	}
	return s + ",1"
}

func (b *builder) loadConfig() (wire.LoadConfig, error) {
	d, mix := b.spec.Dataset, b.spec.Load.Mix
	users, err := dataset.New(d.Seed, d.Locale)
	if err != nil {
		return wire.LoadConfig{}, err
	}
	c := wire.LoadConfig{
		Mix:      map[string]int{"register": int(mix.Register), "profile": int(mix.Profile), "search": int(mix.Search), "login": int(mix.Login)},
		Users:    d.Users,
		Prefixes: users.Prefixes(searchPrefixes),
	}
	var start int64
	for _, s := range b.spec.Load.Stages {
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
	return c, nil
}

// loadSeconds is how long the stages take together.
func loadSeconds(load v1alpha1.LoadSpec) int64 {
	var sum int64
	for _, s := range load.Stages {
		sum += s.DurationSeconds
	}
	return sum
}
