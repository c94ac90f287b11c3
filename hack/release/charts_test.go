package main

import (
	"os"
	"path/filepath"
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
