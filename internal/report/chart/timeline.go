package chart

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
)

// Timeline is a picture of some figures over the seconds of a run. It is as wide as there is room: its shapes are stretched, its text is not.
type Timeline struct {
	Key    string // names the picture on its page
	Title  string
	Height int    // in pixels
	Log    bool   // the scale of the figures
	Unit   string // of the figures, as the page's script knows it: "µs" is shown as a time
	// From and To bound the time, in seconds since the load began; Step is how many each figure is of.
	From, To, Step float64
	// View is the part of the time that is shown first. Figures in it set the scale, unless they are in a band of class discarded.
	View   Span
	Series []Series
	Bands  []Band
	Marks  []Mark
	Rows   int  // of bands with a name
	Ticks  bool // the time is written below
}

// Span of time, in seconds since the load began.
type Span struct{ From, To float64 }

// Series are figures of one kind, one for each step of the time; NaN where there is none.
type Series struct {
	Name   string
	Colour int // 1 to 9: those of the page's style; 9 is that of failures
	Values []float64
	Filled bool
	Bounds []bool // which values are lower bounds: they are drawn dashed. Absent: none
}

// parts of a series are its exact values, and its lower bounds with the values beside them, to which their line leads.
func (s Series) parts() (exact, bounds Series) {
	bounded := func(i int) bool { return i >= 0 && i < len(s.Bounds) && s.Bounds[i] }
	exact, bounds = s, s
	exact.Values, bounds.Values = slices.Clone(s.Values), slices.Clone(s.Values)
	for i := range s.Values {
		if bounded(i) {
			exact.Values[i] = math.NaN()
		}
		if !bounded(i-1) && !bounded(i) && !bounded(i+1) {
			bounds.Values[i] = math.NaN()
		}
	}
	return exact, bounds
}

// Band is a time with a name, such as a stage. One without a row is as high as the picture, and its name is not written.
type Band struct {
	Name string
	Span
	Class string // of the page's style
	Row   int    // from 1
	Loose bool   // the name may be wider than the band
}

// Mark is a moment.
type Mark struct {
	At    float64
	Class string // of the page's style: fault, event
}

// Empty tells that there is nothing to draw.
func (c Timeline) Empty() bool {
	for _, s := range c.Series {
		if slices.ContainsFunc(s.Values, func(v float64) bool { return !math.IsNaN(v) }) {
			return false
		}
	}
	return true
}

// Shows tells whether a moment lies in the time of the picture.
func (c Timeline) Shows(at float64) bool { return at >= c.From && at <= c.To }

// HTML draws the picture.
func (c Timeline) HTML() (template.HTML, error) {
	if !(c.To > c.From) || c.Step <= 0 || !(c.View.To > c.View.From) {
		return "", fmt.Errorf("picture %s: it has no time to show: %g to %g s in steps of %g", c.Key, c.From, c.To, c.Step)
	}
	a := c.axis()
	var b strings.Builder
	view := fmt.Sprintf("%.2f 0 %.2f %d", c.x(c.View.From), c.x(c.View.To)-c.x(c.View.From), high)
	begin(&b, "timeline", c.Key, c.Title, c.Height, view)
	c.bands(&b)
	a.lines(&b, c.x(c.From), c.x(c.To))
	for i, s := range c.Series {
		exact, bounds := s.parts()
		fmt.Fprintf(&b, `<path class="series c%d%s" data-series="%d" d="%s"/>`, s.Colour, filled(s), i, c.path(a, exact))
		if line := c.path(a, bounds); line != "" {
			fmt.Fprintf(&b, `<path class="series c%d bound" data-series="%d" d="%s"/>`, s.Colour, i, line)
		}
	}
	for _, m := range c.Marks {
		if c.Shows(m.At) {
			fmt.Fprintf(&b, `<path class="mark %s" d="M%.2f 0V%d"/>`, template.HTMLEscapeString(m.Class), c.x(m.At), high)
		}
	}
	b.WriteString(`</svg>`)
	a.labels(&b)
	c.names(&b)
	b.WriteString(`<i class="crosshair"></i></div>`)
	if c.Ticks {
		b.WriteString(`<div class="time">`)
		for _, t := range linearTicks(c.View.From, c.View.To, "s") {
			tick(&b, c.part(t.Value), t.Label)
		}
		b.WriteString(`</div>`)
	}
	return template.HTML(b.String()), nil //nolint:gosec // every text in it is escaped
}

func filled(s Series) string {
	if s.Filled {
		return " filled"
	}
	return ""
}

// x of a moment: a step of the time is two units wide, so that its middle is a whole number.
func (c Timeline) x(at float64) float64 { return 2 * (at - c.From) / c.Step }

// part of the width at which a moment is shown first, in percent.
func (c Timeline) part(at float64) float64 {
	return 100 * (at - c.View.From) / (c.View.To - c.View.From)
}

// axis of the figures that set the scale; of all, where none of these does.
func (c Timeline) axis() axis {
	counts := func(i int) bool {
		at := c.From + (float64(i)+0.5)*c.Step
		return at > c.View.From && at < c.View.To && !slices.ContainsFunc(c.Bands, func(b Band) bool { return b.Class == "discarded" && at > b.From && at < b.To })
	}
	of := func(counts func(int) bool) (least, most float64) {
		least, most = math.Inf(1), math.Inf(-1)
		for _, s := range c.Series {
			for i, v := range s.Values {
				if !math.IsNaN(v) && counts(i) {
					least, most = math.Min(least, v), math.Max(most, v)
				}
			}
		}
		return least, most
	}
	least, most := of(counts)
	if math.IsInf(most, -1) {
		least, most = of(func(int) bool { return true })
	}
	return axisOf(least, most, c.Log, c.Unit)
}

