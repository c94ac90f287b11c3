package api_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/test/kubetest"
)

func TestExperimentsForPeopleAreAccepted(t *testing.T) {
	var files []string
	err := filepath.WalkDir(filepath.Join(kubetest.Root(), "experiments"), func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".yaml" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("experiments: %v, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
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
