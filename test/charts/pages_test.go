package charts_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"replab.dev/test/docs"
	"replab.dev/test/kubetest"
)

// TestHelmCommandsOfPagesRender carries out what pages tell people to type for the charts of this project, but for the cluster.
func TestHelmCommandsOfPagesRender(t *testing.T) {
	found := map[string]int{}
	t.Chdir(kubetest.Root())
	for _, page := range docs.Pages(t) {
		for _, block := range page.Blocks {
			commands := strings.ReplaceAll(block.Commands(), "\\\n", " ")
			for line := range strings.Lines(commands) {
				if !helmLine.MatchString(line) {
					continue
				}
				words := slices.DeleteFunc(shellWords(t, line), func(word string) bool { return word == "--reset-then-reuse-values" }) // there is no release
				found[words[1]]++
				if words[3] == "charts/replab-stack" {
					words[3], _ = stack(t)
				}
				words[1] = "template" // which takes the same words; to install for show alone, Helm 3 asks the cluster all the same
				if _, err := run(helmBinary(t), append(words[1:], "--kube-version", "1.34.0")...); err != nil {
					t.Errorf("%s: %s: %v", page.Path, strings.TrimSpace(line), err)
				}
			}
		}
	}
	for _, command := range []string{"install", "upgrade"} {
		if found[command] == 0 {
			t.Errorf("no page tells how to %s the chart", command)
		}
	}
}

// helmLine is a command that installs or upgrades one of the charts.
var helmLine = regexp.MustCompile(`^helm (install|upgrade) \S+ charts/`)

// shellWords of a command, its quotes and all.
func shellWords(t *testing.T, command string) []string {
	t.Helper()
	out, err := run("bash", "-c", `printf '%s\0' `+command)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
