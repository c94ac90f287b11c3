package follow

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plain"
	"replab.dev/internal/report/progress"
	"replab.dev/internal/report/wording"
)

// figuresEach is how often the figures have a line of their own in a pipe.
const figuresEach = 5 * time.Second

// aloneAfter is how old an experiment is that an operator would have looked at, were there one.
const aloneAfter = 30 * time.Second

// Event is a line of what has happened.
type Event struct {
	At time.Duration
	// UnderLoad tells that At counts from the start of the load, as the times of faults do; else it is the age of the experiment.
	UnderLoad bool
	Text      string
}

// Clock is the time of the event in seven columns: with a plus since the load began.
func (e Event) Clock() string {
	format := "%5d s"
	if e.UnderLoad {
		format = "%+5d s"
	}
	return fmt.Sprintf(format, int(e.At.Round(time.Second).Seconds()))
}

// Line of a log.
func (e Event) Line() string { return e.Clock() + "  " + e.Text + "\n" }

// The events that change the clock.
const (
	loadBegan = "the load has begun; from here, times with a + count from its start"
	loadEnded = "the load has ended; times without a + count from the creation"
)

// Events are told once each, as they become visible: what lies between two views is told in the order in which the run has it.
type Events struct {
	// Figures has the figures told too, every few seconds: for who sees no screen.
	Figures bool

	progress string
	alone    bool
	since    time.Duration // the age from which on an operator is awaited: that of the first view, if it looked at an earlier spec
	began    bool
	ended    bool
	stage    string
	writer   string
	silent   string
	away     bool
	told     time.Time // the second whose figures were told last
	faults   map[string]v1alpha1.FaultState
	injected map[string]bool
}

// Next returns what has happened since the view before.
func (e *Events) Next(v View) []Event {
	var events []Event
	add := func(format string, args ...any) { events = append(events, v.event(fmt.Sprintf(format, args...))) }
	e.awayEvents(v, add)
	events = append(events, e.clockEvents(v)...)
	if now := progressOf(v.Experiment); now != e.progress {
		e.progress = now
		add("%s", now)
	}
	if e.since == 0 && v.Experiment.Status.ObservedGeneration > 0 {
		e.since = v.Age
	}
	if v.Away == "" && !e.alone && !v.Experiment.Attended() && v.Age-e.since >= aloneAfter {
		e.alone = true
		add("no operator has looked at it; it may watch other namespaces than %[1]s: kubectl replab doctor -n %[1]s", v.Experiment.Namespace)
	}
	if s, ok := v.Stage(); ok && s.Name != e.stage {
		e.stage = s.Name
		text := fmt.Sprintf("stage %s (%d of %d): %s", s.Name, s.Number, len(v.Live.Stages), wording.Stage(v.Experiment.Spec, s.Name))
		events = append(events, v.eventAt(s.StartedAt, text))
	}
	events = append(events, e.faultEvents(v)...)
	e.writerEvents(v.Writer(), add)
	if v.Away == "" && v.Silent != e.silent {
		e.silent = v.Silent
		if v.Silent != "" {
			add("no live figures: %s", v.Silent)
		}
	}
	if e.Figures {
		e.figures(v, add)
	}
	for i := range events {
		events[i].Text = plain.Line(events[i].Text)
	}
	return events
}

// clockEvents tell from when on times count from the load's start, and no longer do.
func (e *Events) clockEvents(v View) (events []Event) {
	if _, ok := v.Loaded(); ok && !e.began {
		e.began = true
		events = append(events, Event{UnderLoad: true, Text: loadBegan})
	}
	if e.began && !e.ended && !UnderLoad(v.Experiment) {
		e.ended = true
		events = append(events, v.event(loadEnded))
	}
	return events
}

// event of a moment that is not known better than by the view.
func (v View) event(text string) Event {
	if at, ok := v.Loaded(); ok && UnderLoad(v.Experiment) {
		return Event{at, true, text}
	}
	return Event{At: v.Age, Text: text}
}

// eventAt is that of a time since the load began, by the clocks of the run.
func (v View) eventAt(at *metav1.MicroTime, text string) Event {
	if start := v.loadStart(); start != nil && at != nil {
		return Event{at.Sub(start.Time), true, text}
	}
	return v.event(text)
}

