package lag

import (
	"fmt"
	"slices"
	"testing"
)

// TestSizesTakeTurns: each comes once in a turn, and the order changes. That 20 of 120 orders are one happens once in 10^39 runs.
func TestSizesTakeTurns(t *testing.T) {
	w := writing{probe: &Probe{cfg: Config{PayloadBytes: make([]int64, 5)}}}
	orders := map[string]bool{}
	for range 20 {
		var turn []int
		for range 5 {
			turn = append(turn, w.next())
		}
		orders[fmt.Sprint(turn)] = true
		slices.Sort(turn)
		if !slices.Equal(turn, []int{0, 1, 2, 3, 4}) {
			t.Fatalf("a turn has the sizes %v", turn)
		}
	}
	if len(orders) == 1 {
		t.Errorf("all turns have the order %v", orders)
	}
}
