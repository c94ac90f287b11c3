package plugin

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/decode"
)

// experiments of a namespace, or of all. Those that cannot be decoded are named to warn.
func (c Cluster) experiments(ctx context.Context, namespace string, warn io.Writer) ([]v1alpha1.ReplicationExperiment, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ReplicationExperimentList"))
	if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	return decoded(list.Items, warn), nil
}

func decoded(items []unstructured.Unstructured, warn io.Writer) []v1alpha1.ReplicationExperiment {
	all := make([]v1alpha1.ReplicationExperiment, 0, len(items))
	for i := range items {
		var x v1alpha1.ReplicationExperiment
		if err := decode.Experiment(&items[i], &x); err != nil {
			fmt.Fprintf(warn, "Experiment %s/%s cannot be decoded: %v\n", items[i].GetNamespace(), items[i].GetName(), err)
			continue
		}
		all = append(all, x)
	}
	return all
}
