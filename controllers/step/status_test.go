package step

import (
	"fmt"
	"testing"
)

func TestReasonsAreNoMoreThanTheCRDsTake(t *testing.T) {
	var all []string
	for i := range MostReasons + 1 {
		if got := AtMost(all, "more"); len(got) != i {
			t.Fatalf("%d reasons become %d", i, len(got))
		}
		all = append(all, fmt.Sprint(i))
	}
	got := AtMost(all, "more")
	if len(got) != MostReasons || got[0] != "0" || got[MostReasons-1] != "more" || all[MostReasons-1] != "255" {
		t.Errorf("%d reasons become %d, the last is %q", len(all), len(got), got[len(got)-1])
	}
}

func TestTruncationKeepsCharactersWhole(t *testing.T) {
	for text, want := range map[string]string{"abc": "abc", "abcd": "abcd", "abcde": "abcd …", "abcü": "abc …", "abü": "abü"} {
		if got := Truncate(text, 4); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
