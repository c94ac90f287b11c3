package kind

import (
	"path/filepath"
	"slices"
	"testing"

	"replab.dev/hack/local/internal/layout"
)

func TestSource(t *testing.T) {
	for _, c := range []struct {
		wish      string
		reachable bool
		want      string
	}{
		{"", true, Public}, {"", false, Packages}, {Packages, true, Packages}, {Public, false, Public}, {"own", true, ""},
	} {
		got, err := source(c.wish, func() bool { return c.reachable })
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: got %q, %v", c, got, err)
		}
	}
}

func TestNeedsOfExperiments(t *testing.T) {
	l, err := layout.Find()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"semisync": "mysql", "galera": "mariadb", "mariadb-async": "mariadb", "patroni-sync": "patroni", "postgres-single": "patroni",
	} {
		got, err := needs(filepath.Join(l.Checkout, "experiments", name+".yaml"))
		if err != nil || !slices.Equal(got, []string{"replab", "k6", "haproxy", want}) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if got, err := needs(filepath.Join(l.Checkout, "experiments", "suites", "failover.yaml")); got != nil || err != nil {
		t.Errorf("a suite: got %q, %v, want all", got, err)
	}
	if _, _, err := (Wish{From: Public, Experiment: "none.yaml"}).settle(); err == nil {
		t.Error("a missing file gives no error")
	}
}
