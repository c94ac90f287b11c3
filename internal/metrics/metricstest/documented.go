// Package metricstest holds what processes tell Prometheus against docs/reference/metrics.md, and against Prometheus' conventions.
package metricstest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"replab.dev/internal/metrics"
)

var update = flag.Bool("update", false, "write the tables of docs/reference/metrics.md anew")

// Documented fails unless docs/reference/metrics.md has exactly these families under a process's name, with -update it writes them there, and
// unless all of what is gathered whose name begins with "replab_" is among them, as it is described.
func Documented(t *testing.T, process string, families []*metrics.Family, from prometheus.Gatherer) {
	t.Helper()
	known := map[string]*metrics.Family{}
	for _, f := range families {
		known[f.Name] = f
	}
	Conventional(t, from)
	for _, g := range gather(t, from) {
		f := known[g.GetName()]
		switch {
		case !strings.HasPrefix(g.GetName(), "replab_"):
		case f == nil:
			t.Errorf("%s tells %s, which is not among the families to be documented", process, g.GetName())
		default:
			compare(t, f, g)
		}
	}
	document(t, process, families)
}

// Gathered are the families of replab's own that were gathered, for those who keep them otherwise than by metrics.Family.
func Gathered(t *testing.T, from prometheus.Gatherer) (families []*metrics.Family) {
	t.Helper()
	for _, g := range gather(t, from) {
		if !strings.HasPrefix(g.GetName(), "replab_") {
			continue
		}
		families = append(families, &metrics.Family{Name: g.GetName(), Help: g.GetHelp(), Type: g.GetType(), Labels: labels(g)})
	}
	return families
}

// Conventional fails where names, types or help texts are not as `promtool check metrics` wants them.
func Conventional(t *testing.T, from prometheus.Gatherer) {
	t.Helper()
	var own []*dto.MetricFamily
	for _, g := range gather(t, from) {
		if strings.HasPrefix(g.GetName(), "replab_") {
			own = append(own, g)
		}
	}
	problems, err := promlint.NewWithMetricFamilies(own).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// Values are the series of a family by their labels' values, joined by a slash in the order of the labels' names.
func Values(t *testing.T, from prometheus.Gatherer, name string) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for _, g := range gather(t, from) {
		if g.GetName() != name {
			continue
		}
		for _, m := range g.GetMetric() {
			var of []string
			for _, l := range m.GetLabel() {
				of = append(of, l.GetValue())
			}
			v := m.GetGauge().GetValue() + m.GetCounter().GetValue()
			if h := m.GetHistogram(); h != nil {
				v = float64(h.GetSampleCount())
			}
			values[strings.Join(of, "/")] = v
		}
	}
	return values
}

func gather(t *testing.T, from prometheus.Gatherer) []*dto.MetricFamily {
	t.Helper()
	all, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func compare(t *testing.T, f *metrics.Family, g *dto.MetricFamily) {
	t.Helper()
	want := slices.Sorted(slices.Values(f.Labels))
	if g.GetType() != f.Type || !slices.Equal(labels(g), want) || g.GetHelp() != f.Help {
		t.Errorf("%s is a %s with %v (%s), and described as a %s with %v (%s)", f.Name, g.GetType(), labels(g), g.GetHelp(), f.Type, want, f.Help)
	}
}

func labels(g *dto.MetricFamily) (names []string) {
	if len(g.GetMetric()) == 0 {
		return nil
	}
	for _, l := range g.GetMetric()[0].GetLabel() {
		names = append(names, l.GetName())
	}
	return names
}

// document compares the table between a process's marks in docs/reference/metrics.md with the families.
func document(t *testing.T, process string, families []*metrics.Family) {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	file := filepath.Join(filepath.Dir(here), "../../../docs/reference/metrics.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := fmt.Sprintf("<!-- metrics of %s: made by go test -update -->\n", process), fmt.Sprintf("<!-- end of metrics of %s -->\n", process)
	head, rest, found := strings.Cut(string(text), begin)
	old, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no table between %q and %q", file, begin, end)
	}
	now := "\n" + table(families) + "\n"
	if old == now {
		return
	}
	if !*update {
		t.Fatalf("docs/reference/metrics.md has of %s\n%s\nand the process\n%s\nrun this test with -update", process, old, now)
	}
	if err := os.WriteFile(file, []byte(head+begin+now+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

func table(families []*metrics.Family) string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | what |\n|---|---|---|---|\n")
	byName := slices.SortedFunc(slices.Values(families), func(a, b *metrics.Family) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range byName {
		kind := strings.ToLower(f.Type.String())
		if f.Type == dto.MetricType_HISTOGRAM {
			kind = "native histogram"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, kind, strings.Join(f.Labels, ", "), f.Help)
	}
	return b.String()
}
