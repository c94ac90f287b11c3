package experiment

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

type machines struct {
	*scene
	err error
}

func (m machines) Machines(context.Context, []string) ([]corev1.Node, error) { return nil, m.err }

// TestProvenanceWithoutTheRightToReadMachines: an operator of some namespaces alone still says what the containers were.
func TestProvenanceWithoutTheRightToReadMachines(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("not of this namespace"))
	run := &Run{ReplicationExperiment: &v1alpha1.ReplicationExperiment{}, Version: "v1"}
	there := &scene{pods: []corev1.Pod{pod("x-db-0", kube.ComponentNode)}}

	run.Cluster = machines{there, forbidden}
	run.Snapshot = &Snapshot{x: run.ReplicationExperiment, cluster: there}
	p, err := provenanceOf(t.Context(), run)
	if err != nil || p.MachinesUnknown == "" || p.Operator != "v1" || len(p.Containers) != len(there.pods[0].Spec.Containers) {
		t.Errorf("%+v, %v", p, err)
	}
	run.Cluster = machines{there, errors.New("the API server is away")}
	if _, err := provenanceOf(t.Context(), run); err == nil {
		t.Error("what may be read later is not read again")
	}
}
