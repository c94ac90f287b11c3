package screen

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/follow/followtest"
)

var update = flag.Bool("update", false, "write the kept texts anew")

// seen is the model after the first n moments of the run, in a terminal of a width.
func seen(t *testing.T, n, width int) Model {
	t.Helper()
	var m tea.Model = Model{}
	m, _ = m.Update(tea.WindowSizeMsg{Width: width, Height: 40})
	for _, v := range followtest.Run()[:n] {
		var cmd tea.Cmd
		if m, cmd = m.Update(Seen{v}); cmd != nil {
			t.Fatal("looking has an effect")
		}
	}
	return m.(Model)
}

func TestScreens(t *testing.T) {
	var all strings.Builder
	for _, c := range []struct{ n, width int }{{2, 80}, {4, 80}, {7, 80}, {7, 60}, {7, 100}, {10, 80}} {
		text := ansi.Strip(seen(t, c.n, c.width).View().Content)
		for _, line := range strings.Split(text, "\n") {
			if ansi.StringWidth(line) > c.width {
				t.Errorf("wider than %d: %q", c.width, line)
			}
		}
		all.WriteString(text + strings.Repeat("=", c.width) + "\n")
	}
	file := filepath.Join("testdata", "screens.txt")
	if *update {
		if err := os.WriteFile(file, []byte(all.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), all.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTheManualShowsAScreen of these.
func TestTheManualShowsAScreen(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/kubectl-replab.md")
	if err != nil {
		t.Fatal(err)
	}
	if text := ansi.Strip(seen(t, 7, 80).View().Content); !strings.Contains(string(page), "```text\n"+text+"```\n") {
		t.Errorf("docs/reference/kubectl-replab.md does not show:\n%s", text)
	}
}

// TestAFullMinuteFits in 80 columns, each sparkline in one line.
func TestAFullMinuteFits(t *testing.T) {
	v := followtest.Run()[6]
	lines := strings.Count(Draw(v, nil, 80, 40), "\n")
	for len(v.Live.Recent) < 60 {
		v.Live.Recent = append(v.Live.Recent, v.Live.Recent[0])
	}
	if got := Draw(v, nil, 80, 40); strings.Count(got, "\n") != lines {
		t.Errorf("more than %d lines:\n%s", lines, ansi.Strip(got))
	}
}

// TestALowTerminal shows the figures, and of the events the last ones.
func TestALowTerminal(t *testing.T) {
	m, _ := seen(t, 7, 100).Update(tea.WindowSizeMsg{Width: 100, Height: 16})
	text := ansi.Strip(m.View().Content)
	if n := strings.Count(text, "\n"); n >= 16 || !strings.Contains(text, "writes seen on semisync-db-1, before") || !strings.Contains(text, "stage    open 2/2") || strings.Contains(text, "stage warmup (1") {
		t.Errorf("%d lines:\n%s", n, text)
	}
}

func TestAnAPIServerThatIsAwayIsSaid(t *testing.T) {
	v := followtest.Run()[6]
	v.Away = "refused"
	m, _ := seen(t, 7, 100).Update(Seen{v})
	if text := ansi.Strip(m.View().Content); !strings.Contains(text, "as it was last; the API server does not answer: refused\n") || !strings.Contains(text, "ok/s") {
		t.Error(text)
	}
}

func TestKeysAndTheEnd(t *testing.T) {
	m := seen(t, 3, 80)
	for _, key := range []tea.KeyPressMsg{{Code: 'c', Mod: tea.ModCtrl}, {Code: 'q', Text: "q"}} {
		left, cmd := m.Update(key)
		if !left.(Model).Interrupted || cmd == nil {
			t.Errorf("%s does not leave", key)
		}
	}
	if left, cmd := m.Update(tea.KeyPressMsg{Code: 'x', Text: "x"}); left.(Model).Interrupted || cmd != nil {
		t.Error("x leaves")
	}
	left, cmd := m.Update(Ended{})
	if left.(Model).Interrupted || cmd == nil {
		t.Error("the end is taken for an interruption, or does not end")
	}
	if strings.Contains(left.View().Content, "ctrl-c") || !strings.Contains(m.View().Content, "ctrl-c") {
		t.Error("what stays in the terminal says how to leave, or what does not stay does not")
	}
	if (Model{}).View().Content != "" {
		t.Error("something is shown before anything is known")
	}
}

// TestTheClockOfTheLoadEndsWithIt, though its end was not seen yet.
func TestTheClockOfTheLoadEndsWithIt(t *testing.T) {
	v := followtest.Run()[6]
	v.Live.Now.Time = v.Live.LoadStartedAt.Add(time.Minute)
	if got := head(v); !strings.Contains(got, "50 s of load") {
		t.Error(got)
	}
}

func TestAVerdictHasItsColour(t *testing.T) {
	v := followtest.Run()[9]
	seen := map[string]bool{}
	for _, verdict := range []v1alpha1.Verdict{v1alpha1.VerdictPassed, v1alpha1.VerdictFailed, v1alpha1.VerdictInvalid} {
		v.Experiment.Status.Verdict = verdict
		seen[head(v)] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d heads for three verdicts", len(seen))
	}
}

// TestTheHighestOfAMinuteIsNoMoreThanIsKnown, where one of its seconds is a lower bound.
func TestTheHighestOfAMinuteIsNoMoreThanIsKnown(t *testing.T) {
	v := followtest.Run()[6]
	*v.Live.Recent[22].P99Microseconds = 19_996
	if got := Draw(v, nil, 100, 40); strings.Count(got, "≥ 19.99 ms") != 2 || strings.Contains(got, "20.0 ms") {
		t.Error(got)
	}
}

// TestFailuresAreRed, from the first of the seconds to the words behind the last.
func TestFailuresAreRed(t *testing.T) {
	for line := range strings.Lines(Draw(followtest.Run()[6], nil, 100, 40)) {
		if strings.Contains(line, "failed") && strings.Contains(line, "█") {
			if _, values, _ := strings.Cut(line, ansi.Style{}.ForegroundColor(ansi.Red).String()); !strings.HasSuffix(values, "█▁  max 6\x1b[m\n") || strings.Count(values, "\x1b") != 1 {
				t.Errorf("%q", line)
			}
			return
		}
	}
	t.Error("no failures are drawn")
}

func TestSparks(t *testing.T) {
	for _, c := range []struct {
		values []int64
		width  int
		want   string
	}{{[]int64{0, 7, 14, -1}, 8, "▁▄█·"}, {[]int64{0, 0}, 8, "▁▁"}, {[]int64{9, 0, 1, 2, 3}, 3, "▃▅█"}, {[]int64{-1, -1}, 8, "··"}} {
		if got := Spark(c.values, c.width); got != c.want {
			t.Errorf("%v in %d: %s, want %s", c.values, c.width, got, c.want)
		}
	}
	for done, want := range map[int64]string{0: "░░░░", 5: "██░░", 10: "████", 12: "████"} {
		if got := Bar(done, 10, 4); got != want {
			t.Errorf("%d of 10: %s, want %s", done, got, want)
		}
	}
}
