package experiment

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/controllers/experiment/fault"
	"replab.dev/controllers/step"
	"replab.dev/internal/plan"
	"replab.dev/internal/topology/registry"
)

// injectFaults injects the faults at their times while the load runs. How is in package fault.
func injectFaults(ctx context.Context, run *Run) (Outcome, error) {
	loadOver, out, err := watchLoad(ctx, run)
	if err != nil || out.Terminal {
		return out, err
	}
	scene, err := sceneOf(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	injected, err := fault.Inject(ctx, scene, loadStart(run).Time, loadOver)
	if err != nil || injected.Terminal {
		return injected, err
	}
	if kept := fault.Keep(ctx, scene); !injected.Done { // holds are what the next steps wait for
		return step.Both(injected, kept), nil
	}
	return injected, nil
}

// manager is the experiment's topology.
type manager struct{ run *Run }

// Switchover implements fault.Manager.
func (m manager) Switchover(ctx context.Context, token, name, from string) error {
	driver, err := registry.For(m.run.Spec.Topology)
	if err != nil {
		return err
	}
	_, err = m.run.Processes.Send(ctx, token, driver.Switchover(plan.Params(m.run.Input), name, from))
	return err
}

// sceneOf is what the faults' package decides on, and acts with.
func sceneOf(ctx context.Context, run *Run) (*fault.Scene, error) {
	pods, err := run.Snapshot.Pods(ctx)
	if err != nil {
		return nil, err
	}
	return &fault.Scene{
		Spec: run.Spec.Faults, Zones: run.Spec.Topology.Zones, Store: run.Plan.Store, Status: &run.Status.Faults, Now: run.Now, Pods: pods,
		State: run.Snapshot.State, Token: run.Snapshot.Token, Agents: run.Processes, Manager: manager{run}, Deleter: run.Cluster, Clock: run.Snapshot.Clock(ctx),
	}, nil
}

// loadStart is when the recorder saw the load's first request.
func loadStart(run *Run) metav1.MicroTime {
	if run.Status.LoadStartTime == nil {
		return metav1.NewMicroTime(run.Now())
	}
	return *run.Status.LoadStartTime
}
