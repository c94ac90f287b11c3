package experiment

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
)

// shelf is a cluster that has some objects, by kind and name.
type shelf struct {
	Cluster
	configMaps, secrets map[string]string // name: its only key
	binary              bool              // configMaps have it in binaryData
	experiments         []string
}

func (s shelf) Get(_ context.Context, o client.Object) (bool, error) {
	switch o := o.(type) {
	case *corev1.ConfigMap:
		key, found := s.configMaps[o.Name]
		if s.binary {
			o.BinaryData = map[string][]byte{key: []byte("x")}
		} else {
			o.Data = map[string]string{key: "x"}
		}
		return found, nil
	case *corev1.Secret:
		key, found := s.secrets[o.Name]
		o.Data = map[string][]byte{key: []byte("x")}
		return found, nil
	}
	for _, name := range s.experiments {
		if name == o.GetName() {
			return true, nil
		}
	}
	return false, nil
}

func TestWhatASpecNamesMustExist(t *testing.T) {
	all := shelf{
		configMaps: map[string]string{"scripts": "load.js", "settings": "mode"}, secrets: map[string]string{"token": "value"},
		experiments: []string{"single"},
	}
	for _, c := range []struct {
		name  string
		lacks func(*shelf)
		says  string // "" when all is there
	}{
		{"all is there", func(*shelf) {}, ""},
		{"no script", func(s *shelf) { s.configMaps = map[string]string{"settings": "mode"} }, "spec.load.script.configMapKeyRef: ConfigMap scripts with a key load.js does not exist in namespace ns: create it first"},
		{"a script under another key", func(s *shelf) { s.configMaps = map[string]string{"scripts": "other.js", "settings": "mode"} }, "ConfigMap scripts with a key load.js does not exist"},
		{"no setting", func(s *shelf) { s.configMaps = map[string]string{"scripts": "load.js"} }, "spec.load.script.env[MODE].valueFrom: ConfigMap settings with a key mode does not exist"},
		{"no secret", func(s *shelf) { s.secrets = nil }, "spec.load.script.env[TOKEN].valueFrom: Secret token with a key value does not exist"},
		{"no baseline", func(s *shelf) { s.experiments = nil }, "spec.baseline.name: ReplicationExperiment single does not exist in namespace ns: create it first"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := all
			c.lacks(&cluster)
			run := referring(t, &cluster)
			for age, want := range map[time.Duration]bool{referencePatience - time.Second: false, referencePatience: true} {
				run.CreationTimestamp = ago(age)
				out, err := references(t.Context(), run)
				switch {
				case err != nil:
					t.Fatal(err)
				case c.says == "" && !out.Done:
					t.Errorf("not accepted: %+v", out)
				case c.says != "" && out.Terminal != want:
					t.Errorf("%s after its creation: terminal %t, want %t: %+v", age, out.Terminal, want, out)
				case out.Terminal && (out.Reason != v1alpha1.ReasonNotFound || !strings.Contains(out.Message, c.says)):
					t.Errorf("%s: %q, want one that says %q", out.Reason, out.Message, c.says)
				}
			}
		})
	}
}

// TestAScriptMayBeBinaryData, since it is mounted. Kubernetes makes no variable of such a key.
func TestAScriptMayBeBinaryData(t *testing.T) {
	all := shelf{
		configMaps: map[string]string{"scripts": "load.js", "settings": "mode"}, secrets: map[string]string{"token": "value"},
		experiments: []string{"single"}, binary: true,
	}
	run := referring(t, all)
	out, err := references(t.Context(), run)
	if err != nil || !strings.Contains(out.Message, "spec.load.script.env[MODE].valueFrom: ConfigMap settings with a key mode") {
		t.Errorf("a variable from binaryData: %+v, %v", out, err)
	}
	run.Spec.Load.Script.Env = nil
	if out, err := references(t.Context(), run); err != nil || !out.Done {
		t.Errorf("a script in binaryData: %+v, %v", out, err)
	}
}

// TestAMissingReferenceIsFoundBeforeQueueing: nobody waits hours for a turn to learn of a typing error.
func TestAMissingReferenceIsFoundBeforeQueueing(t *testing.T) {
	run := referring(t, &shelf{})
	run.Others = others(3)
	out, err := references(t.Context(), run)
	if err != nil || !out.Terminal {
		t.Fatalf("%+v, %v", out, err)
	}
	out, err = accept(t.Context(), run)
	if err != nil || !out.Terminal || out.Reason != v1alpha1.ReasonNotFound {
		t.Errorf("it queues: %+v, %v", out, err)
	}
}

// referring is an experiment that names an object of every kind.
func referring(t *testing.T, c Cluster) *Run {
	run := (&scene{}).run(t)
	run.Cluster, run.ReplicationExperiment = c, run.DeepCopy()
	run.Namespace, run.CreationTimestamp = "ns", metav1.Time{}
	run.Spec.Baseline = &v1alpha1.BaselineReference{Name: "single"}
	for i := range run.Spec.Load.Stages { // the script has a load of its own
		s := &run.Spec.Load.Stages[i]
		s.Users, s.SpawnPerSecond, s.RequestsPerSecond, s.MaxUsers = nil, 0, 0, 0
	}
	run.Spec.Load.Script = &v1alpha1.ScriptSource{
		ConfigMapKeyRef: v1alpha1.ScriptKey{Name: "scripts", Key: "load.js"},
		Env: []v1alpha1.ScriptVariable{
			{Name: "PLAIN", Value: "x"},
			{Name: "TOKEN", ValueFrom: &v1alpha1.ScriptVariableSource{SecretKeyRef: &v1alpha1.KeyRef{Name: "token", Key: "value"}}},
			{Name: "MODE", ValueFrom: &v1alpha1.ScriptVariableSource{ConfigMapKeyRef: &v1alpha1.KeyRef{Name: "settings", Key: "mode"}}},
		},
	}
	return run
}
