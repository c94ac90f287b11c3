package experiment

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/results"
)

// archive has a baseline with a results document, as far as that is there.
type archive struct {
	*scene
	document string
}

func (a archive) Get(ctx context.Context, o client.Object) (bool, error) {
	switch into := o.(type) {
	case *v1alpha1.ReplicationExperiment:
		into.UID = "first"
		return true, nil
	case *corev1.ConfigMap:
		if into.Name != results.Name("single") || a.document == "" {
			return false, nil
		}
		into.Data = map[string]string{results.Key: a.document}
		return true, nil
	}
	return a.scene.Get(ctx, o)
}

func TestBaselineComesWithItsMachines(t *testing.T) {
	for name, c := range map[string]struct {
		document, unknown string
		machines          int
	}{
		"its document":            {`{"uid": "first", "provenance": {"machines": [{"name": "m", "cpus": 2}]}}`, "", 1},
		"none":                    {"", "its results document is gone", 0},
		"of an earlier baseline":  {`{"uid": "earlier", "provenance": {"machines": [{"name": "m"}]}}`, "of another experiment of that name", 0},
		"one that is not read":    {`{`, "results in ConfigMap single-results", 0},
		"without a known machine": {`{"uid": "first", "provenance": {"machinesUnknown": "forbidden"}}`, "forbidden", 0},
	} {
		there := &scene{}
		run := there.run(t)
		run.Cluster, run.ReplicationExperiment = archive{there, c.document}, run.DeepCopy()
		run.Spec.Baseline = &v1alpha1.BaselineReference{Name: "single"}
		e, err := collect(t.Context(), run)
		if err != nil || e.Baseline == nil || len(e.BaselineProvenance.Machines) != c.machines || !strings.Contains(e.BaselineProvenance.MachinesUnknown, c.unknown) {
			t.Errorf("%s: %v, %+v", name, err, e.BaselineProvenance)
		}
	}
}
