package experiment

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// TestAScriptIsKnownByWhatIsInIt: its name says nothing, and it may be changed until the load starts.
func TestAScriptIsKnownByWhatIsInIt(t *testing.T) {
	s := &scene{}
	run := s.run(t)
	run.Spec.Load.Script = &v1alpha1.ScriptSource{ConfigMapKeyRef: v1alpha1.ScriptKey{Name: "mine", Key: "load.js"}}
	if err := noteScript(t.Context(), run); err != nil || run.Status.ScriptHash != "" {
		t.Fatalf("without a script: %v, hash %q", err, run.Status.ScriptHash)
	}
	hashes := map[string]bool{}
	for _, text := range []string{"one", "two", "one"} {
		m := &corev1.ConfigMap{ObjectMeta: kube.Meta(run.Namespace, "mine", "", nil), Data: map[string]string{"load.js": text}}
		if err := run.Cluster.Apply(t.Context(), run.ReplicationExperiment, m); err != nil {
			t.Fatal(err)
		}
		if err := noteScript(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		hashes[run.Status.ScriptHash] = true
	}
	if len(hashes) != 2 || hashes[""] {
		t.Errorf("two scripts have the hashes %v", hashes)
	}
	binary := &corev1.ConfigMap{ObjectMeta: kube.Meta(run.Namespace, "mine", "", nil), BinaryData: map[string][]byte{"load.js": []byte("one")}}
	if err := run.Cluster.Apply(t.Context(), run.ReplicationExperiment, binary); err != nil {
		t.Fatal(err)
	}
	before := run.Status.ScriptHash
	run.Status.ScriptHash = ""
	if err := noteScript(t.Context(), run); err != nil || run.Status.ScriptHash != before {
		t.Errorf("in binaryData it has the hash %q, want %q: %v", run.Status.ScriptHash, before, err)
	}
}
