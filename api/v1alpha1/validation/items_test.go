package validation

import (
	"strings"
	"testing"

	"replab.dev/internal/figure"
)

func TestEveryListHasOneKindOfItems(t *testing.T) {
	for _, e := range figure.All() {
		kinds := 0
		for _, kind := range itemsOf {
			if strings.HasPrefix(e.Name, kind.metric) {
				kinds++
			}
		}
		if hasItems := strings.Contains(strings.TrimPrefix(e.Path, "load.stages[]"), "[]"); hasItems && kinds != 1 || kinds > 1 {
			t.Errorf("%s has %d kinds of items", e.Name, kinds)
		}
	}
}
