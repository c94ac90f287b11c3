package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/diagnose"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
	"replab.dev/internal/provenance"
)

// diagnosePods looks for what will not go away by itself. Crashes of servers only count while no fault can have caused them.
func diagnosePods(ctx context.Context, run *Run, crashes bool) (Outcome, error) {
	s, err := diagnosisScene(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	return diagnose.Find(ctx, s, crashes)
}

func diagnosisScene(ctx context.Context, run *Run) (*diagnose.Scene, error) {
	pods, err := run.Snapshot.Pods(ctx)
	if err != nil {
		return nil, err
	}
	claims, err := run.Snapshot.Claims(ctx)
	if err != nil {
		return nil, err
	}
	refusals, err := run.Snapshot.Refusals(ctx)
	if err != nil {
		return nil, err
	}
	return &diagnose.Scene{
		Now: run.Now(), Pods: pods, Claims: claims, Refusals: refusals, Controllers: run.Plan.Controllers(), Words: run.Cluster,
	}, nil
}

// alteredPods ends a run some of whose pods were changed: what they did, and what reached them, is not what was planned.
func alteredPods(ctx context.Context, run *Run) (Outcome, error) {
	if isTrue(run.Status.Conditions, v1alpha1.ConditionJudged) || !isTrue(run.Status.Conditions, v1alpha1.ConditionAccepted) {
		return Done(), nil
	}
	pods, err := run.Snapshot.Pods(ctx)
	if err != nil {
		return Outcome{}, err
	}
	found := provenance.Altered(run.Plan.Templates(), append(run.Plan.Controllers(), plan.AuditNames(run.Name)...), pods)
	for _, name := range run.Plan.Nodes {
		if slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Name == name }) {
			continue
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: name}}
		there, err := run.Cluster.Get(ctx, pod)
		if err != nil {
			return Outcome{}, err
		}
		if label := pod.Labels[kube.LabelExperiment]; there && label != run.Name {
			found = append(found, fmt.Sprintf("Label %s of pod %s is %q, not %q as planned.", kube.LabelExperiment, name, label, run.Name))
		}
	}
	if len(found) > 0 {
		return Terminal(v1alpha1.ReasonPodAltered, "pods were changed after they were made: %s", strings.Join(found, " ")), nil
	}
	return Done(), nil
}

// neverReady finds a pod that runs and does not get ready.
func neverReady(ctx context.Context, run *Run) (Outcome, error) {
	s, err := diagnosisScene(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	return diagnose.NeverReady(ctx, s), nil
}