// path of a series: a line where there are figures on end, and nothing where there are none.
func (c Timeline) path(a axis, s Series) string {
	var b strings.Builder
	for i := 0; i < len(s.Values); {
		if math.IsNaN(s.Values[i]) {
			i++
			continue
		}
		end := i
		for end < len(s.Values) && !math.IsNaN(s.Values[end]) {
			end++
		}
		stroke(&b, a, s, i, end)
		i = end
	}
	return b.String()
}

// stroke writes the figures from one to before another.
func stroke(b *strings.Builder, a axis, s Series, from, end int) {
	y := a.y(s.Values[from])
	switch {
	case s.Filled:
		fmt.Fprintf(b, "M%d %d", 2*from, high)
		for _, v := range s.Values[from:end] {
			fmt.Fprintf(b, "V%dh2", a.y(v))
		}
		fmt.Fprintf(b, "V%dz", high)
	case end-from == 1:
		fmt.Fprintf(b, "M%d %dh2", 2*from, y)
	default:
		fmt.Fprintf(b, "M%d %dl", 2*from+1, y)
		for i, v := range s.Values[from+1 : end] {
			if i > 0 {
				b.WriteByte(' ')
			}
			to := a.y(v)
			fmt.Fprintf(b, "2 %d", to-y)
			y = to
		}
	}
}

func (c Timeline) bands(b *strings.Builder) {
	for _, band := range c.Bands {
		y, height := 0.0, float64(high)
		if band.Row > 0 {
			height /= float64(c.Rows)
			y, height = height*(float64(band.Row)-0.9), 0.8*height
		}
		from, to := math.Max(band.From, c.From), math.Min(band.To, c.To)
		if to < from {
			continue
		}
		fmt.Fprintf(b, `<rect class="band %s" x="%.2f" y="%g" width="%.2f" height="%g"><title>%s</title></rect>`,
			template.HTMLEscapeString(band.Class), c.x(from), y, c.x(to)-c.x(from), height, template.HTMLEscapeString(band.Name))
	}
}

// names of bands in rows. A name that is not loose is cut off at the end of its band; a loose one at the right edge stands before its end.
func (c Timeline) names(b *strings.Builder) {
	b.WriteString(`<div class="names">`)
	for _, band := range c.Bands {
		if band.Row == 0 || band.To < c.From || band.From > c.To {
			continue
		}
		from, to := math.Max(band.From, c.View.From), math.Min(band.To, c.View.To)
		style, class := fmt.Sprintf("left:%.2f%%;top:%.1f%%", c.part(from), 100*float64(band.Row-1)/float64(c.Rows)), ""
		switch {
		case !band.Loose && to <= from, to < from:
			class = " off"
		case !band.Loose:
			style += fmt.Sprintf(";width:%.2f%%", c.part(to)-c.part(from))
			if (c.part(to)-c.part(from))*lettersInWidth < 100*float64(len(band.Name)) {
				class = " narrow"
			}
		case c.part(from) > endAt:
			class = " end"
		}
		loose := ""
		if band.Loose {
			loose = ` data-loose=""`
		}
		fmt.Fprintf(b, `<span class="%s%s" data-from="%.3f" data-to="%.3f"%s style="%s">%s</span>`,
			template.HTMLEscapeString(band.Class), class, band.From, band.To, loose, style, template.HTMLEscapeString(band.Name))
	}
	b.WriteString(`</div>`)
}

// lettersInWidth are about as many as the width has room for.
const lettersInWidth = 140

// endAt is the percentage of the width behind which names stand before their end.
const endAt = 60

// high is the height of pictures in their own units.
const high = 1000

// begin a picture with its shapes.
func begin(b *strings.Builder, class, key, title string, height int, view string) {
	fmt.Fprintf(b, `<div class="plot %s" data-chart="%s" style="height:%dpx"><svg role="img" aria-label="%s" viewBox="%s" preserveAspectRatio="none">`,
		class, template.HTMLEscapeString(key), height, template.HTMLEscapeString(title), view)
}

func tick(b *strings.Builder, part float64, label string) {
	fmt.Fprintf(b, `<span style="left:%.2f%%">%s</span>`, part, template.HTMLEscapeString(label))
}

// axis is the scale of figures upwards.
type axis struct {
	from, to float64
	scale    plot.Normalizer
	ticks    []plot.Tick
}

func axisOf(least, most float64, log bool, unit string) axis {
	if math.IsInf(most, -1) { // there are none
		return axis{0, 1, plot.LinearScale{}, nil}
	}
	if log {
		from, to := powers(least, most)
		return axis{from, to, plot.LogScale{}, logTicks(from, to, unit)}
	}
	from, to := math.Min(0, least), math.Max(most*1.05, 1)
	return axis{from, to, plot.LinearScale{}, linearTicks(from, to, unit)}
}

// y of a figure, from the top. What is beyond the scale stands at its end.
func (a axis) y(v float64) int {
	return int(math.Round(high * (1 - a.scale.Normalize(a.from, a.to, math.Min(math.Max(v, a.from), a.to)))))
}

func (a axis) lines(b *strings.Builder, from, to float64) {
	b.WriteString(`<path class="grid" d="`)
	for _, t := range a.ticks {
		fmt.Fprintf(b, "M%g %dH%g", from, a.y(t.Value), to)
	}
	b.WriteString(`"/>`)
}

func (a axis) labels(b *strings.Builder) {
	b.WriteString(`<div class="y">`)
	for _, t := range a.ticks {
		fmt.Fprintf(b, `<span style="top:%.1f%%">%s</span>`, float64(a.y(t.Value))*100/high, template.HTMLEscapeString(t.Label))
	}
	b.WriteString(`</div>`)
}
