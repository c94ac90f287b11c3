package engine

import "testing"

func TestSpansHave(t *testing.T) {
	s := Spans{{First: 2, Last: 3}, {First: 7, Last: 7}}
	for seq, want := range map[uint64]bool{1: false, 2: true, 3: true, 4: false, 6: false, 7: true, 8: false} {
		if s.Has(seq) != want {
			t.Errorf("Has(%d) is %v", seq, !want)
		}
	}
}
