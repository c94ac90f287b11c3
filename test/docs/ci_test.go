package docs_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"replab.dev/test/docs"
	"replab.dev/test/experiment"
)

// files of CI systems, as far as tests look at them.
type (
	ciStep struct {
		Uses, Run, Script string
		With              map[string]any
	}
	githubWorkflow struct {
		Jobs map[string]struct{ Steps []ciStep }
	}
	gitlabPipeline map[string]struct{ Script []string }
	tektonTask     struct{ Spec struct{ Steps []ciStep } }
)

// TestFilesForCIAreComplete: their scripts are bash, and the action gets the inputs that it has.
func TestFilesForCIAreComplete(t *testing.T) {
	found := map[string]bool{}
	for _, page := range living(t) {
		for _, block := range page.Blocks {
			if !block.OfCI() {
				continue
			}
			name, scripts := block.File, []string(nil)
			switch {
			case strings.HasPrefix(name, ".github/workflows/"):
				name = "workflow"
				steps := githubSteps(t, page, block)
				for _, step := range steps {
					scripts = append(scripts, step.Run)
				}
			case name == ".gitlab-ci.yml":
				pipeline := gitlabPipeline{}
				read(t, page, block, &pipeline)
				for _, job := range pipeline {
					scripts = append(scripts, job.Script...)
				}
			case strings.HasPrefix(name, "tekton/"):
				name = "task"
				task := tektonTask{}
				read(t, page, block, &task)
				for _, step := range task.Spec.Steps {
					scripts = append(scripts, step.Script)
				}
			default:
				t.Errorf("%s: no test knows the file %s", page.Path, name)
			}
			found[name] = true
			for _, script := range scripts {
				if said, err := exec.Command("bash", "-n", "-c", script).CombinedOutput(); err != nil {
					t.Errorf("%s: %s: %v: %s", page.Path, block.File, err, said)
				}
			}
		}
	}
	if len(found) != 3 {
		t.Errorf("pages have files for %v, want three systems", found)
	}
}

func read(t *testing.T, page docs.Page, block docs.Block, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(block.Text), into); err != nil {
		t.Fatalf("%s: %s: %v", page.Path, block.File, err)
	}
}

// githubSteps of a workflow. Other actions are at the commits that this project's own workflows use.
func githubSteps(t *testing.T, page docs.Page, block docs.Block) (steps []ciStep) {
	t.Helper()
	ours, err := os.ReadFile(filepath.Join(experiment.Root(), ".github", "workflows", "ci.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	workflow := githubWorkflow{}
	read(t, page, block, &workflow)
	used := false
	for _, job := range workflow.Jobs {
		steps = append(steps, job.Steps...)
		for _, step := range job.Steps {
			switch {
			case strings.HasPrefix(step.Uses, "OWNER/replab@"):
				used = true
				inputsOfTheAction(t, page, step.With)
			case step.Uses != "" && !bytes.Contains(ours, []byte(step.Uses)):
				t.Errorf("%s: %s is not what ci.yaml uses", page.Path, step.Uses)
			}
		}
	}
	if !used {
		t.Errorf("%s: %s does not use the action", page.Path, block.File)
	}
	return steps
}

func inputsOfTheAction(t *testing.T, page docs.Page, given map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(experiment.Root(), "action.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Required bool }
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	for name := range given {
		if _, known := action.Inputs[name]; !known {
			t.Errorf("%s: the action has no input %s", page.Path, name)
		}
	}
	for name, input := range action.Inputs {
		if input.Required && given[name] == nil {
			t.Errorf("%s: the action needs the input %s", page.Path, name)
		}
	}
	if version, _ := given["version"].(string); !regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(version) {
		t.Errorf("%s: the version %q is none of a release", page.Path, version)
	}
}
