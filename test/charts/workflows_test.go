package charts_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"replab.dev/test/kubetest"
)

var (
	uses       = regexp.MustCompile(`uses: (\S+)(.*)`)
	pinned     = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	versioned  = regexp.MustCompile(`^ # v\d+\.\d+\.\d+$`)
	makeTarget = regexp.MustCompile(`(?m)(?:run: |^ +)make ([a-z0-9-]+)`)
)

// TestWorkflowsRunWhatIsPinned: a tag can be moved, a commit cannot. The version behind it is for people, and the same everywhere.
func TestWorkflowsRunWhatIsPinned(t *testing.T) {
	commits := map[string]string{}
	for name, text := range workflows(t) {
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
	for _, file := range []string{"Makefile", filepath.Join("hack", "lab", "lab.mk")} {
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
