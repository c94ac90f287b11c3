package k6operator

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/load"
	"replab.dev/internal/wire"
)

var now = time.Unix(1e9, 0)

func objects(t *testing.T, parallelism int32, change func(*load.Params)) (all, watched []kube.Object) {
	t.Helper()
	p, err := load.New(load.Input{
		Name: "a", Namespace: "tests", Labels: map[string]string{"x": "y"},
		Load:    v1alpha1.LoadSpec{Parallelism: parallelism, Stages: []v1alpha1.Stage{{Name: "steady", DurationSeconds: 60, Users: new(int64(10))}}},
		Dataset: v1alpha1.DatasetSpec{Users: 10, Seed: 1, Locale: "en"},
		Images:  v1alpha1.ImagesStatus{K6: "k6:pinned", Replab: "replab:pinned", PullPolicy: "IfNotPresent"},
	})
	if err != nil {
		t.Fatal(err)
	}
	change(&p)
	return Runner{}.Objects(p)
}

func as(*load.Params) {}

// scene is a TestRun of two k6 pods at one moment.
type scene struct {
	stage string
	age   time.Duration
	gone  bool         // the TestRun
	job   *batchv1.Job // the first; the second goes on
	pods  []corev1.Pod

	starter *batchv1.Job
}

func (s scene) first(t *testing.T) load.Share {
	t.Helper()
	_, watched := objects(t, 2, as)
	if len(watched) != 4 || watched[3].GetName() != "a-load-starter" || watched[1].GetName() != "a-load-1" || watched[2].GetName() != "a-load-2" || watched[2].GetNamespace() != "tests" {
		t.Fatalf("watched are %v", watched)
	}
	seen := load.Seen{Watched: watched, Found: make([]kube.Object, 4), Pods: s.pods, Now: now, Deadline: 5 * time.Minute}
	if !s.gone {
		run := watched[0].DeepCopyObject().(*unstructured.Unstructured)
		run.SetUID("run")
		run.SetCreationTimestamp(metav1.NewTime(now.Add(-s.age)))
		if s.stage != "" {
			if err := unstructured.SetNestedField(run.Object, s.stage, "status", "stage"); err != nil {
				t.Fatal(err)
			}
		}
		seen.Found[0] = run
	}
	if s.job != nil {
		seen.Found[1] = s.job
	}
	seen.Found[2] = job("run", time.Second)
	if s.starter != nil {
		seen.Found[3] = s.starter
	}
	shares := Runner{}.Assess(seen)
	if len(shares) != 2 {
		t.Fatalf("%d shares, want 2", len(shares))
	}
	if second := shares[1]; !s.gone && s.stage != "error" && (second.State != load.Running || second.Name != "Job a-load-2") {
		t.Errorf("what became of one k6 pod changed what is told of the other: %+v", second)
	}
	return shares[0]
}

func job(owner types.UID, age time.Duration, ended ...batchv1.JobConditionType) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-age))}}
	j.OwnerReferences = []metav1.OwnerReference{{UID: owner, Controller: ptr.To(true)}}
	for _, how := range ended {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: how, Status: corev1.ConditionTrue, Message: "BackoffLimitExceeded"})
	}
	return j
}

// TestTheJobsTellWhatTheStatusOfTheTestRunHides: it says finished whatever became of the k6s, and created or started for ever when one is lost.
func TestTheJobsTellWhatTheStatusOfTheTestRunHides(t *testing.T) {
	const moment, long = time.Second, patience + time.Second
	for name, c := range map[string]struct {
		scene scene
		state load.State
		says  string
	}{
		"just applied":                     {scene{age: moment}, load.Running, ""},
		"on its way":                       {scene{stage: "initialized", age: moment}, load.Running, ""},
		"nobody is there":                  {scene{age: long}, load.Hopeless, "watches namespace tests"},
		"stuck half-way":                   {scene{stage: "initialized", age: long}, load.Hopeless, "is initialized"},
		"refused":                          {scene{stage: "error", age: moment}, load.Hopeless, "stage is error"},
		"another's Job in its place":       {scene{stage: "initialized", age: moment, job: job("another", moment)}, load.Running, ""},
		"another's Job that stays":         {scene{stage: "initialized", age: long, job: job("another", moment)}, load.Hopeless, "has its name"},
		"the Job was deleted before":       {scene{stage: "created", age: moment}, load.Hopeless, "was deleted"},
		"the Job was deleted after":        {scene{stage: "started", age: long}, load.Hopeless, "was deleted"},
		"the Job was deleted in the end":   {scene{stage: "finished", age: long}, load.Hopeless, "was deleted"},
		"running":                          {scene{stage: "started", age: long, job: job("run", moment)}, load.Running, ""},
		"running, whatever the stage":      {scene{stage: "initialized", age: long, job: job("run", moment)}, load.Running, ""},
		"complete":                         {scene{stage: "finished", age: long, job: job("run", moment, batchv1.JobComplete)}, load.Complete, ""},
		"complete after its deadline":      {scene{stage: "finished", age: long, job: job("run", time.Hour, batchv1.JobComplete)}, load.Complete, ""},
		"failed, and finished":             {scene{stage: "finished", age: long, job: job("run", moment, batchv1.JobFailed)}, load.Failed, "BackoffLimitExceeded"},
		"failed before the others were up": {scene{stage: "created", age: moment, job: job("run", moment, batchv1.JobFailed)}, load.Failed, "BackoffLimitExceeded"},
		"never ending":                     {scene{stage: "started", age: long, job: job("run", 5*time.Minute+time.Second)}, load.Failed, "not ended within 5m0s"},
		"the TestRun is gone":              {scene{gone: true, job: job("run", moment)}, load.Absent, ""},
	} {
		share := c.scene.first(t)
		if share.State != c.state || (share.Why != "") != (c.says != "") || !strings.Contains(share.Why, c.says) {
			t.Errorf("%s: %+v, want state %d and %q", name, share, c.state, c.says)
		}
	}
	if share := (scene{gone: true}).first(t); share.Name != "TestRun a-load" {
		t.Errorf("what is gone is %s", share.Name)
	}
}

