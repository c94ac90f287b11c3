package validation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/check"
	mariadb "replab.dev/internal/engine/mariadb/parameters"
	mysql "replab.dev/internal/engine/mysql/parameters"
	postgres "replab.dev/internal/engine/postgres/parameters"
	"replab.dev/test/experiment"
	"replab.dev/test/specs"
)

var servers = validation.Servers{v1alpha1.EngineMySQL: mysql.Rules{}, v1alpha1.EngineMariaDB: mariadb.Rules{}, v1alpha1.EnginePostgreSQL: postgres.Rules{}}

// told is what is wrong with the minimal experiment after a patch.
func told(t *testing.T, patch string) []string {
	t.Helper()
	answer, err := check.Experiment(t.Context(), specs.With(t, patch), servers)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Sentences()
}

func TestWrongSpecsAreRefused(t *testing.T) {
	for _, c := range specs.Cases {
		t.Run(c.Name, func(t *testing.T) {
			sentence := c.Field + ": " + c.Says
			if got := told(t, c.Refused); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, sentence) }) {
				t.Errorf("%q, want %q", got, sentence)
			}
			if got := told(t, c.Neighbour); len(got) > 0 {
				t.Errorf("the neighbour is refused: %q", got)
			}
		})
	}
}

func TestOddSpecsAreAccepted(t *testing.T) {
	for name, patch := range specs.Accepted {
		if got := told(t, patch); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestMalformedSpecsAreRefused(t *testing.T) {
	for name, c := range specs.Malformed {
		if got := strings.Join(told(t, c.Patch), "\n"); !strings.Contains(got, c.Field) || !strings.Contains(got, c.Says) {
			t.Errorf("%s: %q, want one that names %s and says %q", name, got, c.Field, c.Says)
		}
	}
}

// TestRefusalsAreShort: at most 25 words, with a remedy in a sentence of its own.
func TestRefusalsAreShort(t *testing.T) {
	for _, c := range specs.Cases {
		for _, sentence := range told(t, c.Refused) {
			_, message, _ := strings.Cut(sentence, ": ")
			if words := len(strings.Fields(message)); words > 25 {
				t.Errorf("%d words: %s", words, sentence)
			}
			if !strings.HasSuffix(message, ".") || !strings.Contains(strings.TrimSuffix(message, "."), ". ") {
				t.Errorf("no remedy: %s", sentence)
			}
		}
	}
}

func TestAllErrorsAreListed(t *testing.T) {
	got := told(t, `{spec: {topology: {type: Async, nodes: 2, semiSync: {}, parameters: {sync_binlog: "0"}}, deadlineSeconds: 5, goals: [{metric: lostWrites, max: -1}]}}`)
	for _, field := range []string{"spec.topology.semiSync", "spec.topology.parameters[sync_binlog]", "spec.deadlineSeconds", "spec.goals[0].max"} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, field+": ") }) {
			t.Errorf("%q names no %s", got, field)
		}
	}
}

// TestExperimentsOfTheProjectPass: all files that people are shown.
func TestExperimentsOfTheProjectPass(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(filepath.Join(experiment.Root(), "experiments"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, document := range strings.Split(string(text), "\n---") {
			object := map[string]any{}
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if object["kind"] != "ReplicationExperiment" {
				continue
			}
			seen++
			answer, err := check.Experiment(t.Context(), &unstructured.Unstructured{Object: object}, servers)
			if err != nil {
				return err
			}
			if got := answer.Sentences(); len(got) > 0 {
				t.Errorf("%s: %q", path, got)
			}
		}
		return nil
	})
	if err != nil || seen < 20 {
		t.Errorf("%d experiments, %v", seen, err)
	}
}

// TestTheMostFaultsArePlayedInTime: the operator refuses within two seconds, whatever it is asked.
func TestTheMostFaultsArePlayedInTime(t *testing.T) {
	for _, kind := range []string{"Async", "Galera", "Patroni"} {
		for _, fault := range []string{
			"target: Primary, action: Kill", "target: Primary, action: Kill, holdSeconds: 100", "target: Replica, action: Pause, holdSeconds: 3",
			"target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 30", "target: Node, node: #, action: Kill|target: Primary, action: Kill, holdSeconds: 50",
		} {
			kinds := strings.Split(fault, "|")
			var faults []string
			for i := range 16 {
				faults = append(faults, strings.ReplaceAll(fmt.Sprintf("{name: f%d, atSeconds: %d, %s}", i, 20*i, kinds[i%len(kinds)]), "#", fmt.Sprint(i%10)))
			}
			patch := fmt.Sprintf(`{spec: {topology: {type: %s, nodes: 10, zones: [{name: a, nodes: [0, 1, 2, 3]}, {name: b, nodes: [4, 5, 6]}]}, load: {stages: [{name: long, durationSeconds: 600, users: 1}]}, faults: [%s]}}`,
				kind, strings.Join(faults, ", "))
			start := time.Now()
			told(t, patch)
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("%s, %s: %s", kind, fault, took)
			}
		}
	}
}
