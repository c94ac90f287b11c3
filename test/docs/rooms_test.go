package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"replab.dev/test/docs"
	"replab.dev/test/experiment"
)

const architecture = "docs/architecture.md"

// houses are the folders whose own folders are rooms.
var houses = []string{
	"api", "api/v1alpha1", "cmd", "controllers", "controllers/experiment", "internal", "internal/topology", "internal/engine", "internal/proxy", "internal/load", "internal/verdict",
}

// TestArchitectureHasEveryRoom that is in the tree, and no other. Folders of tests alone are no rooms.
func TestArchitectureHasEveryRoom(t *testing.T) {
	described := map[string]bool{}
	for _, row := range docs.Read(t, architecture).Rows {
		for _, room := range strings.Split(braced(row[0]), ", ") {
			if slices.Contains(houses, filepath.Dir(room)) {
				described[room] = true
			}
		}
	}
	for room := range described {
		if info, err := os.Stat(filepath.Join(experiment.Root(), room)); err != nil || !info.IsDir() {
			t.Errorf("%s describes the room %s, which is not there", architecture, room)
		}
	}
	for _, house := range houses {
		rooms, err := os.ReadDir(filepath.Join(experiment.Root(), house))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rooms {
			room := house + "/" + r.Name()
			if !r.IsDir() || r.Name() == "testdata" || strings.HasSuffix(r.Name(), "test") {
				continue
			}
			if !described[room] {
				t.Errorf("%s does not describe the room %s", architecture, room)
			}
		}
	}
}

var braces = regexp.MustCompile(`(\S*)\{([^}]*)\}`)

// braced writes a/{b,c} as a/b, a/c.
func braced(text string) string {
	return braces.ReplaceAllStringFunc(text, func(s string) string {
		m := braces.FindStringSubmatch(s)
		return m[1] + strings.Join(strings.Split(m[2], ","), ", "+m[1])
	})
}

// TestNoFamilyIsFreeToImportOthers: one that the linters' common rule spares has a rule of its own.
func TestNoFamilyIsFreeToImportOthers(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(experiment.Root(), ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]struct {
						Files []string
						Deny  []struct{ Pkg string }
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	rules := config.Linters.Settings.Depguard.Rules
	families := regexp.MustCompile(`^!(\*\*/internal/(topology|proxy|load)/([a-z0-9]+)/\*\*)$`)
	spared := 0
	for _, file := range rules["driver-names"].Files {
		m := families.FindStringSubmatch(file)
		if m == nil || m[3] == "registry" {
			continue
		}
		spared++
		own := rules[m[3]]
		if !slices.Contains(own.Files, m[1]) {
			t.Errorf("driver-names spares %s, and no rule %s is for its files", m[1], m[3])
		}
		for _, others := range []string{"replab.dev/internal/topology/", "replab.dev/internal/proxy/", "replab.dev/internal/load/"} {
			if !slices.ContainsFunc(own.Deny, func(d struct{ Pkg string }) bool { return d.Pkg == others }) {
				t.Errorf("the rule %s does not deny %s", m[3], others)
			}
		}
	}
	if spared == 0 {
		t.Error("no family was found in the rule driver-names")
	}
}
