package docs_test

import (
	"os"
	"path/filepath"
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

// TestSuitesOfThePageAreRight: the suite of docs/suites.md, also with the page's drawn faults, and every trial of it.
func TestSuitesOfThePageAreRight(t *testing.T) {
	found, err := docs.Read(t, "docs/suites.md").YAML()
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

// TestReadySuitesAreRight, and are found by their names.
func TestReadySuitesAreRight(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(experiment.Root(), "experiments", "suites", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d suites, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			right(t, string(text))
			if name := experiment.ParseSuite(t, text).Name; name+".yaml" != filepath.Base(file) {
				t.Errorf("its name is %s", name)
			}
		})
	}
}

// servers are the rules of all engines.
var servers = validation.Servers{v1alpha1.EngineMySQL: mysql.Rules{}, v1alpha1.EngineMariaDB: mariadb.Rules{}, v1alpha1.EnginePostgreSQL: postgres.Rules{}}

// right fails the test for each error that a person would be told of a suite.
func right(t *testing.T, text string) {
	t.Helper()
	s := experiment.ParseSuite(t, []byte(text))
	for _, err := range validation.Suite(s, suite.Metric) {
		t.Error(validation.Describe(err))
	}
	trials := map[string]*v1alpha1.ReplicationExperiment{}
	for _, trial := range suite.Trials(&s.Spec) {
		x, err := suite.Experiment(s, v1alpha1.TrialRun{Name: trial.Name(s.Name, 1), Variant: trial.Variant, Round: trial.Round, Attempt: 1})
		if err != nil {
			t.Fatal(err)
		}
		asYAML, err := yaml.Marshal(x.Object)
		if err != nil {
			t.Fatal(err)
		}
		trials[trial.Variant] = experiment.Parse(t, asYAML)
		answer, err := check.Experiment(t.Context(), x, servers)
		if err != nil {
			t.Fatal(err)
		}
		for _, sentence := range answer.Sentences() {
			t.Errorf("%s: %s", x.GetName(), sentence)
		}
	}
	for _, err := range validation.Unmeasured(s, trials) {
		t.Error(validation.Describe(err))
	}
}
