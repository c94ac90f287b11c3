package engine

import (
	"slices"
	"testing"
)

func TestSpansHave(t *testing.T) {
	s := Spans{{First: 2, Last: 3}, {First: 7, Last: 7}}
	for seq, want := range map[uint64]bool{1: false, 2: true, 3: true, 4: false, 6: false, 7: true, 8: false} {
		if s.Has(seq) != want {
			t.Errorf("Has(%d) is %v", seq, !want)
		}
	}
}

func TestSpansAreOfWhatIsNotKnown(t *testing.T) {
	for name, c := range map[string]struct {
		known []uint64
		want  Spans
	}{
		"nothing":          {nil, Spans{{2, 6}}},
		"all":              {[]uint64{2, 3, 4, 5, 6}, nil},
		"holes":            {[]uint64{3, 6}, Spans{{2, 2}, {4, 5}}},
		"what lies beside": {[]uint64{1, 4, 7}, Spans{{2, 3}, {5, 6}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Without(2, 6, func(n uint64) bool { return slices.Contains(c.known, n) }); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
