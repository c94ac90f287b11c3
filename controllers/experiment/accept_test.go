package experiment

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plan"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

// TestParametersThatContradictTheSpecAreRefused before anything is made, and the sentence names the field to set.
func TestParametersThatContradictTheSpecAreRefused(t *testing.T) {
	s := &scene{}
	run := s.run(t)
	run.Others = others(0)
	run.Spec.Topology.Parameters = map[string]string{"sync_binlog": "0", "loose-read-only": "0", "max_connections": "7 # few"}
	out, err := judged(t, run)
	if err != nil || !out.Terminal || out.Reason != v1alpha1.ReasonSpecRefused {
		t.Fatalf("accepted: %+v, %v", out, err)
	}
	for _, says := range []string{
		"topology.parameters[sync_binlog]", "Set topology.durability", "topology.parameters[loose-read-only]", "topology.parameters[max_connections]",
	} {
		if !strings.Contains(out.Message, says) {
			t.Errorf("the message does not say %q: %s", says, out.Message)
		}
	}
	if len(s.objects) > 0 || run.Status.StartTime != nil {
		t.Errorf("something was made for it: %d objects, start %v", len(s.objects), run.Status.StartTime)
	}

	run.Spec.Topology.Parameters = map[string]string{"innodb_redo_log_capacity": "1T"}
	if out, err := judged(t, run); err != nil || !out.Terminal || !strings.Contains(out.Message, "topology.storage.size") {
		t.Errorf("a log that no volume holds is accepted: %+v, %v", out, err)
	}
	run.Spec.Topology.Parameters = map[string]string{"max_connections": "7"}
	if out, err := judged(t, run); err != nil || out.Terminal {
		t.Errorf("a free setting is refused: %+v, %v", out, err)
	}
}

// TestABufferPoolThatDoesNotFitIsRefused however it is written, and wherever the memory is limited.
func TestABufferPoolThatDoesNotFitIsRefused(t *testing.T) {
	limited := corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
	byTopology := func(s *v1alpha1.ReplicationExperimentSpec) { s.Topology.Resources = limited }
	byPods := func(s *v1alpha1.ReplicationExperimentSpec) {
		s.Pods = &v1alpha1.PodsSpec{Nodes: &v1alpha1.PodSettings{Resources: &limited}}
	}
	for name, c := range map[string]struct {
		limit   func(*v1alpha1.ReplicationExperimentSpec)
		key     string
		value   string
		refused bool
	}{
		"in lower case":                      {byTopology, "innodb_buffer_pool_size", "2g", true},
		"in mebibytes in lower case":         {byTopology, "innodb-buffer-pool-size", "2048m", true},
		"spelled with both":                  {byTopology, "innodb-buffer_pool-size", "2097152k", true},
		"of the nodes' pods":                 {byPods, "innodb_buffer_pool_size", "2g", true},
		"one that fits":                      {byTopology, "innodb_buffer_pool_size", "640m", false},
		"one that fits into the nodes' pods": {byPods, "innodb_buffer_pool_size", "640m", false},
		"without a limit":                    {func(*v1alpha1.ReplicationExperimentSpec) {}, "innodb_buffer_pool_size", "2g", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{}
			run := s.run(t)
			run.Others = others(0)
			c.limit(&run.Spec)
			run.Spec.Topology.Parameters = map[string]string{c.key: c.value}
			var err error
			if run.Plan, err = plan.Build(run.Input); err != nil {
				t.Fatal(err)
			}
			out, err := judged(t, run)
			if err != nil || out.Terminal != c.refused || c.refused && !strings.Contains(out.Message, "1Gi is too little: a server needs 2432 MiB") {
				t.Errorf("accepted: %+v, %v", out, err)
			}
		})
	}
}

// TestASpecOfWhichThereIsNoPlanIsRefused: nothing was asked of the API server that could have refused it.
func TestASpecOfWhichThereIsNoPlanIsRefused(t *testing.T) {
	x := experiment.Parse(t, []byte(semisync))
	w := newWorld(t, x)
	w.upgrade = func(c *wire.OperatorConfig) { c.Images.Servers = nil }
	found := play(t, w, w, x)
	c := meta.FindStatusCondition(found.Status.Conditions, v1alpha1.ConditionAccepted)
	if c == nil || c.Reason != v1alpha1.ReasonSpecRefused || !strings.Contains(c.Message, "topology.image") || found.Status.Verdict != v1alpha1.VerdictInconclusive {
		t.Errorf("it ends %s, %+v", found.Status.Verdict, c)
	}
}
