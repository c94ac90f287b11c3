package docs_test

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replab.dev/test/docs"
	"replab.dev/test/experiment"
)

// TestLinksLeadSomewhere looks at links within the project: those that lead out of it are not followed.
func TestLinksLeadSomewhere(t *testing.T) {
	anchors := map[string][]string{}
	pages := docs.Pages(t)
	for _, page := range pages {
		anchors[page.Path] = page.Anchors
	}
	for _, page := range pages {
		for _, link := range page.Links {
			if wrong := follow(page, link, anchors); wrong != "" {
				t.Errorf("%s: the link to %s leads nowhere: %s", page.Path, link, wrong)
			}
		}
	}
}

// follow says why a link leads nowhere, "" where it does not.
func follow(page docs.Page, link string, anchors map[string][]string) string {
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return err.Error()
	case u.Scheme != "":
		return ""
	}
	path := page.Path
	if u.Path != "" {
		path = filepath.Join(filepath.Dir(page.Path), u.Path)
	}
	if strings.HasPrefix(path, "..") {
		return "it leaves the project"
	}
	if _, err := os.Stat(filepath.Join(experiment.Root(), path)); err != nil {
		return "there is no " + path
	}
	if u.Fragment != "" && !slices.Contains(anchors[path], u.Fragment) {
		return path + " has no such heading, but " + strings.Join(anchors[path], ", ")
	}
	return ""
}

// TestTheIndexNamesEveryPage of docs. The records of decisions are a folder.
func TestTheIndexNamesEveryPage(t *testing.T) {
	index := docs.Read(t, "docs/README.md")
	for _, page := range docs.Pages(t) {
		below, isDocs := strings.CutPrefix(page.Path, "docs/")
		if isDocs && below != "README.md" && !strings.HasPrefix(below, "adr/") && !slices.Contains(index.Links, below) {
			t.Errorf("docs/README.md does not name %s", below)
		}
	}
}
