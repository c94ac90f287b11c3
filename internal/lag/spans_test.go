package lag

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSpans(t *testing.T) {
	const id = "3e11fa47-71ca-41e1-9e33-c80aa9429562"
	tests := map[string]struct {
		set     string
		want    spans
		invalid bool
	}{
		"an empty set":              {set: ""},
		"one write":                 {set: id + ":7", want: spans{{7, 7}}},
		"one interval":              {set: id + ":7-9", want: spans{{7, 9}}},
		"several":                   {set: id + ":1-5:8:10-11", want: spans{{1, 5}, {8, 8}, {10, 11}}},
		"no interval":               {set: id, invalid: true},
		"a tag":                     {set: id + ":tag:1", invalid: true},
		"another source behind":     {set: id + ":1-5,\n" + id + ":1", invalid: true},
		"an interval the wrong way": {set: id + ":5-1", invalid: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseSpans(test.set)
			if (err != nil) != test.invalid {
				t.Fatalf("error %v, want one: %v", err, test.invalid)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(span{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSpansHave(t *testing.T) {
	s := spans{{2, 3}, {7, 7}}
	for seq, want := range map[uint64]bool{1: false, 2: true, 3: true, 4: false, 6: false, 7: true, 8: false} {
		if s.has(seq) != want {
			t.Errorf("has(%d) is %v", seq, !want)
		}
	}
}
