package experiment

import (
	"context"
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/decode"
	"replab.dev/internal/verdict/evidence"
)

// unreadable is a cluster whose objects cannot be read.
type unreadable struct {
	*scene
	err error
}

func (u unreadable) Get(context.Context, client.Object) (bool, error) { return true, u.err }

func TestUndecodableBaselineHoldsUpNoRun(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{}
	x.Spec.Baseline = &v1alpha1.BaselineReference{Name: "single"}
	bad := &decode.Error{Field: "spec.suspend", Err: errors.New("no bool")}
	run := &Run{ReplicationExperiment: x, Cluster: unreadable{&scene{}, bad}}
	var e evidence.Run
	if err := baseline(t.Context(), run, &e); e.Baseline != nil || err != nil {
		t.Errorf("the judgement gets %v, %v", e.Baseline, err)
	}
	if out, err := references(t.Context(), run); err != nil || !out.Terminal || out.Reason != v1alpha1.ReasonSpecRefused {
		t.Errorf("the acceptance says %+v, %v", out, err)
	}
	run.Cluster = unreadable{&scene{}, errors.New("the API server is away")}
	if err := baseline(t.Context(), run, &e); err == nil {
		t.Error("what may be read later is not read again")
	}
}
