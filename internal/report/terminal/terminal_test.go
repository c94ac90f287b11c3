package terminal

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestAPipeGetsWholeLines(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 30))
	for columns, want := range map[int]int{0: 1, 80: 3} {
		var b strings.Builder
		if columns == 0 {
			Row(&b, "Note", "a\nb", "", long)
		} else {
			Row(Screen{&b, columns}, "Note", "a\nb", "", long)
		}
		if got := b.String(); strings.Count(got, "\n") != want || !strings.HasPrefix(got, "Note      a b, word ") {
			t.Errorf("in %d columns:\n%s", columns, got)
		}
	}
	var b strings.Builder
	if Row(&b, "Note", "", ""); b.String() != "" {
		t.Errorf("a row without parts is %q", b.String())
	}
}

func TestColumns(t *testing.T) {
	rows := [][]string{{"NAME", "FIGURE", "N"}, {"a/b", "successful requests/s", "7 µs"}, {"semisync/async", "p99", "-"}}
	for columns, want := range map[int]string{
		0:  "NAME            FIGURE                 N\na/b             successful requests/s  7 µs\nsemisync/async  p99                    -\n",
		30: "NAME         FIGURE       N\na/b          successful   7 µs\n             requests/s\nsemisync/    p99          -\nasync\n",
		25: "NAME       FIGURE      N\na/b        successful  7\n           requests/s  µs\nsemisync/  p99         -\nasync\n",
	} {
		var b strings.Builder
		Columns(Screen{&b, columns}, rows)
		if got := b.String(); got != want {
			t.Errorf("in %d columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
	var b strings.Builder
	Columns(Screen{&b, 12}, rows)
	for line := range strings.Lines(b.String()) {
		if ansi.StringWidth(line) > 12 {
			t.Errorf("wider than 12 columns, though words can be cut: %q", line)
		}
	}
}
