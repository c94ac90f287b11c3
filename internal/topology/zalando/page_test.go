package zalando

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheCommandOfThePageSetsWhatExperimentsNeed, and nothing by which an operator that is there already would suffer.
func TestTheCommandOfThePageSetsWhatExperimentsNeed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "how-to", "zalando.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, command, found := strings.Cut(string(page), "    helm install replab-databases ")
	command, _, ends := strings.Cut(command, "\n\n")
	if !found || !ends {
		t.Fatal("there is no command")
	}
	for _, setting := range []string{
		"controllerID.create=true", "configGeneral.enable_crd_registration=false", "configGeneral.kubernetes_use_configmaps=true",
		"configKubernetes.inherited_labels={app.kubernetes.io/managed-by,replab.dev/experiment,app.kubernetes.io/component}",
		"configKubernetes.watched_namespace=*", "configKubernetes.pod_terminate_grace_period=15s",
		"configPostgresPodResources.min_cpu_limit=10m", "configPostgresPodResources.min_memory_limit=64Mi",
	} {
		if !strings.Contains(command, setting) {
			t.Errorf("it lacks %s:\n%s", setting, command)
		}
	}
}
