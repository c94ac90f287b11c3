package figure_test

import (
	"slices"
	"strings"
	"testing"

	"replab.dev/internal/figure"
)

// TestPhasesAreTheFailoversEntries, in the order of the catalogue. Only the whole outage is none.
func TestPhasesAreTheFailoversEntries(t *testing.T) {
	var entries, phases []string
	for _, e := range figure.All() {
		if strings.HasPrefix(e.Path, "failover.") && e.Path != "failover.outageMilliseconds" {
			entries = append(entries, e.Path)
		}
	}
	for _, p := range figure.Phases() {
		phases = append(phases, p.Path())
	}
	if !slices.Equal(phases, entries) {
		t.Fatalf("the phases are %v, the catalogue has %v", phases, entries)
	}
	for _, p := range figure.Phases() {
		if e := p.Entry(); e.Path != p.Path() {
			t.Errorf("the entry of %s is %s", p, e.Path)
		}
	}
}
