package screen

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"k8s.io/apimachinery/pkg/api/meta"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plain"
	"replab.dev/internal/plugin/follow"
	"replab.dev/internal/report/terminal"
	"replab.dev/internal/report/wording"
	"replab.dev/internal/topology/registry"
	"replab.dev/internal/wire"
)

var (
	usual = ansi.Style{}
	bold  = ansi.Style{}.Bold()
	faint = ansi.Style{}.Faint()
	green = ansi.Style{}.ForegroundColor(ansi.Green)
	red   = ansi.Style{}.ForegroundColor(ansi.Red)
	amber = ansi.Style{}.ForegroundColor(ansi.Yellow)
)

// eventsShown is how many of the last events stand below the figures.
const eventsShown = 6

// Draw a run as it is, in lines of at most so many columns. Where there are not enough lines for all, fewer of the events are shown.
func Draw(v follow.View, events []follow.Event, width, height int) string {
	x := v.Experiment
	lines := []string{head(v), topologyLine(x), stepLine(x), ""}
	if v.Away != "" {
		lines = append(lines, amber.Styled("as it was last; the API server does not answer: "+plain.Line(v.Away)), "")
	}
	lines = append(lines, load(v, width)...)
	lines = append(lines, faults(x)...)
	for i, line := range lines {
		lines[i] = terminal.Fold(line, width, labelWidth)
	}
	drawn := strings.Join(lines, "\n")
	last := ""
	for _, e := range slices.Backward(events[max(len(events)-eventsShown, 0):]) {
		with := terminal.Fold(faint.Styled(e.Clock())+"  "+e.Text, width, labelWidth) + "\n" + last
		if last != "" && strings.Count(drawn+"\n"+with, "\n") > height {
			break
		}
		last = with
	}
	return drawn + "\n" + last
}

// head says what runs, and for how long: the load, as far as it was planned, else since its creation.
func head(v follow.View) string {
	x := v.Experiment
	phase := x.Status.Phase
	if phase == "" {
		phase = "Waiting for the operator"
	}
	since := follow.Seconds(v.Age) + " old"
	if at, ok := v.Loaded(); ok && follow.UnderLoad(x) {
		planned := time.Duration(x.Spec.Load.Seconds()) * time.Second
		since = follow.Seconds(min(at, planned)) + " of load"
	}
	return fmt.Sprintf("%s  %s  %s", bold.Styled(x.Name), verdictStyle(x.Status.Verdict).Styled(phase), faint.Styled(since))
}

func topologyLine(x *v1alpha1.ReplicationExperiment) string {
	t := x.Spec.Topology
	what := []string{string(t.Type), string(registry.Engine(t)), wording.Nodes(t)}
	if x.Spec.Routing.Proxy != "" {
		what = append(what, string(x.Spec.Routing.Proxy))
	}
	return label("nodes") + strings.Join(what, ", ")
}

func verdictStyle(v v1alpha1.Verdict) ansi.Style {
	switch v {
	case "":
		return bold
	case v1alpha1.VerdictPassed:
		return green
	case v1alpha1.VerdictFailed:
		return red
	}
	return amber
}

// stepLine marks the steps that are behind and the first one that is not, and says what that one waits for.
func stepLine(x *v1alpha1.ReplicationExperiment) string {
	var marks, now string
	for i, s := range v1alpha1.Steps {
		switch {
		case meta.IsStatusConditionTrue(x.Status.Conditions, s):
			marks += green.Styled("✓")
		case now == "" && x.Status.Phase != "":
			marks += amber.Styled("▶")
			now = fmt.Sprintf("%s, %d of %d", s, i+1, len(v1alpha1.Steps))
			if c := meta.FindStatusCondition(x.Status.Conditions, s); c != nil && c.Message != "" {
				now += ": " + plain.Line(c.Message)
			}
		default:
			marks += faint.Styled("·")
		}
	}
	return label("steps") + marks + "  " + now
}

const labelWidth = 9

// label begins a line of figures.
func label(name string) string { return faint.Styled(fmt.Sprintf("%-*s", labelWidth, name)) }

