package html

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/chart"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/wire"
)

// Timeline are the pictures along the time of the load, and the figures that they are drawn from, for the page's script.
type Timeline struct {
	Why      string // there are none
	Pictures []Picture
	Data     Data
	Notes    []string
}

// Picture with the names of what is in it.
type Picture struct {
	SVG  template.HTML
	Key  string
	Keys []Key
}

// Key is a line of a picture.
type Key struct {
	Name   string
	Colour int
}

// Data are figures by picture and line, as the document has them; null where there is none.
type Data struct {
	Began  string              `json:"began"`
	From   float64             `json:"from"`
	Step   float64             `json:"step"`
	Series map[string][]Values `json:"series"`
	Bounds []string            `json:"bounds"` // which percentiles of an entry are lower bounds
}

// Values of one line.
type Values struct {
	Name   string   `json:"name"`
	Unit   string   `json:"unit"`
	Values []*int64 `json:"values"`
	Bound  string   `json:"bound,omitempty"` // the percentile that it is
}

func newTimeline(d *figures.Document) (Timeline, error) {
	if why := d.NoTimeline(); why != "" {
		return Timeline{Why: why}, nil
	}
	began := cmp.Or(d.Status.LoadStartTime, d.Recorder.LoadStartedAt, &d.Recorder.Timeline[0].At).Time
	step := float64(max(1, d.Recorder.TimelineStepSeconds))
	first := d.Recorder.Timeline[0].At.Sub(began).Seconds()
	t := Timeline{Data: Data{Began: began.UTC().Format(time.RFC3339Nano), From: first, Step: step, Series: map[string][]Values{}}, Notes: timelineNotes(d)}
	for _, s := range d.Recorder.Timeline {
		bounds := ""
		for _, p := range s.LowerBounds {
			bounds += " " + string(p)
		}
		t.Data.Bounds = append(t.Data.Bounds, bounds)
	}
	base := chart.Timeline{From: first, To: first + step*float64(len(d.Recorder.Timeline)), Step: step, Bands: bands(d, began), Marks: marks(d, began)}
	if slices.ContainsFunc(base.Marks, func(m chart.Mark) bool { return !base.Shows(m.At) }) {
		t.Notes = append(t.Notes, "What was before or after this time is in the tables.")
	}
	for _, one := range series(d) {
		c := base
		c.Key, c.Title, c.Unit, c.Log, c.Height = one.key, one.title, one.unit, one.log, one.height
		p := Picture{Key: one.key}
		for i, v := range one.values {
			line := one.lines(i)
			line.Values = floats(v.Values)
			c.Series = append(c.Series, line)
			p.Keys = append(p.Keys, Key{v.Name, line.Colour})
		}
		if c.Empty() {
			t.Notes = append(t.Notes, "There is no picture of this, since none of it was measured: "+one.title+".")
			continue
		}
		svg, err := c.SVG()
		if err != nil {
			return t, err
		}
		p.SVG = svg
		t.Pictures = append(t.Pictures, p)
		t.Data.Series[one.key] = one.values
	}
	return t, nil
}

func timelineNotes(d *figures.Document) (notes []string) {
	if n := d.Recorder.TimelineStepSeconds; n > 1 {
		notes = append(notes, fmt.Sprintf("Each entry is of %d seconds, since the results would not have fitted otherwise; percentiles cannot be made from those of single seconds, and are absent.", n))
	}
	if n := d.Recorder.TimelineOmittedSeconds; n > 0 {
		notes = append(notes, fmt.Sprintf("The last %d seconds of the load are not in it; they are part of all other figures.", n))
	}
	return append(notes, "Stages with a grey ground do not count in the figures of the load.", "What the servers used is known for each stage as a whole, not for each second.",
		fmt.Sprintf("On scales of powers, what is below %d µs, also a lag below 0, stands at the foot of the picture.", chart.LogFoot),
		"The lag of a node is the largest that was seen in that time, or the age of the oldest write that it had not shown: so it grows for a node that is cut off, also for an old primary.",
		"Moments that are known by another clock than the recorder's are set off by the middle of what the two were measured to differ.")
}

func floats(values []*int64) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = math.NaN()
		if v != nil {
			all[i] = float64(*v)
		}
	}
	return all
}

// bands are the stages, and the times in which faults held.
func bands(d *figures.Document, began time.Time) (all []chart.Band) {
	for _, s := range d.Recorder.Stages {
		if s.StartedAt == nil {
			continue
		}
		from := s.StartedAt.Sub(began).Seconds()
		b := chart.Band{Name: s.Name, From: from, To: from + float64(s.DurationMicroseconds)/1e6, Class: "stage"}
		if s.Discarded {
			b.Class = "discarded"
		}
		all = append(all, b)
	}
	for _, f := range d.Status.Faults {
		if f.InjectedTime != nil && f.ReleasedTime != nil {
			all = append(all, chart.Band{Name: f.Name, From: moment(*f.InjectedTime, f.Clock, began), To: moment(*f.ReleasedTime, f.Clock, began), Class: "fault"})
		}
	}
	return all
}

