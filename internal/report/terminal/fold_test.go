package terminal

import "testing"

func TestFold(t *testing.T) {
	for _, c := range []struct {
		line          string
		width, indent int
		want          string
	}{
		{"Node  a-db-0", 12, 6, "Node  a-db-0"},
		{"Node  a-db-0  Primary  x", 13, 6, "Node  a-db-0\n      Primary\n      x"},
		{"Node  of a-db-0", 12, 6, "Node  of\n      a-db-0"},
		{"Node  " + Together("9 ms, 10 ms"), 14, 2, "Node\n  9 ms, 10 ms"},
		{"Node  abcdefghij", 12, 6, "Node\n      abcdef\n      ghij"},
		{"Next  See `kubectl x`: y", 20, 6, "Next  See\n      `kubectl x`: y"},
		{"Node  abcdefghijklmno p", 12, 6, "Node\n      abcdef\n      ghijkl\n      mno p"},
	} {
		if got := Fold(c.line, c.width, c.indent); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.line, c.width, got, c.want)
		}
	}
}
