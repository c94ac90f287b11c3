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
		{"README.md", fmt.Sprintf("| 6 | none of at least %s | [seed 000]", acknowledged(t, "seed-000", "semisync-killed"))},
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

// acknowledged is the lowest count of acknowledged writes of a variant's six trials, none of which lost one.
func acknowledged(t *testing.T, suite, variant string) string {
	t.Helper()
	s := exported(t, filepath.Join(experiment.Root(), "docs", "evidence", "seeds", suite, "suite.yaml"))
	for _, v := range s.Status.Variants {
		if v.Name != variant || v.Losses == nil || v.Losses.LostIn != 0 || v.Losses.Of != 6 {
			continue
		}
		for _, f := range v.Figures {
			if f.Name == "acknowledgedWrites" && f.N == 6 { // the interval of the median of six begins at the lowest
				return thousands(t, string(f.Low))
			}
		}
	}
	t.Fatalf("%s has no six trials of %s without a loss", suite, variant)
	return ""
}

func thousands(t *testing.T, digits string) string {
	t.Helper()
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
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
