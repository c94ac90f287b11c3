package cluster

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"replab.dev/api/v1alpha1"
)

// TestAKindThatTheClusterDoesNotKnowNeedsNoRemoval: a runner of another operator's need not be installed for every experiment.
func TestAKindThatTheClusterDoesNotKnowNeedsNoRemoval(t *testing.T) {
	broken := errors.New("no connection")
	for _, c := range []struct{ answer, want error }{
		{nil, nil},
		{&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "k6.io", Kind: "TestRun"}}, nil},
		{broken, broken},
	} {
		calls := 0
		cluster := &Cluster{Client: interceptor.NewClient(nil, interceptor.Funcs{
			DeleteAllOf: func(context.Context, client.WithWatch, client.Object, ...client.DeleteAllOfOption) error {
				calls++
				return c.answer
			},
		})}
		if err := cluster.RemoveLoad(t.Context(), &v1alpha1.ReplicationExperiment{}); !errors.Is(err, c.want) || calls == 0 {
			t.Errorf("%v was answered to %d calls, and returned as %v", c.answer, calls, err)
		}
	}
}
