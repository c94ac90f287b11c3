package percentile

import "testing"

func TestMedian(t *testing.T) {
	if got := Median([]float64{4, 1, 3}); got != 3 {
		t.Errorf("median %v", got)
	}
	if got := Median([]int64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("median %v", got)
	}
}
