package controllers

import (
	"context"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
)

// TestParametersThatContradictTheSpecAreRefused before anything is made, and the sentence names the field to set.
func TestParametersThatContradictTheSpecAreRefused(t *testing.T) {
	s := &scene{}
	run := s.run(t)
	run.Others = func(context.Context) (int, error) { return 0, nil }
	run.Spec.Topology.Parameters = map[string]string{"sync_binlog": "0", "loose-read-only": "0", "max_connections": "7 # few"}
	out, err := accept(t.Context(), run)
	if err != nil || !out.Terminal || out.Reason != v1alpha1.ReasonSpecRefused {
		t.Fatalf("accepted: %+v, %v", out, err)
	}
	for _, says := range []string{
		"topology.parameters[sync_binlog]", "set topology.durability", "topology.parameters[loose-read-only]", "topology.parameters[max_connections]",
	} {
		if !strings.Contains(out.Message, says) {
			t.Errorf("the message does not say %q: %s", says, out.Message)
		}
	}
	if len(s.objects) > 0 || run.Status.StartTime != nil {
		t.Errorf("something was made for it: %d objects, start %v", len(s.objects), run.Status.StartTime)
	}

	run.Spec.Topology.Parameters = map[string]string{"max_connections": "7"}
	if out, err := accept(t.Context(), run); err != nil || out.Terminal {
		t.Errorf("a free setting is refused: %+v, %v", out, err)
	}
}
