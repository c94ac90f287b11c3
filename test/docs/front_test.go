package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// front are the rows of README's table: each variant of the suite `losses`, with its topology and fault in words.
var front = []struct{ variant, topology, fault string }{
	{"async", "MySQL, asynchronous", "replicas cut off, then the primary killed"},
	{"semisync-gives-up", "MySQL, semi-synchronous, waits at most 1 s for a replica", "the same"},
	{"semisync-waits", "MySQL, semi-synchronous, waits until a replica answers", "the same"},
	{"patroni-off", "PostgreSQL with Patroni, asynchronous", "the same"},
	{"patroni-strict", "PostgreSQL with Patroni, strict quorum commit", "the same"},
	{"galera-volatile", "Galera on MariaDB, no flush at commit", "all members killed at once"},
	{"galera", "Galera on MariaDB, a flush at commit", "the same"},
}

// TestTheFrontPageShowsTheSuiteOfLosses: README's table is that of the exported suite.
func TestTheFrontPageShowsTheSuiteOfLosses(t *testing.T) {
	page := filepath.Join(experiment.Root(), "README.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	s := exported(t, filepath.Join(experiment.Root(), "docs", "evidence", "suites", "losses", "suite.yaml"))
	if len(s.Status.Variants) != len(front) {
		t.Errorf("the suite has %d variants, the table %d", len(s.Status.Variants), len(front))
	}
	var b strings.Builder
	b.WriteString("| topology | fault | runs that lost writes | lost per run | of acknowledged |\n|---|---|---|---|---|\n")
	for _, row := range front {
		v := variantOf(t, s, row.variant)
		fmt.Fprintf(&b, "| %s | %s | %d of %d | %s | at least %s |\n", row.topology, row.fault, v.Losses.LostIn, v.Losses.Of, lost(t, v),
			thousands(t, string(ofSix(t, v, "acknowledgedWrites").Low)))
	}
	want, err := between(string(text), s.Name, b.String())
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case want == string(text):
	case !*update:
		t.Errorf("%s does not have the table of its suite: go test ./test/docs -update", page)
	default:
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// ofSix is a figure of six trials: the interval of their median goes from the lowest value to the highest.
func ofSix(t *testing.T, v *v1alpha1.VariantStatus, name v1alpha1.SuiteMetric) v1alpha1.TrialsFigure {
	t.Helper()
	for _, f := range v.Figures {
		if f.Name == name && f.Stage == "" && f.Item == "" && f.N == 6 && f.Low != "" {
			return f
		}
	}
	t.Fatalf("%s has no %s of six trials with a lowest value", v.Name, name)
	return v1alpha1.TrialsFigure{}
}

func lost(t *testing.T, v *v1alpha1.VariantStatus) string {
	t.Helper()
	switch f := ofSix(t, v, "lostWrites"); f.High {
	case "":
		t.Fatalf("%s may have lost more than %s writes", v.Name, f.Low)
		return ""
	case f.Low:
		return thousands(t, string(f.Low))
	default:
		return thousands(t, string(f.Low)) + " to " + thousands(t, string(f.High))
	}
}

func variantOf(t *testing.T, s *v1alpha1.ReplicationSuite, name string) *v1alpha1.VariantStatus {
	t.Helper()
	for i := range s.Status.Variants {
		if v := &s.Status.Variants[i]; v.Name == name && v.Losses != nil {
			return v
		}
	}
	t.Fatalf("%s has no losses of %s", s.Name, name)
	return nil
}
