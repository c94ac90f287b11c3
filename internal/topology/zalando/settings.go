package zalando

import (
	"fmt"
	"strconv"

	"replab.dev/internal/topology"
)

// same compares numbers as numbers: that operator writes large ones with an exponent.
func same(a, b string) bool {
	x, notX := strconv.ParseFloat(a, 64)
	y, notY := strconv.ParseFloat(b, 64)
	return a == b || notX == nil && notY == nil && x == y
}

// notDescribed says that a resource would be stated of servers of which nobody said what they are to be.
func notDescribed(p topology.Params) string {
	return fmt.Sprintf("engine %s does not say what another operator is to make of its servers", p.Engine)
}
