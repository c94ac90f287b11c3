package plugin

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// TestExportOutlivesTheCluster: report and compare read the folder without a cluster.
func TestExportOutlivesTheCluster(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	kubelet(t, here, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "recorder") {
			http.Error(w, "rotated away", http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	stored(t, here, "semisync", ended(v1alpha1.VerdictPassed))
	kept(t, here, "semisync")
	for name, component := range map[string]string{"semisync-db-0": kube.ComponentNode, "semisync-recorder-0": kube.ComponentRecorder} {
		begun(t, here, name, here, map[string]string{kube.LabelExperiment: "semisync", kube.LabelComponent: component})
	}
	folder := filepath.Join(t.TempDir(), "run")
	got := command(t, here, "export", "semisync", "--to", folder)
	if got.code != ExitNotRun || !strings.Contains(got.err, "log of container main of pod semisync-recorder-0: ") || !strings.Contains(got.err, "the logs of 1 containers") {
		t.Errorf("with a log that cannot be read: %+v", got)
	}
	if log, err := os.ReadFile(filepath.Join(folder, "logs", "semisync-db-0_main.log")); err != nil || string(log) != "ready\n" {
		t.Errorf("log %q, %v", log, err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "experiment.yaml"))
	x := v1alpha1.ReplicationExperiment{}
	if err != nil || yaml.UnmarshalStrict(text, &x) != nil || x.Kind != "ReplicationExperiment" || x.Status.Verdict != v1alpha1.VerdictPassed || x.ManagedFields != nil {
		t.Errorf("experiment %s, %v", text, err)
	}
	direct := command(t, here, "report", "semisync", "-o", "csv")
	if again := command(t, "none-of-this-name", "report", folder, "-o", "csv"); again.out != direct.out || again.out == "" {
		t.Errorf("the figures of an exported run are others: %+v", again.err)
	}
	if both := command(t, "none-of-this-name", "compare", folder, folder); both.code != ExitOK {
		t.Errorf("compare: %+v", both)
	}
}

func TestExportOfARunWithoutResults(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	stored(t, here, "running", v1alpha1.ReplicationExperimentStatus{Phase: "Loading"})
	folder := filepath.Join(t.TempDir(), "run")
	got := command(t, here, "export", "running", "--to", folder)
	if _, err := os.Stat(folder); got.code == ExitOK || !strings.Contains(got.err, "has no results yet") || err == nil {
		t.Errorf("%+v, folder: %v", got, err)
	}
}
