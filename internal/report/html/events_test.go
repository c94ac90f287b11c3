package html

import (
	"testing"

	"replab.dev/internal/figure"
)

func TestEachPhaseHasAColourOfItsOwn(t *testing.T) {
	seen := map[int]figure.Phase{}
	for _, p := range figure.Phases() {
		c := phaseColours[p]
		if other, taken := seen[c]; c == 0 || taken {
			t.Errorf("phase %s has colour %d, which is none or that of %q", p, c, other)
		}
		seen[c] = p
	}
}
