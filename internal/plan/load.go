package plan

import (
	"fmt"

	"replab.dev/internal/kube"
	"replab.dev/internal/load"
	runners "replab.dev/internal/load/registry"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// loadObjects are the runner's, around a k6 pod that is finished as all pods are, and those by which it is told how the load stands.
func (b *builder) loadObjects() (objects, watched []kube.Object, err error) {
	runner, err := runners.For(b.spec.Load.Runner)
	if err != nil {
		return nil, nil, err
	}
	params, err := load.New(load.Input{
		Name: b.Name, Namespace: b.Namespace, Labels: b.Labels, Load: b.spec.Load, Dataset: b.spec.Dataset, Images: b.Images,
		RecorderURL: fmt.Sprintf("http://%s:%d", b.Host(b.Name+"-recorder"), wire.PortRecorder),
	})
	if err != nil {
		return nil, nil, err
	}
	if err := b.finishPod(&params.Pod); err != nil {
		return nil, nil, fmt.Errorf("k6 pods: %w", err)
	}
	objects, watched = runner.Objects(params)
	return objects, watched, nil
}

// loadGuests are the pods of another operator that runs k6: they ask k6 how it stands.
func (b *builder) loadGuests() []topology.Guest {
	foreign := runners.Foreign(b.spec.Load.Runner)
	if foreign == nil {
		return nil
	}
	namespace, labels := foreign.Guest(b.foreignOperators[string(b.spec.Load.Runner)])
	return []topology.Guest{{Namespace: namespace, Labels: labels, Ports: []int{wire.PortK6}}}
}