func load(v follow.View, width int) []string {
	if v.Live == nil {
		if v.Silent != "" && follow.UnderLoad(v.Experiment) {
			return []string{label("load") + amber.Styled("no live figures: "+plain.Line(v.Silent)), ""}
		}
		return nil
	}
	var lines []string
	if s, ok := v.Stage(); ok {
		name := fmt.Sprintf("%s %d/%d  ", plain.Line(s.Name), s.Number, len(v.Live.Stages))
		left := fmt.Sprintf("  %s left of %s", follow.Seconds(s.Left()), follow.Seconds(s.Planned()))
		bar := Bar(int64(s.Elapsed), int64(s.Planned()), max(min(width-labelWidth-len(name)-len(left), 40), 8))
		lines = append(lines, label("stage")+name+bar+left)
	}
	if words := v.ShortFigures(); len(words) > 0 {
		if w := v.Writer(); w != "" {
			words = append(words, "writer "+plain.Line(w))
		}
		lines = append(lines, label("now")+strings.Join(words, "   "))
	}
	if len(v.Live.Recent) > 0 {
		lines = append(lines, sparks(v, max(min(width-besideSparks, wire.RecorderLiveMost), 8))...)
	}
	if v.Silent != "" && follow.UnderLoad(v.Experiment) {
		lines = append(lines, label("")+amber.Styled("the last figures; no newer ones: "+plain.Line(v.Silent)))
	}
	return append(lines, "")
}

// besideSparks is how many columns the label and the words of a sparkline have: "max 419 µs on semisync-db-1".
const besideSparks = labelWidth + 31

// sparks of the last minute.
func sparks(v follow.View, width int) []string {
	recent := v.Charted(width)
	series := func(of func(wire.Second) int64) (values []int64) {
		for _, s := range recent {
			values = append(values, of(s))
		}
		return values
	}
	lines := []string{spark("ok/s", usual, series(follow.Succeeded), width, func(n int64) string { return fmt.Sprint(n) })}
	failed := series(func(s wire.Second) int64 { return s.Failures })
	if slices.Max(failed) > 0 {
		lines = append(lines, spark("failed", red, failed, width, func(n int64) string { return fmt.Sprint(n) }))
	}
	lines = append(lines, spark("p99", usual, series(func(s wire.Second) int64 {
		if s.P99Microseconds == nil {
			return -1
		}
		return *s.P99Microseconds
	}), width, func(us int64) string {
		return follow.Time(us, slices.ContainsFunc(recent, follow.P99IsBound))
	}))
	most := follow.Lag{Microseconds: -1}
	lag := series(func(s wire.Second) int64 {
		l, ok := v.Lag(s)
		if !ok {
			return -1
		}
		if l.Microseconds > most.Microseconds {
			most = l
		}
		return l.Microseconds
	})
	if slices.Max(lag) >= 0 {
		lines = append(lines, spark("lag", usual, lag, width, func(int64) string { return most.String() }))
	}
	return lines
}

func spark(name string, style ansi.Style, values []int64, width int, word func(int64) string) string {
	if len(values) > width {
		values = values[len(values)-width:]
	}
	most := slices.Max(values)
	line := Spark(values, width)
	if most >= 0 {
		line += "  max " + word(most)
	}
	return label("  "+name) + style.Styled(line) // a style within another would end it
}

// faults that are known, and those still to come.
func faults(x *v1alpha1.ReplicationExperiment) []string {
	var lines []string
	known := map[string]bool{}
	for _, f := range x.Status.Faults {
		known[f.Fault] = true
		state := amber
		switch f.State {
		case v1alpha1.FaultConfirmed, v1alpha1.FaultReleased:
			state = green
		case v1alpha1.FaultUnconfirmed, v1alpha1.FaultEndedEarly, v1alpha1.FaultEndedLate:
			state = red
		}
		lines = append(lines, label("fault")+fmt.Sprintf("%s  %s  %s  %s", f.Name, wording.Fault(x.Spec, f.Fault), plain.Line(f.Pod), state.Styled(string(f.State))))
	}
	for _, f := range x.Spec.Faults {
		if !known[f.Name] {
			lines = append(lines, label("fault")+fmt.Sprintf("%s  %s", f.Name, faint.Styled(wording.Fault(x.Spec, f.Name))))
		}
	}
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return lines
}

// levels of a sparkline, the lowest first.
var levels = []rune("▁▂▃▄▅▆▇█")

// absent marks a second without a figure.
const absent = '·'

// Spark draws values from 0 to the highest of them, the newest last, as many as fit; below 0 is a second without a figure.
func Spark(values []int64, width int) string {
	if len(values) > width {
		values = values[len(values)-width:]
	}
	most := int64(0)
	for _, v := range values {
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case v < 0:
			b.WriteRune(absent)
		case most == 0:
			b.WriteRune(levels[0])
		default:
			b.WriteRune(levels[int(v*int64(len(levels)-1)/most)])
		}
	}
	return b.String()
}

// Bar draws how much of a whole is behind.
func Bar(done, whole int64, width int) string {
	full := width
	if whole > 0 && done < whole {
		full = int(done * int64(width) / whole)
	}
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}
