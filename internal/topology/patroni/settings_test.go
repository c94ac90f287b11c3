package patroni

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// TestWithoutAWordOfPatroniItRunsWithTheDefaultsOfTheCRD: types that do not take `patroni: {}` get the same.
func TestWithoutAWordOfPatroniItRunsWithTheDefaultsOfTheCRD(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(experiment.Root(), "config", "crd", "replab.dev_replicationexperiments.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	said := map[string]json.RawMessage{}
	topology := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["topology"]
	for name, field := range topology.Properties["patroni"].Properties {
		if field.Default != nil {
			said[name] = field.Default.Raw
		}
	}
	empty, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	var got v1alpha1.PatroniSpec
	if err := json.Unmarshal(empty, &got); err != nil {
		t.Fatal(err)
	}
	want := defaults
	want.Provider = v1alpha1.ProviderStatefulSet // which decides nothing here
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("without patroni (-) and with patroni: {} (+):\n%s", d)
	}
}

// TestWhatIsUnsaidIsPatronisOwn, as its documentation has it, whatever this topology asks for.
func TestWhatIsUnsaidIsPatronisOwn(t *testing.T) {
	p := params()
	p.Spec.Patroni = &v1alpha1.PatroniSpec{SynchronousMode: "On", SynchronousNodeCount: 2, Strict: true, FailsafeMode: true, TTLSeconds: 20, LoopWaitSeconds: 2, RetryTimeoutSeconds: 3}
	want := map[string]string{
		"ttl": "30", "loop_wait": "10", "retry_timeout": "10", "maximum_lag_on_failover": "1048576", "primary_start_timeout": "300",
		"failsafe_mode": "false", "synchronous_mode": "false", "synchronous_mode_strict": "false", "synchronous_node_count": "1",
	}
	if d := cmp.Diff(want, Unsaid(p)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if p.Spec.Patroni.TTLSeconds != 20 {
		t.Error("what the topology says was changed")
	}
}
