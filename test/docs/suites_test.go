package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/check"
	mariadb "replab.dev/internal/engine/mariadb/parameters"
	mysql "replab.dev/internal/engine/mysql/parameters"
	postgres "replab.dev/internal/engine/postgres/parameters"
	"replab.dev/internal/suite"
	"replab.dev/test/docs"
	"replab.dev/test/experiment"
)

// TestSuitesOfThePageAreRight: the suite of docs/how-to/suites.md, also with the page's drawn faults, and every trial of it.
func TestSuitesOfThePageAreRight(t *testing.T) {
	found, err := docs.Read(t, "docs/how-to/suites.md").YAML()
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Objects) != 2 {
		t.Fatalf("the page has %d objects, want a suite, and one with drawn faults", len(found.Objects))
	}
	unstructured.RemoveNestedField(found.Objects[1].Object, "spec", "template", "spec", "faults") // as the page says
	for _, object := range found.Objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		right(t, string(text))
	}
}

// TestReadySuitesAreRight, are found by their names, and say how large they are.
func TestReadySuitesAreRight(t *testing.T) {
	suites, err := filepath.Glob(filepath.Join(experiment.Root(), "experiments", "suites", "*.yaml"))
	if err != nil || len(suites) == 0 {
		t.Fatalf("%d suites, %v", len(suites), err)
	}
	seeds, err := filepath.Glob(filepath.Join(experiment.Root(), "experiments", "seeds", "*.yaml"))
	if err != nil || len(seeds) != 5 {
		t.Fatalf("%d suites of the seed documents, %v", len(seeds), err)
	}
	page, err := os.ReadFile(filepath.Join(experiment.Root(), "docs", "how-to", "suites.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range suites {
		if name := strings.TrimSuffix(filepath.Base(file), ".yaml"); !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/how-to/suites.md does not name the suite %s", name)
		}
	}
	for _, file := range slices.Concat(suites, seeds) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			right(t, string(text))
			s := experiment.ParseSuite(t, text)
			if strings.TrimPrefix(s.Name, "seed-")+".yaml" != filepath.Base(file) {
				t.Errorf("its name is %s", s.Name)
			}
			if want := size(t, s); !strings.Contains(string(text), want) {
				t.Errorf("its comment does not say: %s", want)
			}
		})
	}
}

// servers are the rules of all engines.
var servers = validation.Servers{v1alpha1.EngineMySQL: mysql.Rules{}, v1alpha1.EngineMariaDB: mariadb.Rules{}, v1alpha1.EnginePostgreSQL: postgres.Rules{}}

// right fails the test for each error that a person would be told of a suite.
func right(t *testing.T, text string) {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	answer, err := check.Suite(t.Context(), object, servers)
	if err != nil {
		t.Fatal(err)
	}
	for _, sentence := range answer.Sentences() {
		t.Error(sentence)
	}
}

// size of a suite in words: its trials, and the minutes of their load.
func size(t *testing.T, s *v1alpha1.ReplicationSuite) string {
	t.Helper()
	trials := suite.Trials(&s.Spec)
	seconds := 0.0
	for _, trial := range trials {
		x, err := suite.Experiment(s, v1alpha1.TrialRun{Name: "x", Variant: trial.Variant, Round: trial.Round})
		if err != nil {
			t.Fatal(err)
		}
		text, err := yaml.Marshal(x.Object)
		if err != nil {
			t.Fatal(err)
		}
		for _, stage := range experiment.Parse(t, text).Spec.Load.Stages {
			seconds += float64(stage.DurationSeconds)
		}
	}
	return fmt.Sprintf("%d trials, %.0f minutes of load", len(trials), seconds/60)
}
