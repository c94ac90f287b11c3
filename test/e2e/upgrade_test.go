//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/e2e-framework/klient/k8s/resources"
	"sigs.k8s.io/e2e-framework/pkg/envconf"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// TestUpgradeInMidRun gives the operator another image of replab's to deploy while a load runs, one that does not exist, and restarts
// it: the run goes on with the images that it was started with, its audit too. It runs before all that is parallel, since no other run can start.
func TestUpgradeInMidRun(t *testing.T) {
	x := variant(t, "semisync", "upgraded", 25, func(s *v1alpha1.ReplicationExperimentSpec) {
		s.Faults = []v1alpha1.Fault{{Name: "crash", AtSeconds: 17, Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionKill, HoldSeconds: 5}}
	})
	runOnce(t, x, wholeCluster, v1alpha1.VerdictPassed, func(ctx context.Context, t *testing.T, cfg *envconf.Config) *v1alpha1.ReplicationExperiment {
		x = create(ctx, t, cfg, x)
		await(ctx, t, cfg, x, completeTimeout, "under load", func() bool { return x.Status.LoadStartTime != nil })
		before := configure(ctx, t, cfg, func(c *wire.OperatorConfig) { c.Images.Replab += "-upgraded" })
		defer configure(context.WithoutCancel(ctx), t, cfg, func(c *wire.OperatorConfig) { c.Images.Replab = before.Images.Replab })
		if x.Status.Images == nil || x.Status.Images.Replab != before.Images.Replab {
			t.Errorf("images %+v, want replab to be %s", x.Status.Images, before.Images.Replab)
		}
		await(ctx, t, cfg, x, completeTimeout, "complete", complete(x)) // before the next run finds the image that is none
		return x
	}, nil, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		failedOver(t, s)
		lostNothing(t, s)
	})
}

// configure changes the operator's configuration, and waits until an operator that has it has taken the place of the one before. It
// returns what it was.
func configure(ctx context.Context, t *testing.T, cfg *envconf.Config, change func(*wire.OperatorConfig)) wire.OperatorConfig {
	t.Helper()
	system := "replab-system"
	if n := os.Getenv("NAMESPACE"); n != "" {
		system = n
	}
	r := cfg.Client().Resources(system)
	operators := resources.WithLabelSelector("app.kubernetes.io/name=replab,app.kubernetes.io/component=operator")
	var deployments appsv1.DeploymentList
	check(t, r.List(ctx, &deployments, operators))
	if len(deployments.Items) == 0 { // kustomize labels the pods alone
		var one appsv1.Deployment
		check(t, r.Get(ctx, "replab-operator", system, &one))
		deployments.Items = append(deployments.Items, one)
	}
	volumes := deployments.Items[0].Spec.Template.Spec.Volumes
	i := slices.IndexFunc(volumes, func(v corev1.Volume) bool { return v.ConfigMap != nil })
	var m corev1.ConfigMap
	check(t, r.Get(ctx, volumes[i].ConfigMap.Name, system, &m))
	var before, after wire.OperatorConfig
	check(t, json.Unmarshal([]byte(m.Data["operator.json"]), &before))
	check(t, json.Unmarshal([]byte(m.Data["operator.json"]), &after))
	change(&after)
	text, err := json.MarshalIndent(after, "", "  ")
	check(t, err)
	m.Data["operator.json"] = string(text)
	check(t, r.Update(ctx, &m))

	var old corev1.PodList
	check(t, r.List(ctx, &old, operators))
	for i := range old.Items {
		check(t, r.Delete(ctx, &old.Items[i]))
	}
	deadline := time.Now().Add(completeTimeout)
	for !replaced(ctx, t, r, operators, old.Items) {
		if time.Now().After(deadline) {
			t.Fatal("no operator with the changed configuration gets ready")
		}
		time.Sleep(200 * time.Millisecond) // between two looks
	}
	return before
}

// replaced tells whether an operator is ready that is none of the old ones.
func replaced(ctx context.Context, t *testing.T, r *resources.Resources, operators resources.ListOption, old []corev1.Pod) bool {
	t.Helper()
	var pods corev1.PodList
	check(t, r.List(ctx, &pods, operators))
	return slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool {
		known := slices.ContainsFunc(old, func(o corev1.Pod) bool { return o.UID == p.UID })
		ready := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		return !known && ready && p.DeletionTimestamp == (*metav1.Time)(nil)
	})
}
