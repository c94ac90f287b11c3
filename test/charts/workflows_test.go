package charts_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"replab.dev/test/kubetest"
)

var (
	uses       = regexp.MustCompile(`uses: (\S+)(.*)`)
	pinned     = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	versioned  = regexp.MustCompile(`^ # v\d+\.\d+\.\d+$`)
	made       = regexp.MustCompile(`(?m)^\s*make\b`)
	makeTarget = regexp.MustCompile(`(?m)(?:run: |^ +)make ([a-z0-9-]+)`)
)

// TestWorkflowsRunWhatIsPinned: a tag can be moved, a commit cannot. The version behind it is for people, and the same everywhere.
func TestWorkflowsRunWhatIsPinned(t *testing.T) {
	commits := map[string]string{}
	all := workflows(t)
	all["action.yaml"] = string(read(t, kubetest.Root(), "action.yaml"))
	for name, text := range all {
		for _, found := range uses.FindAllStringSubmatch(text, -1) {
			action, comment := found[1], found[2]
			if strings.HasPrefix(action, "./") {
				if _, err := os.Stat(filepath.Join(kubetest.Root(), action)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if !pinned.MatchString(action) || !versioned.MatchString(comment) {
				t.Errorf("%s: %q, want OWNER/NAME@COMMIT # vX.Y.Z", name, action+comment)
			}
			repository, commit, _ := strings.Cut(action, "@")
			if before := commits[repository]; before != "" && before != commit+comment {
				t.Errorf("%s: %s is at %s%s, elsewhere at %s", name, repository, commit, comment, before)
			}
			commits[repository] = commit + comment
		}
	}
}

func TestWorkflowsAskForTargetsThatThereAre(t *testing.T) {
	var rules string
	for _, file := range []string{"Makefile", filepath.Join("hack", "local", "local.mk")} {
		rules += string(read(t, kubetest.Root(), file))
	}
	for name, text := range workflows(t) {
		for _, found := range makeTarget.FindAllStringSubmatch(text, -1) {
			if !regexp.MustCompile(`(?m)^([\w-]+ )*` + found[1] + `( [\w-]+)*:`).MatchString(rules) {
				t.Errorf("%s: there is no target %s", name, found[1])
			}
		}
	}
}

// workflow is what a file of GitHub's says of rights and of what is run.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]workflowJob
	Runs        workflowJob // of an action
}

type workflowJob struct {
	Permissions map[string]string
	Needs       any // a name, or a list of names
	Environment string
	Steps       []struct {
		Uses, Run string
		With      map[string]any
	}
}

// TestWorkflowsHaveNoRightThatTheyDoNotNeed: none but to read, apart from jobs that say so. These run no target of make, which is to say no code that
// others wrote or that a change brings; and a checkout leaves no token where such code could find it.
func TestWorkflowsHaveNoRightThatTheyDoNotNeed(t *testing.T) {
	for name, text := range workflows(t) {
		var w workflow
		if err := yaml.Unmarshal([]byte(text), &w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(map[string]string{"contents": "read"}, w.Permissions); diff != "" {
			t.Errorf("%s: permissions (-want +got):\n%s", name, diff)
		}
		for job, j := range w.Jobs {
			writes := slices.Contains(slices.Collect(maps.Values(j.Permissions)), "write")
			for _, step := range j.Steps {
				if writes && made.MatchString(step.Run) {
					t.Errorf("%s, job %s: it may write, and runs %q", name, job, step.Run)
				}
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					t.Errorf("%s, job %s: the checkout leaves its token behind: persist-credentials is to be false", name, job)
				}
			}
		}
	}
}

// TestWorkflowsPutNothingIntoScripts that somebody else may have named, such as a branch: that comes by the environment.
func TestWorkflowsPutNothingIntoScripts(t *testing.T) {
	all := workflows(t)
	all["action.yaml"] = string(read(t, kubetest.Root(), "action.yaml"))
	for name, text := range all {
		var w workflow
		if err := yaml.Unmarshal([]byte(text), &w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		jobs := maps.Collect(maps.All(w.Jobs))
		jobs["runs"] = w.Runs
		for job, j := range jobs {
			for _, step := range j.Steps {
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s, job %s: %q", name, job, step.Run)
				}
			}
		}
	}
}

// TestWorkflowsSetVariablesThatTestsRead: a test that is asked for by another name is skipped.
func TestWorkflowsSetVariablesThatTestsRead(t *testing.T) {
	var read []byte
	for _, folder := range []string{"internal", "test"} {
		err := filepath.WalkDir(filepath.Join(kubetest.Root(), folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") {
				return err
			}
			text, err := os.ReadFile(path)
			read = append(read, text...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range workflows(t) {
		for _, variable := range regexp.MustCompile(`\bREPLAB_[A-Z_]+\b`).FindAllString(text, -1) {
			if !bytes.Contains(read, []byte(`"`+variable+`"`)) {
				t.Errorf("%s: no test reads %s", name, variable)
			}
		}
	}
}

// workflows by their files' names.
func workflows(t *testing.T) map[string]string {
	t.Helper()
	folder := filepath.Join(kubetest.Root(), ".github", "workflows")
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no workflow in %s: %v", folder, err)
	}
	all := map[string]string{}
	for _, file := range files {
		all[filepath.Base(file)] = string(read(t, folder, filepath.Base(file)))
	}
	return all
}

// TestTheFilesOfAReleaseAreAttested, all of them.
func TestTheFilesOfAReleaseAreAttested(t *testing.T) {
	files := regexp.MustCompile(`dist/\S+`)
	var attested, released []string
	for _, step := range releaseJobs(t)["publish"].Steps {
		switch paths, _ := step.With["subject-path"].(string); {
		case paths != "":
			attested = files.FindAllString(paths, -1)
		case strings.Contains(step.Run, "gh release create"):
			released = files.FindAllString(strings.ReplaceAll(step.Run, "--notes-file dist/notes.md", ""), -1)
		}
	}
	slices.Sort(attested)
	slices.Sort(released)
	if diff := cmp.Diff(released, attested); diff != "" || len(released) == 0 {
		t.Errorf("files (-released +attested):\n%s", diff)
	}
}

// TestReleaseIsOfMainAndNew runs the steps that come before all others, with git's own repository and a stand-in for gh.
func TestReleaseIsOfMainAndNew(t *testing.T) {
	t.Parallel()
	jobs := releaseJobs(t)
	folder := t.TempDir()
	if out, err := inFolder(folder, `git init --quiet
		commit() { git -c user.name=a -c user.email=a@example.org commit --quiet --allow-empty --message "$1"; }
		commit one && commit two && git update-ref refs/remotes/origin/main HEAD && git tag last && git tag first HEAD^
		commit elsewhere && git tag elsewhere`); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range []struct {
		tag, gh string
		ok      bool
	}{
		{"last", "echo release not found >&2; exit 1", true},
		{"first", "echo release not found >&2; exit 1", true},
		{"elsewhere", "echo release not found >&2; exit 1", false},
		{"last", "echo title: last", false},
		{"last", "echo HTTP 502 >&2; exit 1", false},
	} {
		script := "gh() { (" + c.gh + "); }\ngit checkout --quiet " + c.tag + "\nexport GITHUB_REF_NAME=" + c.tag + " GITHUB_REPOSITORY=owner/replab\n"
		for _, step := range jobs["allowed"].Steps {
			script += step.Run + "\n"
		}
		if out, err := inFolder(folder, script); (err == nil) != c.ok {
			t.Errorf("%+v: %v: %s", c, err, out)
		}
	}
}

// inFolder runs a script as a step of a workflow is run.
func inFolder(folder, script string) ([]byte, error) {
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
	cmd.Dir = folder
	return cmd.CombinedOutput()
}

// TestReleaseWaitsForItsChecksAndReviewers: every job comes after the first, and the one that may write has an environment.
func TestReleaseWaitsForItsChecksAndReviewers(t *testing.T) {
	t.Parallel()
	for name, j := range releaseJobs(t) {
		if (j.Needs == nil) != (name == "allowed") {
			t.Errorf("job %s needs %v", name, j.Needs)
		}
		if slices.Contains(slices.Collect(maps.Values(j.Permissions)), "write") && j.Environment != "release" {
			t.Errorf("job %s may write, in the environment %q", name, j.Environment)
		}
	}
}

func releaseJobs(t *testing.T) map[string]workflowJob {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(workflows(t)["release.yaml"]), &w); err != nil {
		t.Fatal(err)
	}
	return w.Jobs
}
