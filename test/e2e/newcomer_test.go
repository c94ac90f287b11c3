//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"replab.dev/test/docs"
	"replab.dev/test/experiment"
)

// TestNewcomersPath carries out the commands of the README and the tutorial as they stand there, but for those of make and Helm, which
// install what is there already: `make e2e-full` did it, and test/charts has the README's Helm commands carried out. Its runs have the
// cluster for themselves.
func TestNewcomersPath(t *testing.T) {
	inFull(t)
	dir := clone(t)
	readme, tutorial := docs.Read(t, "README.md"), docs.Read(t, "docs/tutorial.md")
	save(t, dir, tutorial)
	out := carryOutCommands(t, dir, commands(readme, "console")+"kubectl delete repx semisync\n"+commands(tutorial, "sh"))
	for name, verdict := range map[string]string{"semisync": "Passed", "first": "Passed", "async-loss": "Passed", "mine": "(Passed|Failed)"} {
		if !regexp.MustCompile(`(?m)^` + name + `\s.*\b` + verdict + `\b`).MatchString(out) {
			t.Errorf("experiment %s is not %s", name, verdict)
		}
	}
	if !strings.Contains(out, "\nmine against first, the baseline: ") {
		t.Error("the tutorial's two runs were not compared")
	}
	if !regexp.MustCompile(`load: \d+ ok/s, .*p99 .*lag .* on `).MatchString(out) {
		t.Error("the recorder's figures were not shown live")
	}
	if line := regexp.MustCompile(`load: .*lag .* on semisync-db-0.*`).FindString(out); line != "" { // it writes until it is killed
		t.Errorf("what a former primary lacks was shown as a lag: %s", line)
	}
}

// clone is what people have: the project's folder, the plugin, and a cluster of which the default namespace is the test's.
func clone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	check(t, os.Symlink(filepath.Join(experiment.Root(), "experiments"), filepath.Join(dir, "experiments")))
	check(t, os.Mkdir(filepath.Join(dir, ".local"), 0o700))
	check(t, os.Symlink(filepath.Join(local(), "bin"), filepath.Join(dir, ".local", "bin")))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "bin", "kubectl-replab"), "./cmd/kubectl-replab")
	build.Dir = experiment.Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the plugin: %v\n%s", err, out)
	}
	config, err := clientcmd.NewDefaultClientConfigLoadingRules().Load()
	check(t, err)
	if config.Contexts[config.CurrentContext] == nil {
		t.Fatal("KUBECONFIG names no cluster")
	}
	config.Contexts[config.CurrentContext].Namespace = namespace
	check(t, clientcmd.WriteToFile(*config, filepath.Join(dir, ".local", "kubeconfig")))
	return dir
}

func local() string {
	if dir := os.Getenv("LOCAL_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(experiment.Root(), ".local")
}

// save writes the blocks that the page tells people to save.
func save(t *testing.T, dir string, page docs.Page) {
	t.Helper()
	for _, block := range page.Blocks {
		if block.File != "" {
			check(t, os.WriteFile(filepath.Join(dir, block.File), []byte(block.Text), 0o600))
		}
	}
}

// commands of a page's blocks of a language.
func commands(page docs.Page, language string) string {
	var script strings.Builder
	for _, block := range page.Blocks {
		if block.Language != language {
			continue
		}
		for line := range strings.Lines(block.Commands()) {
			if !strings.HasPrefix(line, "make ") && !strings.HasPrefix(line, "helm ") {
				script.WriteString(line)
			}
		}
	}
	return script.String()
}

func carryOutCommands(t *testing.T, dir, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*completeTimeout)
	defer cancel()
	began := time.Now()
	cmd := exec.CommandContext(ctx, "bash", "-euvo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(dir, ".local", "kubeconfig"), "PATH="+filepath.Join(dir, "bin")+":"+filepath.Join(dir, ".local", "bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	t.Logf("after %.0f s:\n%s", time.Since(began).Seconds(), out)
	check(t, err)
	return string(out)
}
