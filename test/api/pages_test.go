package api_test

import (
	"testing"

	"replab.dev/test/docs"
)

// TestWhatPagesTellToApplyIsAccepted applies what people would copy.
func TestWhatPagesTellToApplyIsAccepted(t *testing.T) {
	for _, page := range docs.Pages(t) {
		found, err := page.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if page.Path == "README.md" && len(found.Objects) == 0 {
			t.Error("the README has no experiment")
		}
		for _, object := range found.Objects {
			object.SetNamespace("default")
			if err := dryRun(t, object); err != nil {
				t.Errorf("%s: %v\n%v", page.Path, err, object.Object)
			}
		}
	}
}