func (e *Events) writerEvents(now string, add func(string, ...any)) {
	before := e.writer
	if now == "" || now == before {
		return
	}
	if e.writer = now; before != "" {
		add("writes seen on %s, before on %s", now, before)
	}
}

// awayEvents tell when nobody knows how the run goes on, and when that is over.
func (e *Events) awayEvents(v View, add func(string, ...any)) {
	before := e.away
	e.away = v.Away != ""
	switch {
	case e.away && !before:
		add("no answer of the API server, while the run goes on: %s", v.Away)
	case before && !e.away:
		add("the API server answers again")
	}
}

// progressOf is where the run stands. Under load the faults have events of their own.
func progressOf(x *v1alpha1.ReplicationExperiment) string {
	if between(x, v1alpha1.ConditionLoadStarted, v1alpha1.ConditionLoadFinished) {
		return x.Status.Phase
	}
	return progress.Line(x)
}

// faultEvents have the times of the status, where it has any.
func (e *Events) faultEvents(v View) (events []Event) {
	if e.faults == nil {
		e.faults, e.injected = map[string]v1alpha1.FaultState{}, map[string]bool{}
	}
	for _, f := range v.Experiment.Status.Faults {
		add := func(at *metav1.MicroTime, text string) {
			events = append(events, v.eventOf(f, at, "fault "+f.Name+": "+text))
		}
		if f.InjectedTime != nil && !e.injected[f.Name] {
			e.injected[f.Name] = true
			add(f.InjectedTime, "injected into "+f.Pod)
		}
		if e.faults[f.Name] == f.State {
			continue
		}
		if e.faults[f.Name] = f.State; f.State == v1alpha1.FaultReleased {
			add(f.ReleasedTime, faultLine(v.Experiment, f))
		} else if f.State != v1alpha1.FaultInjected || f.InjectedTime == nil {
			add(nil, faultLine(v.Experiment, f))
		}
	}
	return events
}

// eventOf a fault at a time by its clock. Without a time it is that of the view, which may be a second older than what the status tells: but nothing
// of a fault comes before its injection.
func (v View) eventOf(f v1alpha1.FaultStatus, at *metav1.MicroTime, text string) Event {
	if at == nil && f.InjectedTime != nil {
		seen, injected := v.event(text), v.eventOf(f, f.InjectedTime, text)
		if seen.UnderLoad && injected.UnderLoad {
			seen.At = max(seen.At, injected.At)
		}
		return seen
	}
	if at != nil && f.Clock != nil {
		at = ptr.To(metav1.NewMicroTime(at.Add(-f.Clock.Ahead())))
	}
	return v.eventAt(at, text)
}

func faultLine(x *v1alpha1.ReplicationExperiment, f v1alpha1.FaultStatus) string {
	switch f.State {
	case v1alpha1.FaultPlanned:
		return fmt.Sprintf("%s, on %s", wording.Fault(x.Spec, f.Fault), f.Pod)
	case v1alpha1.FaultDeleting:
		return "pod " + f.Pod + " is being deleted"
	case v1alpha1.FaultInjected:
		return "injected into " + f.Pod
	case v1alpha1.FaultConfirmed:
		return withEvidence("confirmed on "+f.Pod, f.Evidence)
	case v1alpha1.FaultReleased:
		return "released as planned"
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

// figures of every few seconds; a second is told once, and none after the last stage's planned end, when k6 ends its last requests.
func (e *Events) figures(v View, add func(string, ...any)) {
	last, ok := v.Last()
	if !ok || !UnderLoad(v.Experiment) || last.At.Sub(e.told) < figuresEach {
		return
	}
	s, staged := v.Stage()
	if staged && s.Left() == 0 && s.Number == len(v.Live.Stages) {
		return
	}
	e.told = last.At.Time
	words := v.Figures()
	if staged {
		words = append(words, fmt.Sprintf("%s of %s left", Seconds(s.Left()), s.Name))
	}
	add("load: %s", strings.Join(words, ", "))
}
