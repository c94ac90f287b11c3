//go:build e2e

package e2e

import (
	"context"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/e2e-framework/klient/k8s/resources"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// TestK6Operator is run where REPLAB_K6_OPERATOR says that the cluster has the k6-operator, as `make e2e` finds out. Its two k6 pods are held against the
// witness in each stage, as those of replab's own Jobs are: a run in which they did not share the load, or did not begin together, does not pass.
func TestK6Operator(t *testing.T) {
	if os.Getenv("REPLAB_K6_OPERATOR") == "" {
		t.Skip("REPLAB_K6_OPERATOR is not set: the cluster need not have the k6-operator")
	}
	carryOut(t, "k6-operator", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		for _, stage := range s.Load.Stages {
			if checked := stage.ClosedLoopPermille != nil; checked != (stage.Name != "open") {
				t.Errorf("stage %s: is checked as a closed loop: %t", stage.Name, checked)
			}
		}
		lostNothing(t, s)
	})
}

// TestK6OperatorLosesItsLoad checks that each run says so at once, though the TestRun's status says nothing of it, and leaves nothing.
func TestK6OperatorLosesItsLoad(t *testing.T) {
	if os.Getenv("REPLAB_K6_OPERATOR") == "" {
		t.Skip("REPLAB_K6_OPERATOR is not set: the cluster need not have the k6-operator")
	}
	for name, c := range map[string]struct {
		change    func(*v1alpha1.ReplicationExperimentSpec)
		condition string // in which it ends
		reason    string
		text      string
	}{
		"lost-k6":     {func(*v1alpha1.ReplicationExperimentSpec) {}, v1alpha1.ConditionLoadFinished, v1alpha1.ReasonLoadFailed, "Job lost-k6-load-2 failed"},
		"no-k6-image": {func(s *v1alpha1.ReplicationExperimentSpec) { s.Load.Image = "replab.invalid/none:1" }, v1alpha1.ConditionLoadStarted, v1alpha1.ReasonImageCannotBePulled, "replab.invalid/none:1"},
	} {
		sideBySide(t, features.New(name).
			Assess("ends with the reason and leaves nothing", func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
				x := create(ctx, t, cfg, variant(t, "k6-operator", name, 40, func(s *v1alpha1.ReplicationExperimentSpec) {
					s.Keep = v1alpha1.KeepNever
					c.change(s)
				}))
				if c.condition == v1alpha1.ConditionLoadFinished {
					await(ctx, t, cfg, x, terminalTimeout, "under load", func() bool { return condition(x, v1alpha1.ConditionLoadStarted).Status == metav1.ConditionTrue })
					check(t, cfg.Client().Resources().Delete(ctx, k6Pod(ctx, t, cfg, name+"-load-2")))
				}
				ends(ctx, t, cfg, x, c.condition, c.reason, c.text)
				noTestRuns(ctx, t, cfg, name)
				return ctx
			}).Feature())
	}
}

// k6Pod is the pod of a Job.
func k6Pod(ctx context.Context, t *testing.T, cfg *envconf.Config, job string) *corev1.Pod {
	t.Helper()
	var pods corev1.PodList
	check(t, cfg.Client().Resources(namespace).List(ctx, &pods, resources.WithLabelSelector("job-name="+job)))
	if len(pods.Items) != 1 {
		t.Fatalf("Job %s has %d pods", job, len(pods.Items))
	}
	return &pods.Items[0]
}

// noTestRuns fails unless what an experiment had the k6-operator do is gone with all that came of it: the starter bears no label of the experiment.
func noTestRuns(ctx context.Context, t *testing.T, cfg *envconf.Config, experiment string) {
	t.Helper()
	runs := &unstructured.UnstructuredList{}
	runs.SetGroupVersionKind(schema.GroupVersionKind{Group: "k6.io", Version: "v1alpha1", Kind: "TestRunList"})
	for began := time.Now(); ; time.Sleep(500 * time.Millisecond) { // between two looks
		check(t, cfg.Client().Resources(namespace).List(ctx, runs, resources.WithLabelSelector(kube.LabelExperiment+"="+experiment)))
		left := remaining(ctx, t, cfg, "k6_cr="+experiment+"-load")
		for _, r := range runs.Items {
			left = append(left, "TestRun "+r.GetName())
		}
		if len(left) == 0 {
			return
		}
		if time.Since(began) > removeTimeout {
			t.Fatalf("there still are %q", left)
		}
	}
}
