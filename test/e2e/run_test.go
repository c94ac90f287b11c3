//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/e2e-framework/klient/k8s"
	"sigs.k8s.io/e2e-framework/klient/k8s/resources"
	"sigs.k8s.io/e2e-framework/pkg/envconf"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/test/experiment"
)

// Timeouts by what is waited for.
const (
	completeTimeout = 8 * time.Minute
	// terminalTimeout is within which a run that cannot go on must say so: two minutes, and half of one more since several share the machine.
	terminalTimeout = 150 * time.Second
	removeTimeout   = 2 * time.Minute
)

// loaded is an experiment of the folder experiments, whose objects are kept for looking at. In the short tier everything in it takes half
// as long.
func loaded(t *testing.T, name string) *v1alpha1.ReplicationExperiment {
	t.Helper()
	x := experiment.Load(t, name)
	x.Spec.Keep = v1alpha1.KeepAlways
	if !full {
		halve(&x.Spec)
	}
	return x
}

func halve(s *v1alpha1.ReplicationExperimentSpec) {
	for i := range s.Load.Stages {
		shorten(s.Load.Stages, i, s.Load.Stages[i].DurationSeconds/2)
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		f.AtSeconds /= 2
		if f.HoldSeconds > 0 { // else until the audit is done
			f.HoldSeconds /= 2
		}
	}
}

// shorten leaves a stage in which links are set the time for it.
func shorten(stages []v1alpha1.Stage, i int, seconds int64) {
	if i == 0 || !stages[i-1].WithoutDistance() {
		stages[i].DurationSeconds = seconds
	}
}

func create(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) *v1alpha1.ReplicationExperiment {
	t.Helper()
	part := requested(x)
	check(t, requests.Acquire(ctx, part))
	t.Cleanup(func() { requests.Release(part) })
	fresh := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: x.Name, Namespace: namespace}, Spec: x.Spec}
	if err := cfg.Client().Resources().Create(ctx, fresh); err != nil {
		t.Fatalf("create experiment %s: %v", x.Name, err)
	}
	return fresh
}

// edit changes the spec, again when the operator has written the status in between.
func edit(ctx context.Context, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment, change func(*v1alpha1.ReplicationExperimentSpec)) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := cfg.Client().Resources().Get(ctx, x.Name, x.Namespace, x); err != nil {
			return err
		}
		change(&x.Spec)
		return cfg.Client().Resources().Update(ctx, x)
	})
}

// await reads the experiment until ok, and prints its steps as they are reached. The time in which it waits for others does not count.
func await(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment, timeout time.Duration, what string, ok func() bool) {
	t.Helper()
	began, last := time.Now(), ""
	for {
		if err := cfg.Client().Resources().Get(ctx, x.Name, x.Namespace, x); err != nil {
			t.Fatalf("read experiment %s: %v", x.Name, err)
		}
		if now := standing(x); now != last {
			t.Logf("%4.0f s  %s", time.Since(began).Seconds(), now)
			last = now
		}
		if ok() {
			return
		}
		if condition(x, v1alpha1.ConditionAccepted).Reason == "Queued" {
			began = time.Now()
		}
		if time.Since(began) > timeout {
			t.Fatalf("experiment %s: not %s within %s: %s", x.Name, what, timeout, last)
		}
		select {
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		case <-time.After(500 * time.Millisecond): // between two looks
		}
	}
}

func standing(x *v1alpha1.ReplicationExperiment) string {
	for _, c := range x.Status.Conditions {
		if c.Status != metav1.ConditionTrue && c.Type != v1alpha1.ConditionPassed {
			return fmt.Sprintf("%s: %s (%s) %s", x.Status.Phase, c.Type, c.Reason, c.Message)
		}
	}
	return fmt.Sprintf("%s %s", x.Status.Phase, x.Status.Verdict)
}

func complete(x *v1alpha1.ReplicationExperiment) func() bool {
	return func() bool { return condition(x, v1alpha1.ConditionComplete).Status == metav1.ConditionTrue }
}

func condition(x *v1alpha1.ReplicationExperiment, name string) metav1.Condition {
	for _, c := range x.Status.Conditions {
		if c.Type == name {
			return c
		}
	}
	return metav1.Condition{}
}

// remove deletes an experiment and fails unless everything of it is gone in time.
func remove(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) {
	t.Helper()
	began := time.Now()
	if err := cfg.Client().Resources().Delete(ctx, x); err != nil && !apierrors.IsNotFound(err) {
		t.Fatalf("delete experiment %s: %v", x.Name, err)
	}
	goes(ctx, t, cfg, x, began, kube.LabelExperiment+"="+x.Name)
	took(t, x, int64(time.Since(began).Seconds()))
}

// goes fails unless everything with a label is gone in time after an experiment was deleted.
func goes(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment, began time.Time, label string) {
	t.Helper()
	for {
		left := remaining(ctx, t, cfg, label)
		if len(left) == 0 {
			return
		}
		if time.Since(began) > removeTimeout {
			t.Fatalf("%s after the deletion of %s there still are %s", removeTimeout, x.Name, strings.Join(left, ", "))
		}
		time.Sleep(500 * time.Millisecond) // between two looks
	}
}

func remaining(ctx context.Context, t *testing.T, cfg *envconf.Config, label string) []string {
	t.Helper()
	r := cfg.Client().Resources(namespace)
	of := resources.WithLabelSelector(label)
	var left []string
	for kind, list := range map[string]k8s.ObjectList{
		"pod": &corev1.PodList{}, "claim": &corev1.PersistentVolumeClaimList{}, "ConfigMap": &corev1.ConfigMapList{},
		"Secret": &corev1.SecretList{}, "Service": &corev1.ServiceList{}, "ServiceAccount": &corev1.ServiceAccountList{},
		"StatefulSet": &appsv1.StatefulSetList{}, "Deployment": &appsv1.DeploymentList{}, "Job": &batchv1.JobList{},
		"Role": &rbacv1.RoleList{}, "RoleBinding": &rbacv1.RoleBindingList{},
		"NetworkPolicy": &networkingv1.NetworkPolicyList{}, "Lease": &coordinationv1.LeaseList{},
	} {
		check(t, r.List(ctx, list, of))
		check(t, meta.EachListItem(list, func(o runtime.Object) error {
			m, err := meta.Accessor(o)
			if err == nil {
				left = append(left, kind+" "+m.GetName())
			}
			return err
		}))
	}
	return left
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