// TestADeadlineCountsFromTheJobsStart, as that of a Job's own does.
func TestADeadlineCountsFromTheJobsStart(t *testing.T) {
	j := job("run", time.Hour)
	j.Status.StartTime = ptr.To(metav1.NewTime(now.Add(-time.Minute)))
	if share := (scene{stage: "started", job: j}).first(t); share.State != load.Running {
		t.Errorf("a Job that waited for its start is %+v", share)
	}
}

// TestNoK6BeginsBeforeTheStarterIsOver, unless it does not come: its pod would take time from the load's first stage.
func TestNoK6BeginsBeforeTheStarterIsOver(t *testing.T) {
	const late, moment = starterPatience + time.Second, time.Second
	for name, c := range map[string]struct {
		scene         scene
		first, second time.Duration // since the k6s are ready; 0 for one that is not
		hold          bool
	}{
		"before it is made":             {scene{stage: "created", age: moment}, moment, moment, true},
		"before all k6s are ready":      {scene{stage: "created", age: late}, late, 0, true},
		"after k6s that took long":      {scene{stage: "created", age: 40 * time.Second}, late, moment, true},
		"while it comes":                {scene{stage: "started", age: moment, starter: job("run", moment)}, moment, moment, true},
		"once it has ended":             {scene{stage: "started", age: moment, starter: job("run", moment, batchv1.JobFailed)}, moment, moment, false},
		"when none comes":               {scene{stage: "created", age: late}, late, late, false},
		"when it hangs":                 {scene{stage: "started", age: late, starter: job("run", moment)}, late, late, false},
		"once it has ended, unanswered": {scene{stage: "started", age: moment, starter: job("run", moment, batchv1.JobFailed)}, moment, 0, false},
	} {
		c.scene.job = job("run", time.Second)
		c.scene.pods = []corev1.Pod{podOf("a-load-1", c.first), podOf("a-load-2", c.second)}
		if share := c.scene.first(t); share.Hold != c.hold || share.State != load.Running {
			t.Errorf("%s: %+v, want it to be held: %t", name, share, c.hold)
		}
	}
}

// podOf a Job, ready for so long.
func podOf(job string, ready time.Duration) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: job, Labels: map[string]string{batchv1.JobNameLabel: job}}}
	if ready > 0 {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-ready))}}
	}
	return p
}

func TestThePodOfAShareIsItsJobs(t *testing.T) {
	pod := func(name, job string) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{batchv1.JobNameLabel: job}}}
	}
	share := scene{stage: "started", job: job("run", 0), pods: []corev1.Pod{pod("x", "a-load-2"), pod("y", "a-load-1"), pod("z", "a-load-starter")}}.first(t)
	if share.Pod == nil || share.Pod.Name != "y" || share.Name != "Job a-load-1" {
		t.Errorf("the first share is %+v", share)
	}
}

// TestThatOperatorsPodsAreWhereItIsSaid, or where its own chart has them.
func TestThatOperatorsPodsAreWhereItIsSaid(t *testing.T) {
	for _, c := range []struct {
		is               wire.ForeignOperator
		namespace, label string
	}{
		{wire.ForeignOperator{}, "k6-operator-system", "controller-manager"},
		{wire.ForeignOperator{Namespace: "load"}, "load", "controller-manager"},
		{wire.ForeignOperator{PodLabels: map[string]string{"control-plane": "mine"}}, "k6-operator-system", "mine"},
	} {
		if namespace, labels := (Runner{}).Guest(c.is); namespace != c.namespace || labels["control-plane"] != c.label || len(labels) != 1 {
			t.Errorf("%+v: %s, %v", c.is, namespace, labels)
		}
	}
}
