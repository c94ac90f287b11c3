//go:build e2e

package e2e

import (
	"context"
	"os"
	"strings"
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
// recorder in each stage, as those of replab's own Jobs are: a run in which they did not share the load, or did not begin together, does not pass.
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
	for name, change := range map[string]func(*v1alpha1.ReplicationExperimentSpec){
		"no-k6-image": func(s *v1alpha1.ReplicationExperimentSpec) { s.Load.Image = "replab.invalid/none:1" },
		"lost-k6":     func(*v1alpha1.ReplicationExperimentSpec) {},
	} {
		sideBySide(t, features.New(name).
			Assess("ends with the reason and leaves nothing", func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
				x := create(ctx, t, cfg, variant(t, "k6-operator", name, 40, func(s *v1alpha1.ReplicationExperimentSpec) {
					s.Keep = v1alpha1.KeepNever
					change(s)
				}))
				if name == "no-k6-image" {
					ends(ctx, t, cfg, x, v1alpha1.ConditionLoadStarted, v1alpha1.ReasonImageCannotBePulled, "replab.invalid/none:1")
				} else {
					losesK6(ctx, t, cfg, x)
				}
				noTestRuns(ctx, t, cfg, name)
				return ctx
			}).Feature())
	}
}

// losesK6 takes one of an experiment's k6 pods away under load.
func losesK6(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) {
	t.Helper()
	await(ctx, t, cfg, x, terminalTimeout, "under load", func() bool { return condition(x, v1alpha1.ConditionLoadStarted).Status == metav1.ConditionTrue })
	job := x.Name + "-load-2"
	check(t, cfg.Client().Resources().Delete(ctx, k6Pod(ctx, t, cfg, job)))
	await(ctx, t, cfg, x, terminalTimeout, "complete", complete(x))
	found := condition(x, v1alpha1.ConditionLoadFinished)
	if x.Status.Verdict != v1alpha1.VerdictInconclusive || found.Reason != v1alpha1.ReasonLoadFailed || !strings.Contains(found.Message, "Job "+job+" failed") {
		t.Errorf("verdict %s; the load ended with %s: %s", x.Status.Verdict, found.Reason, found.Message)
	}
	if w := x.Status.Writes; w != nil && w.Lost != nil {
		t.Errorf("of writes that nobody audited %d are lost", *w.Lost)
	}
	remove(ctx, t, cfg, x)
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