// moment is a time in seconds since the load began, by the recorder's clock.
func moment(at metav1.MicroTime, clock *v1alpha1.ClockStatus, began time.Time) float64 {
	seconds := at.Sub(began).Seconds()
	if clock != nil {
		seconds -= float64(clock.LeastAheadMicroseconds+clock.MostAheadMicroseconds) / 2e6
	}
	return seconds
}

func marks(d *figures.Document, began time.Time) (all []chart.Mark) {
	for _, f := range d.Status.Faults {
		if f.InjectedTime != nil {
			all = append(all, chart.Mark{Name: f.Name, At: moment(*f.InjectedTime, f.Clock, began), Class: "fault"})
		}
	}
	if f := d.Status.Failover; f != nil && f.PromotedTime != nil {
		all = append(all, chart.Mark{Name: "promoted " + f.NewPrimary, At: moment(*f.PromotedTime, f.Clock, began), Class: "event"})
	}
	for _, r := range d.Status.RestartsInPlace {
		all = append(all, chart.Mark{Name: r.Node + " again", At: moment(r.RejoinedTime, r.Clock, began), Class: "event"})
	}
	return all
}

// figuresOf are the figures of one picture.
type figuresOf struct {
	key, title, unit string
	log              bool
	height           float64
	values           []Values
	lines            func(int) chart.Series
}

func coloured(first int) func(int) chart.Series {
	return func(i int) chart.Series { return chart.Series{Colour: (first+i-1)%8 + 1} }
}

const failureColour = 9

func series(d *figures.Document) []figuresOf {
	of := func(name, unit, bound string, get func(wire.Second) *int64) Values {
		v := Values{Name: name, Unit: unit, Bound: bound}
		for _, s := range d.Recorder.Timeline {
			v.Values = append(v.Values, get(s))
		}
		return v
	}
	each := "each second"
	if n := d.Recorder.TimelineStepSeconds; n > 1 {
		each = fmt.Sprintf("each %d seconds", n)
	}
	all := []figuresOf{{
		key: "requests", title: "Requests in " + each, height: 190,
		values: []Values{of("requests", "", "", func(s wire.Second) *int64 { return &s.Requests }), of("failed", "", "", func(s wire.Second) *int64 { return &s.Failures })},
		lines: func(i int) chart.Series {
			if i == 1 {
				return chart.Series{Colour: failureColour, Filled: true}
			}
			return chart.Series{Colour: 1}
		},
	}, {
		key: "latency", title: "Latency of " + each, unit: "µs", log: true, height: 210, lines: coloured(2),
		values: []Values{
			of("p50", "µs", string(v1alpha1.P50), func(s wire.Second) *int64 { return s.P50Microseconds }), of("p99", "µs", string(v1alpha1.P99), func(s wire.Second) *int64 { return s.P99Microseconds }),
		},
	}}
	lag := figuresOf{key: "lag", title: "Replication lag by node, the largest of " + each, unit: "µs", log: true, height: 210, lines: coloured(1)}
	for i, name := range d.LagNodes() {
		lag.values = append(lag.values, of(name, "µs", "", func(s wire.Second) *int64 { return figures.Lag(s.LagMicroseconds, i) }))
	}
	if len(lag.values) > 0 {
		all = append(all, lag)
	}
	if cpu := processors(d); len(cpu.values) > 0 {
		all = append(all, cpu)
	}
	return all
}

// processors is what servers and other processes took in each stage.
func processors(d *figures.Document) figuresOf {
	used := figuresOf{key: "cpu", title: "Processor time of servers and other processes, mean of each stage, in thousandths of a processor", height: 150, lines: func(i int) chart.Series {
		return chart.Series{Colour: i%8 + 1, Steps: true}
	}}
	places := map[string]int{}
	for _, r := range d.Recorder.Resources {
		i, known := places[r.Node]
		if !known {
			i = len(used.values)
			places[r.Node] = i
			used.values = append(used.values, Values{Name: r.Node, Unit: "mCPU", Values: make([]*int64, len(d.Recorder.Timeline))})
		}
		for _, s := range d.Recorder.Stages {
			if s.Name != r.Stage || s.StartedAt == nil {
				continue
			}
			end := s.StartedAt.Add(time.Duration(s.DurationMicroseconds) * time.Microsecond)
			if s.DurationMicroseconds == 0 && s.EndedAt != nil { // at rest
				end = s.EndedAt.Time
			}
			for at, second := range d.Recorder.Timeline {
				if !second.At.Time.Before(s.StartedAt.Time) && second.At.Time.Before(end) {
					used.values[i].Values[at] = &r.CPUMillicores
				}
			}
		}
	}
	return used
}
