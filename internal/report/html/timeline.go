package html

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/chart"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/story"
	"replab.dev/internal/wire"
)

// Timeline are the pictures along the time of the load, and the figures that they are drawn from, for the page's script.
type Timeline struct {
	Why      string // there are none
	Pictures []Picture
	Zooms    []Zoom
	Data     Data
	Notes    []string
}

// Picture with the names of what is in it.
type Picture struct {
	Key, Title string
	Plot       template.HTML
	Keys       []Key
}

// Key is a line of a picture.
type Key struct {
	Name   string
	Colour int
}

// Zoom is a part of the time with a name.
type Zoom struct {
	Name     string
	From, To float64
}

// Data are figures by picture and line, null where there is none.
type Data struct {
	Began  string              `json:"began"`
	From   float64             `json:"from"`
	Step   float64             `json:"step"`
	View   [2]float64          `json:"view"` // what is shown first
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
	step := float64(max(1, d.Recorder.TimelineStepSeconds))
	first := d.Moment(d.Recorder.Timeline[0].At, nil)
	base := chart.Timeline{From: first, To: first + step*float64(len(d.Recorder.Timeline)), Step: step, Bands: bands(d), Marks: marks(d)}
	base.View = view(d, base)
	t := Timeline{Notes: timelineNotes(d), Zooms: zooms(d, base), Data: Data{
		Began: d.Began().UTC().Format(time.RFC3339Nano), From: first, Step: step, View: [2]float64{base.View.From, base.View.To}, Series: map[string][]Values{}, Bounds: lowerBounds(d),
	}}
	if base.View != (chart.Span{From: base.From, To: base.To}) {
		t.Zooms = append([]Zoom{{"Whole run", base.From, base.To}}, t.Zooms...)
	}
	if slices.ContainsFunc(base.Marks, func(m chart.Mark) bool { return !base.Shows(m.At) }) {
		t.Notes = append(t.Notes, "What was before or after this time is in the tables.")
	}
	if err := t.draw(eventsOf(d, base), nil, nil); err != nil {
		return t, err
	}
	all := series(d)
	for i, one := range all {
		c := base
		c.Key, c.Title, c.Unit, c.Log, c.Height, c.Ticks = one.key, one.title, one.unit, one.log, one.height, i == len(all)-1
		var keys []Key
		for i, v := range one.values {
			line := one.lines(i)
			line.Values = floats(v.Values)
			c.Series = append(c.Series, line)
			keys = append(keys, Key{v.Name, line.Colour})
		}
		if err := t.draw(c, keys, one.values); err != nil {
			return t, err
		}
	}
	return t, nil
}

// draw a picture; one of lines without any figure is left out, and a note says so.
func (t *Timeline) draw(c chart.Timeline, keys []Key, values []Values) error {
	if values != nil && c.Empty() {
		t.Notes = append(t.Notes, "There is no picture of this, since none of it was measured: "+c.Title+".")
		return nil
	}
	plot, err := c.HTML()
	if err != nil {
		return err
	}
	t.Pictures = append(t.Pictures, Picture{c.Key, c.Title, plot, keys})
	if values != nil {
		t.Data.Series[c.Key] = values
	}
	return nil
}

func lowerBounds(d *figures.Document) (all []string) {
	for _, s := range d.Recorder.Timeline {
		bounds := ""
		for _, p := range s.LowerBounds {
			bounds += " " + string(p)
		}
		all = append(all, bounds)
	}
	return all
}

