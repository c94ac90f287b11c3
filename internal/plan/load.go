package plan

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/internal/load"
	runners "replab.dev/internal/load/registry"
	"replab.dev/internal/wire"
)

// loadObjects are the runner's, around a k6 pod that is finished as all pods are.
func (b *builder) loadObjects() ([]client.Object, error) {
	runner, err := runners.For(b.spec.Load.Runner)
	if err != nil {
		return nil, err
	}
	params, err := load.New(load.Input{
		Name: b.Name, Namespace: b.Namespace, Labels: b.Labels, Load: b.spec.Load, Dataset: b.spec.Dataset, Images: b.Images,
		WitnessURL: fmt.Sprintf("http://%s:%d", b.Host(b.Name+"-witness"), wire.PortWitness),
	})
	if err != nil {
		return nil, err
	}
	if err := b.finishPod(&params.Pod); err != nil {
		return nil, fmt.Errorf("k6 pods: %w", err)
	}
	return runner.Objects(params), nil
}
