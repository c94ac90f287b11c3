package experiment

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/diagnose"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
	"replab.dev/internal/wire"
)

// deployTimeout is for clusters that have to pull images first; what is known not to come ends the run sooner.
const deployTimeout = 10 * time.Minute

// notes keeps what leftovers.Orphans has to know of an experiment that is gone.
type notes interface {
	Note(ctx context.Context, x *v1alpha1.ReplicationExperiment) error
}

// deploy makes every object and waits until the topology is in its place and all pods are ready. What was applied is
// not applied again afterwards: a change during a fault would be part of the result.
func deploy(ctx context.Context, run *Run) (Outcome, error) {
	applied, since := reached(run, v1alpha1.MilestoneApplied)
	if !applied {
		if err := applyPlan(ctx, run); err != nil {
			if meta.IsNoMatchError(err) { // gone since it was looked for
				return withoutNodes(run, err)
			}
			return refused(run, err)
		}
		reach(run, v1alpha1.MilestoneApplied)
		return Wait(time.Second, v1alpha1.ReasonStarting, "objects are applied, pods are starting"), nil
	}
	if out, err := diagnosePods(ctx, run, true); err != nil || out.Terminal {
		return out, err
	}
	if out, err := nodesHopeless(ctx, run, since); err != nil || out.Terminal {
		return out, err
	}
	state, err := run.Snapshot.State(ctx)
	if err != nil {
		return Outcome{}, err
	}
	waiting, err := unreadyPods(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	if state.Deployed && waiting == "" {
		return Done(), nil
	}
	if out, err := neverReady(ctx, run); err != nil || out.Terminal {
		return out, err
	}
	if since > deployTimeout {
		return Terminal(v1alpha1.ReasonTimeout, "not deployed within %s: pods not ready: %s; topology: %s", deployTimeout, waiting, state.Why), nil
	}
	return Wait(time.Second, v1alpha1.ReasonStarting, "objects are applied, pods are starting"), nil
}

func applyPlan(ctx context.Context, run *Run) error {
	if err := run.Cluster.Note(ctx, run.ReplicationExperiment); err != nil {
		return err
	}
	if err := run.Cluster.Create(ctx, run.ReplicationExperiment, credentials(run)); err != nil {
		return err
	}
	for _, obj := range run.Plan.Deploy {
		if err := run.Cluster.Apply(ctx, run.ReplicationExperiment, obj); err != nil {
			return err
		}
	}
	return nil
}

// credentials are random; once made they are never made again.
func credentials(run *Run) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: kube.Meta(run.Namespace, kube.SecretName(run.Name), "credentials", plan.Labels(run.Name)), StringData: map[string]string{}}
	for _, name := range append(wire.Accounts(), wire.AgentTokenFile) {
		s.StringData[name] = rand.Text()
	}
	return s
}

// unreadyPods names the pods of the plan that are not ready, "" when all are.
func unreadyPods(ctx context.Context, run *Run) (string, error) {
	pods, err := run.Snapshot.Pods(ctx)
	if err != nil {
		return "", err
	}
	names, ready := "", 0
	for i := range pods {
		switch {
		case pods[i].Labels[kube.LabelComponent] == "":
		case diagnose.Ready(&pods[i]):
			ready++
		default:
			names += " " + pods[i].Name
		}
	}
	if names == "" && ready < run.Plan.Pods {
		return fmt.Sprintf("%d of %d pods exist", ready, run.Plan.Pods), nil
	}
	return names, nil
}
