package job

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/kube"
	"replab.dev/internal/load"
)

func TestTheJobsTellHowTheSharesStand(t *testing.T) {
	_, watched := Runner{}.Objects(load.Params{
		Meta:        metav1.ObjectMeta{Name: "a-load", Labels: map[string]string{"x": "y"}},
		Pod:         corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "k6"}}}},
		Parallelism: 4,
	})
	ended := func(i int, how batchv1.JobConditionType, status corev1.ConditionStatus, message string) kube.Object {
		job := watched[i].DeepCopyObject().(*batchv1.Job)
		job.Status.Conditions = []batchv1.JobCondition{
			{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue}, {Type: how, Status: status, Message: message},
		}
		return job
	}
	found := []kube.Object{
		ended(0, batchv1.JobComplete, corev1.ConditionTrue, "fine"),
		ended(1, batchv1.JobFailed, corev1.ConditionTrue, "BackoffLimitExceeded"),
		ended(2, batchv1.JobFailed, corev1.ConditionFalse, "not yet"),
		nil,
	}
	pod := func(name, job string, age time.Duration) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{batchv1.JobNameLabel: job}, CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0).Add(-age)),
		}}
	}
	pods := []corev1.Pod{
		pod("late", "a-load-1", time.Second), pod("early", "a-load-1", time.Minute), pod("other", "a-seed", 0), pod("first", "a-load-0", 0),
	}
	want := []struct {
		name, why, pod string
		state          load.State
	}{
		{"Job a-load-0", "", "first", load.Complete},
		{"Job a-load-1", "BackoffLimitExceeded", "late", load.Failed},
		{"Job a-load-2", "", "", load.Running},
		{"Job a-load-3", "", "", load.Absent},
	}
	shares := Runner{}.Assess(load.Seen{Watched: watched, Found: found, Pods: pods})
	if len(shares) != len(want) {
		t.Fatalf("%d shares, want %d", len(shares), len(want))
	}
	for i, s := range shares {
		name := ""
		if s.Pod != nil {
			name = s.Pod.Name
		}
		if w := want[i]; s.Name != w.name || s.Why != w.why || s.State != w.state || name != w.pod {
			t.Errorf("share %d is %+v with pod %q, want %+v", i, s, name, w)
		}
	}
}

func TestEachJobHasItsOwnShare(t *testing.T) {
	jobs, _ := Runner{}.Objects(load.Params{
		Meta: metav1.ObjectMeta{Name: "a-load"}, Script: "/scripts/x.js", Parallelism: 2, DeadlineSeconds: 300,
		Pod: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "k6"}}}},
	})
	for i, segment := range []string{"0/2:1/2", "1/2:2/2"} {
		job := jobs[i].(*batchv1.Job)
		argv := job.Spec.Template.Spec.Containers[0].Command
		if len(argv) != 12 || argv[8] != segment || argv[10] != "0,1/2,1" || argv[11] != "/scripts/x.js" {
			t.Errorf("Job %d runs %q", i, argv)
		}
		if *job.Spec.BackoffLimit != 0 || *job.Spec.ActiveDeadlineSeconds != 300 {
			t.Errorf("Job %d: %d retries within %d s, want none within 300 s", i, *job.Spec.BackoffLimit, *job.Spec.ActiveDeadlineSeconds)
		}
	}
}
