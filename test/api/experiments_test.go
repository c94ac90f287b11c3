package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/test/kubetest"
)

func TestExperimentsForPeopleAreAccepted(t *testing.T) {
	root := filepath.Join(kubetest.Root(), "experiments")
	files, err := filepath.Glob(filepath.Join(root, "*.yaml"))
	findings, _ := filepath.Glob(filepath.Join(root, "findings", "*.yaml")) // the same pattern is as good
	seeds, _ := filepath.Glob(filepath.Join(root, "seeds", "*.yaml"))
	files = append(append(files, findings...), seeds...)
	if err != nil || len(files) == 0 {
		t.Fatalf("experiments: %v, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if filepath.Base(filepath.Dir(file)) == "seeds" { // a name begins with a letter
			name = "seed-" + name
		}
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			object := &unstructured.Unstructured{Object: fromYAML(t, string(text))}
			if object.GetName() != name {
				t.Errorf("its name is %s: people look for the experiment in the file of its name", object.GetName())
			}
			if object.GetNamespace() != "" {
				t.Errorf("it names the namespace %s: leave that to kubectl", object.GetNamespace())
			}
			object.SetNamespace("default")
			if err := dryRun(t, object); err != nil {
				t.Error(err)
			}
		})
	}
}