func timelineNotes(d *figures.Document) (notes []string) {
	if n := d.Recorder.TimelineStepSeconds; n > 1 {
		notes = append(notes, fmt.Sprintf("Each entry spans %d seconds, so that the results fit. It has no percentiles: those of single seconds cannot be combined.", n))
	}
	if n := d.Recorder.TimelineOmittedSeconds; n > 0 {
		notes = append(notes, fmt.Sprintf("The last %d seconds of the load are missing here. All other figures include them.", n))
	}
	return append(notes, "The stages that count set the scales. Stages on a grey ground do not count, and their figures may lie beyond a scale.",
		fmt.Sprintf("On a logarithmic scale, values below %d µs are at the foot, also a lag below 0.", chart.LogFoot),
		"A node's lag is the largest seen, or the age of its oldest missing write: it grows while the node is cut off.",
		"Times by another clock are corrected by the measured difference to the recorder's clock. Where it was not measured, they are approximate.")
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

// stages are the times of the stages, and whether each counts.
func stages(d *figures.Document) (all []chart.Band) {
	for _, s := range d.Recorder.Stages {
		if s.StartedAt == nil {
			continue
		}
		b := chart.Band{Name: s.Name, Class: "stage", Span: chart.Span{From: d.Moment(*s.StartedAt, nil)}}
		b.To = b.From + float64(s.DurationMicroseconds)/1e6
		if s.DurationMicroseconds == 0 && s.EndedAt != nil { // at rest
			b.To = d.Moment(*s.EndedAt, nil)
		}
		if s.Discarded {
			b.Class = "discarded"
		}
		all = append(all, b)
	}
	return all
}

// bands are the stages that do not count, and the times without an acknowledged write.
func bands(d *figures.Document) (all []chart.Band) {
	for _, b := range stages(d) {
		if b.Class == "discarded" {
			all = append(all, b)
		}
	}
	if a := d.Recorder.Availability; a != nil {
		for _, g := range a.Gaps {
			b := chart.Band{Name: "no acknowledged write", Class: "outage", Span: chart.Span{From: d.Moment(g.LastAcknowledgedAt, nil), To: math.Inf(1)}}
			if g.NextAcknowledgedAt != nil {
				b.To = d.Moment(*g.NextAcknowledgedAt, nil)
			}
			all = append(all, b)
		}
	}
	return all
}

// view is the time of the stages that count, with the faults before and after it.
func view(d *figures.Document, c chart.Timeline) chart.Span {
	v := chart.Span{From: math.Inf(1), To: math.Inf(-1)}
	take := func(from, to float64) { v = chart.Span{From: math.Min(v.From, from), To: math.Max(v.To, to)} }
	for _, b := range stages(d) {
		if b.Class == "stage" {
			take(b.From, b.To)
		}
	}
	for _, f := range d.Status.Faults {
		if f.InjectedTime != nil {
			at := d.Moment(*f.InjectedTime, f.Clock)
			take(at, at)
		}
	}
	if v = (chart.Span{From: math.Max(v.From, c.From), To: math.Min(v.To, c.To)}); v.To-v.From < 2*c.Step {
		return chart.Span{From: c.From, To: c.To}
	}
	return v
}

// zooms are the times around the faults, one for faults of the same moment.
func zooms(d *figures.Document, c chart.Timeline) (all []Zoom) {
	last := math.Inf(-1)
	for _, f := range d.Status.Faults {
		if f.InjectedTime == nil {
			continue
		}
		at := d.Moment(*f.InjectedTime, f.Clock)
		if !c.Shows(at) || at-last < 1 {
			continue
		}
		last = at
		from, to := at, at
		if o := d.OutageOf(f); o != nil {
			from, to = math.Min(at, o.From), math.Max(at, o.To)
		}
		around := math.Max(3*c.Step, (to-from)/3)
		all = append(all, Zoom{"Fault at " + story.When(d, f), math.Max(from-around, c.From), math.Min(to+around, c.To)})
	}
	return all
}

func marks(d *figures.Document) (all []chart.Mark) {
	for _, f := range d.Status.Faults {
		if f.InjectedTime != nil {
			all = append(all, chart.Mark{At: d.Moment(*f.InjectedTime, f.Clock), Class: "fault"})
		}
	}
	if f := d.Status.Failover; f != nil && f.PromotedTime != nil {
		all = append(all, chart.Mark{At: d.Moment(*f.PromotedTime, f.Clock), Class: "event"})
	}
	for _, r := range d.Status.RestartsInPlace {
		all = append(all, chart.Mark{At: d.Moment(r.RejoinedTime, r.Clock), Class: "event"})
	}
	return all
}

// eventsOf is the picture of what has a name: stages, faults for as long as they held, and below them what the topology did.
func eventsOf(d *figures.Document, c chart.Timeline) chart.Timeline {
	c.Key, c.Title, c.Rows = "events", "Stages, faults, and what the topology did", 1
	for _, b := range stages(d) {
		b.Row = 1
		c.Bands = append(c.Bands, b)
	}
	var ends []float64 // of the names in the rows of faults
	for _, f := range d.Status.Faults {
		if f.InjectedTime == nil {
			continue
		}
		at := d.Moment(*f.InjectedTime, f.Clock)
		b := chart.Band{Name: f.Name + ": " + f.Pod, Class: "fault", Loose: true, Span: chart.Span{From: at, To: at}}
		if f.ReleasedTime != nil {
			b.To = d.Moment(*f.ReleasedTime, f.Clock)
		}
		room := float64(len(b.Name)) * (c.View.To - c.View.From) / lettersAcross
		row := slices.IndexFunc(ends, func(end float64) bool { return end < at-room/3 })
		if row < 0 {
			row, ends = len(ends), append(ends, 0)
		}
		ends[row] = math.Max(b.To, at+room)
		b.Row = 2 + row
		c.Bands = append(c.Bands, b)
	}
	c.Rows += len(ends)
	for _, row := range [][]chart.Band{outages(d), happened(d)} {
		if len(row) > 0 {
			c.Rows++
		}
		for _, b := range row {
			b.Row = c.Rows
			c.Bands = append(c.Bands, b)
		}
	}
	c.Height = 20 * c.Rows
	return c
}

// lettersAcross are about as many as a narrow picture has room for in a row.
const lettersAcross = 55

// outages of the faults. Faults may share one, and one that the next fault cut short is a part of that fault's.
func outages(d *figures.Document) (all []chart.Band) {
	for _, f := range d.Status.Faults {
		o := d.OutageOf(f)
		if o == nil {
			continue
		}
		b := chart.Band{Name: "outage " + d.Figure("status.faults["+f.Name+"].outageMilliseconds").Brief(), Class: "outage", Loose: true, Span: chart.Span{From: o.From, To: o.To}}
		i := slices.IndexFunc(all, func(other chart.Band) bool { return other.From == b.From })
		switch {
		case i < 0:
			all = append(all, b)
		case all[i].To < b.To:
			all[i] = b
		}
	}
	return all
}

var phaseColours = map[string]int{"detection": 3, "promotion": 6, "routing": 4}

// happened are the phases of the failover, and the returns of primaries to their places.
func happened(d *figures.Document) (all []chart.Band) {
	if f := d.Status.Failover; f != nil && f.LastOldAcknowledgement != nil {
		began := d.Moment(*f.LastOldAcknowledgement, nil)
		for _, p := range d.Phases() {
			at := chart.Span{From: began + float64(p.From)/1000, To: began + float64(p.To)/1000}
			all = append(all, chart.Band{Name: p.Name + " " + p.Took.Brief(), Class: fmt.Sprintf("phase c%d", phaseColours[p.Name]), Span: at})
		}
	}
	for _, r := range d.Status.RestartsInPlace {
		at := d.Moment(r.RejoinedTime, r.Clock)
		all = append(all, chart.Band{Name: r.Node + " again", Class: "event", Loose: true, Span: chart.Span{From: at, To: at}})
	}
	return all
}

// figuresOf are the figures of one picture.
type figuresOf struct {
	key, title, unit string
	log              bool
	height           int
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
		key: "requests", title: "Requests in " + each, height: 130,
		values: []Values{
			of("succeeded", "", "", func(s wire.Second) *int64 { return ptr.To(s.Requests - s.Failures) }), of("failed", "", "", func(s wire.Second) *int64 { return &s.Failures }),
		},
		lines: func(i int) chart.Series {
			if i == 1 {
				return chart.Series{Colour: failureColour, Filled: true}
			}
			return chart.Series{Colour: 1}
		},
	}, {
		key: "latency", title: "Latency of " + each, unit: "µs", log: true, height: 120, lines: coloured(2),
		values: []Values{
			of("p50", "µs", string(v1alpha1.P50), func(s wire.Second) *int64 { return s.P50Microseconds }), of("p99", "µs", string(v1alpha1.P99), func(s wire.Second) *int64 { return s.P99Microseconds }),
		},
	}}
	lag := figuresOf{key: "lag", title: "Replication lag, the largest of " + each, unit: "µs", log: true, height: 120, lines: coloured(1)}
	for i, name := range d.LagNodes() {
		lag.values = append(lag.values, of(name, "µs", "", func(s wire.Second) *int64 { return figures.Lag(s.LagMicroseconds, i) }))
	}
	if len(lag.values) > 0 {
		all = append(all, lag)
	}
	return all
}
