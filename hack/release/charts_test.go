package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestChartsOfAReleaseNameItsVersionAndImage(t *testing.T) {
	t.Chdir("../..")
	folder := t.TempDir()
	r := release{version: "v1.2.3-rc.1", image: "ghcr.io/owner/replab:v1.2.3-rc.1@sha256:00", when: when, said: t.Output()}
	if err := r.edited(folder); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"replab", "replab-stack"} {
		var chart struct {
			Version, AppVersion string
			Dependencies        []struct{ Name, Version string }
		}
		decoded(t, filepath.Join(folder, name, "Chart.yaml"), &chart)
		if chart.Version != "1.2.3-rc.1" || chart.AppVersion != "1.2.3-rc.1" {
			t.Errorf("%s: %+v", name, chart)
		}
		for _, d := range chart.Dependencies {
			if (d.Version == "1.2.3-rc.1") != (d.Name == "replab") {
				t.Errorf("%s depends on %+v", name, d)
			}
		}
	}
	var values struct{ Images struct{ Replab string } }
	path := filepath.Join(folder, "replab", "values.yaml")
	decoded(t, path, &values)
	if values.Images.Replab != r.image {
		t.Errorf("images.replab is %q", values.Images.Replab)
	}
	if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(when) {
		t.Errorf("the values bear another time than the commit: %v, %v", info, err)
	}
}

func TestFetchedChartsMustBeListed(t *testing.T) {
	r, folder := release{version: "v1.2.3"}, t.TempDir()
	before := chartSums
	t.Cleanup(func() { chartSums = before })
	chartSums = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a-1.0.0.tgz\n" // of "abc"
	for _, c := range []struct{ name, content, refused string }{
		{"replab-1.2.3.tgz", "ours", ""},
		{"a-1.0.0.tgz", "abc", ""},
		{"a-1.0.0.tgz", "abd", "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9  a-1.0.0.tgz"},
		{"b-1.0.0.tgz", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b-1.0.0.tgz"},
	} {
		path := filepath.Join(folder, c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := r.known(folder); (err != nil) != (c.refused != "") || err != nil && !strings.HasSuffix(err.Error(), "\n"+c.refused) {
			t.Errorf("%+v: %v", c, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEachDependencyHasASum: a new version needs a new one.
func TestEachDependencyHasASum(t *testing.T) {
	var chart struct {
		Dependencies []struct{ Name, Version string }
	}
	decoded(t, "../../charts/replab-stack/Chart.yaml", &chart)
	for _, d := range chart.Dependencies {
		if d.Name != "replab" && !strings.Contains(chartSums, "  "+d.Name+"-"+d.Version+".tgz\n") {
			t.Errorf("hack/release/charts.sha256 has no %s %s", d.Name, d.Version)
		}
	}
}

func decoded(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// TestInstallYAMLSaysNothingOfHelm: a stand-in renders a chart's labels.
func TestInstallYAMLSaysNothingOfHelm(t *testing.T) {
	t.Chdir("../..")
	folder := t.TempDir()
	helm := filepath.Join(folder, "helm")
	const script = "#!/bin/sh\nprintf -- '---\\nkind: ServiceAccount\\nmetadata:\\n  labels:\\n    app.kubernetes.io/managed-by: Helm\\n    helm.sh/chart: replab-1.2.3\\n'\n"
	if err := os.WriteFile(helm, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	r := release{version: "v1.2.3", out: folder, helm: helm, said: t.Output()}
	if err := r.install(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "install.yaml"))
	if err != nil || strings.Contains(string(text), "Helm") || !strings.Contains(string(text), "  labels:\n    helm.sh/chart: replab-1.2.3\n") {
		t.Errorf("%s, %v", text, err)
	}
}
