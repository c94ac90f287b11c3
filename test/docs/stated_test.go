package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"replab.dev/test/experiment"
)

// TestSentencesStateWhatWasMeasured: figures in sentences and hand-written tables are those of their source.
func TestSentencesStateWhatWasMeasured(t *testing.T) {
	cpu, memory, volumes := requested(t)
	for _, c := range []struct{ page, want string }{
		{"README.md", fmt.Sprintf("[%s](docs/evidence/suites.md#what-each-mode-costs)", ratio(t, "cost-of-safety", "async", "single"))},
		{"docs/tutorial.md", fmt.Sprintf("`Async` in %s runs, `SemiSync` with a timeout of an hour in %s: at most", lostIn(t, "async"), lostIn(t, "semisync-waits"))},
		{"docs/tutorial.md", fmt.Sprintf("`SemiSync` had %s of the requests/s of `Async`", ratio(t, "cost-of-safety", "semisync", "async"))},
		{"docs/how-to/install.md", fmt.Sprintf("request %.2f CPU and %.1f GiB under load, with %.0f GiB of volumes", cpu, memory, volumes)},
	} {
		text, err := os.ReadFile(filepath.Join(experiment.Root(), c.page))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.ReplaceAll(string(text), "\n", " "), c.want) {
			t.Errorf("%s does not say: %s", c.page, c.want)
		}
	}
}

// lostIn tells in how many trials a variant of the suite of losses lost writes.
func lostIn(t *testing.T, variant string) string {
	t.Helper()
	s := exported(t, filepath.Join(experiment.Root(), "docs", "evidence", "suites", "losses", "suite.yaml"))
	l := variantOf(t, s, variant).Losses
	return fmt.Sprintf("%d of %d", l.LostIn, l.Of)
}

// ratio of two variants' successful requests, the 95% interval of the suite's table.
func ratio(t *testing.T, suite, of, to string) string {
	t.Helper()
	s := exported(t, filepath.Join(experiment.Root(), "docs", "evidence", "suites", suite, "suite.yaml"))
	_, row, found := strings.Cut(tables(s), fmt.Sprintf("| %s/%s | successful requests/s | ", of, to))
	cells := strings.Split(row, " | ")
	if !found || len(cells) < 4 || cells[2] == "" {
		t.Fatalf("%s has no interval of %s/%s: %q", suite, of, to, row)
	}
	return cells[2]
}

func thousands(t *testing.T, digits string) string {
	t.Helper()
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	if n < 1000 {
		return digits
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// requested by the pods of experiments/semisync.yaml under load, in processors and GiB: not by its seed and audit, which run apart.
func requested(t *testing.T) (cpu, memory, volumes float64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(experiment.Root(), "internal", "plan", "testdata", "semisync.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range strings.Split(string(text), "--- # ") {
		title, object, _ := strings.Cut(document, "\n")
		kind, name, _ := strings.Cut(title, " ")
		if kind != "StatefulSet" && kind != "Deployment" && name != "semisync-load-0" {
			continue
		}
		var o struct {
			Spec struct {
				Replicas             *float64
				Template             corev1.PodTemplateSpec
				VolumeClaimTemplates []corev1.PersistentVolumeClaim
			}
		}
		if err := yaml.Unmarshal([]byte(object), &o); err != nil {
			t.Fatal(err)
		}
		pods := 1.0
		if o.Spec.Replicas != nil {
			pods = *o.Spec.Replicas
		}
		for _, c := range append(o.Spec.Template.Spec.Containers, o.Spec.Template.Spec.InitContainers...) {
			if c.Name == "copy" { // ends before the others begin
				continue
			}
			cpu += pods * c.Resources.Requests.Cpu().AsApproximateFloat64()
			memory += pods * gibibytes(c.Resources.Requests.Memory())
		}
		for _, claim := range o.Spec.VolumeClaimTemplates {
			volumes += pods * gibibytes(claim.Spec.Resources.Requests.Storage())
		}
	}
	return cpu, memory, volumes
}

func gibibytes(q *resource.Quantity) float64 { return q.AsApproximateFloat64() / (1 << 30) }
