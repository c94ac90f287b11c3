package html

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

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
			line.Values, line.Bounds = floats(v.Values), boundsOf(d, v.Bound)
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

func timelineNotes(d *figures.Document) (notes []string) {
	if n := d.Recorder.TimelineStepSeconds; n > 1 {
		notes = append(notes, fmt.Sprintf("Each entry spans %d seconds, so that the results fit. It has no percentiles: those of single seconds cannot be combined.", n))
	}
	if n := d.Recorder.TimelineOmittedSeconds; n > 0 {
		notes = append(notes, fmt.Sprintf("The last %d seconds of the load are missing here. All other figures include them.", n))
	}
	if slices.ContainsFunc(d.Recorder.Timeline, func(s wire.Second) bool { return len(s.LowerBounds) > 0 }) {
		notes = append(notes, "A dashed line of percentiles has lower bounds: too many requests of those seconds failed, or the recorder was paused.")
	}
	return append(notes, "The stages that count set the scales. Stages on a grey ground do not count, and their figures may lie beyond a scale.",
		fmt.Sprintf("On a logarithmic scale, values below %d µs are at the foot, also a lag below 0.", chart.LogFoot),
		"A node's lag is the largest seen, or the age of its oldest missing write: it grows while the node is cut off.",
		"Times by another clock are corrected by the measured difference to the recorder's clock. Where it was not measured, they are approximate.")
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
