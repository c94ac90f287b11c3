package follow

import (
	"fmt"
	"strings"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/table"
	"replab.dev/internal/report/wording"
)

// figuresEach is how often the figures have a line of their own in a pipe.
const figuresEach = 5 * time.Second

// aloneAfter is how old an experiment is that an operator would have looked at, were there one.
const aloneAfter = 30 * time.Second

// Events are told once each, as they become visible: what lies between two views is told in the order in which the run has it.
type Events struct {
	// Figures has the figures told too, every few seconds: for who sees no screen.
	Figures bool

	progress string
	alone    bool
	stage    string
	writer   string
	silent   string
	away     bool
	told     time.Time // the second whose figures were told last
	faults   map[string]v1alpha1.FaultState
}

// Next returns what has happened since the view before.
func (e *Events) Next(v View) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	lines = append(lines, e.awayEvents(v)...)
	if now := progress(v.Experiment); now != e.progress {
		e.progress = now
		add("%s", now)
	}
	if v.Away == "" && !e.alone && len(v.Experiment.Status.Conditions) == 0 && v.Age >= aloneAfter {
		e.alone = true
		add("no operator has looked at it: kubectl replab doctor")
	}
	if s, ok := v.Stage(); ok && s.Name != e.stage {
		e.stage = s.Name
		add("stage %s (%d of %d): %s", s.Name, s.Number, len(v.Live.Stages), wording.Stage(v.Experiment.Spec, s.Name))
	}
	lines = append(lines, e.faultEvents(v.Experiment)...)
	lines = append(lines, e.writerEvents(v.Writer())...)
	if v.Away == "" && v.Silent != e.silent {
		e.silent = v.Silent
		if v.Silent != "" {
			add("no live figures: %s", v.Silent)
		}
	}
	if e.Figures {
		lines = append(lines, e.figures(v)...)
	}
	for i := range lines {
		lines[i] = table.Plain(lines[i])
	}
	return lines
}

func (e *Events) writerEvents(now string) []string {
	before := e.writer
	if now == "" || now == before {
		return nil
	}
	e.writer = now
	if before == "" {
		return nil
	}
	return []string{fmt.Sprintf("writes go to %s, before to %s", now, before)}
}

// awayEvents tell when nobody knows how the run goes on, and when that is over.
func (e *Events) awayEvents(v View) []string {
	before := e.away
	e.away = v.Away != ""
	switch {
	case e.away && !before:
		return []string{"no answer of the API server, while the run goes on: " + v.Away}
	case before && !e.away:
		return []string{"the API server answers again"}
	}
	return nil
}

// progress is where the run stands. Under load the faults have events of their own.
func progress(x *v1alpha1.ReplicationExperiment) string {
	if between(x, v1alpha1.ConditionLoadStarted, v1alpha1.ConditionLoadFinished) {
		return x.Status.Phase
	}
	return table.Progress(x)
}

func (e *Events) faultEvents(x *v1alpha1.ReplicationExperiment) (lines []string) {
	if e.faults == nil {
		e.faults = map[string]v1alpha1.FaultState{}
	}
	for _, f := range x.Status.Faults {
		if e.faults[f.Name] == f.State {
			continue
		}
		e.faults[f.Name] = f.State
		lines = append(lines, fmt.Sprintf("fault %s: %s", f.Name, faultLine(x, f)))
	}
	return lines
}

func faultLine(x *v1alpha1.ReplicationExperiment, f v1alpha1.FaultStatus) string {
	switch f.State {
	case v1alpha1.FaultPlanned:
		return fmt.Sprintf("%s, on %s", wording.Fault(x.Spec, f.Fault), f.Pod)
	case v1alpha1.FaultDeleting:
		return "pod " + f.Pod + " is being deleted"
	case v1alpha1.FaultInjected:
		return "injected into " + f.Pod + ", its effect is awaited"
	case v1alpha1.FaultConfirmed:
		return withEvidence("confirmed on "+f.Pod, f.Evidence)
	case v1alpha1.FaultReleased:
		return "released, it has held as long as it was to"
	case v1alpha1.FaultEndedEarly, v1alpha1.FaultEndedLate:
		return withEvidence(string(f.State)+": the run will be Inconclusive", f.Evidence)
	}
	return withEvidence(string(f.State)+" on "+f.Pod, f.Evidence)
}

func withEvidence(words, evidence string) string {
	if evidence = strings.TrimSpace(evidence); evidence == "" {
		return words
	}
	return words + ": " + evidence
}

// figures of every few seconds; a second is told once.
func (e *Events) figures(v View) []string {
	last, ok := v.Last()
	if !ok || !UnderLoad(v.Experiment) || last.At.Sub(e.told) < figuresEach {
		return nil
	}
	e.told = last.At.Time
	words := v.Figures()
	if s, ok := v.Stage(); ok {
		words = append(words, fmt.Sprintf("%s of %s left", Seconds(s.Left()), s.Name))
	}
	return []string{"load: " + strings.Join(words, ", ")}
}
