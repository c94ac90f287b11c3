package charts_test

import (
	"strings"
	"testing"

	"replab.dev/test/docs"
	"replab.dev/test/kubetest"
)

// TestHelmCommandsOfPagesRender carries out what pages tell people to type for the charts of this project, but for the cluster.
func TestHelmCommandsOfPagesRender(t *testing.T) {
	found := 0
	t.Chdir(kubetest.Root())
	for _, page := range docs.Pages(t) {
		for _, block := range page.Blocks {
			commands := strings.ReplaceAll(block.Commands(), "\\\n", " ")
			for line := range strings.Lines(commands) {
				words := strings.Fields(strings.NewReplacer(`'`, "", `"`, "").Replace(line)) // no argument of theirs has a space
				if len(words) < 4 || words[0] != "helm" || words[1] != "install" || !strings.HasPrefix(words[3], "charts/") {
					continue
				}
				found++
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
	if found == 0 {
		t.Error("no page tells how to install the chart")
	}
}
