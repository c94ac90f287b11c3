// Package chart draws the pictures of reports as SVG that stands within an HTML page: its text is text, and its colours are those of the
// page's style, so that it is readable in light and dark. It is pure.
package chart

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes of a picture in its own units; on the page it is as wide as there is room.
const (
	Width  = 900
	left   = 78
	right  = 12
	bottom = 22
)

// Timeline is a picture of some figures over the seconds of a run.
type Timeline struct {
	Key    string // names the picture on its page
	Title  string
	Height float64
	Log    bool   // the scale of the figures
	Unit   string // of the figures, as the page's script knows it: "µs" is shown as a time
	// From and To bound the time, in seconds since the load began; Step is how many each figure is of.
	From, To, Step float64
	Series         []Series
	Bands          []Band
	Marks          []Mark
}

// Series are figures of one kind, one for each step of the time; NaN where there is none.
type Series struct {
	Name   string
	Colour int // 1 to 9: those of the page's style; 9 is that of failures
	Values []float64
	Filled bool
	Steps  bool // each holds for the whole of its step
}

// Band is a time with a name, such as a stage.
type Band struct {
	Name     string
	From, To float64
	Class    string // of the page's style: stage, discarded, fault
}

// Mark is a moment with a name.
type Mark struct {
	Name  string
	At    float64
	Class string // fault, event
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

// SVG draws the picture.
func (c Timeline) SVG() (template.HTML, error) {
	if !(c.To > c.From) || c.Step <= 0 {
		return "", fmt.Errorf("picture %s: it has no time to show: %g to %g s in steps of %g", c.Key, c.From, c.To, c.Step)
	}
	p := c.axes()
	var b strings.Builder
	top := 30.0
	inner := box{left, top, Width - left - right, c.Height - top - bottom}
	fmt.Fprintf(&b, `<svg class="chart timeline" role="img" aria-label="%s" viewBox="0 0 %d %g" data-chart="%s" data-from="%g" data-to="%g" data-step="%g" data-left="%g" data-width="%g" data-top="%g" data-height="%g" data-unit="%s">`,
		template.HTMLEscapeString(c.Title), Width, c.Height, template.HTMLEscapeString(c.Key), c.From, c.To, c.Step, inner.x, inner.w, inner.y, inner.h, template.HTMLEscapeString(c.Unit))
	fmt.Fprintf(&b, `<text class="title" x="%g" y="12">%s</text>`, float64(left), template.HTMLEscapeString(c.Title))
	b.WriteString(c.frame(p, inner))
	c.words(&b, inner)
	fmt.Fprintf(&b, `<svg class="data" x="%g" y="%g" width="%g" height="%g" viewBox="%g %g %g %g" preserveAspectRatio="none">`, inner.x, inner.y, inner.w, inner.h, inner.x, inner.y, inner.w, inner.h)
	c.bands(&b, inner)
	for i, s := range c.Series {
		fmt.Fprintf(&b, `<g class="series c%d" data-series="%d">%s</g>`, s.Colour, i, c.draw(p, inner, s))
	}
	c.marks(&b, inner)
	b.WriteString(`</svg>`)
	fmt.Fprintf(&b, `<line class="crosshair" y1="%g" y2="%g" x1="-9" x2="-9"/><rect class="touch" x="%g" y="%g" width="%g" height="%g"/></svg>`, inner.y, inner.y+inner.h, inner.x, inner.y, inner.w, inner.h)
	return template.HTML(b.String()), nil //nolint:gosec // every text in it is escaped above or by the library
}

// box is a part of a picture, from its upper left corner.
type box struct{ x, y, w, h float64 }

// axes are the scales of the picture.
func (c Timeline) axes() *plot.Plot {
	p := plot.New()
	p.HideX()
	p.X.Min, p.X.Max, p.X.Padding, p.Y.Padding = c.From, c.To, 0, 0
	least, most := math.Inf(1), math.Inf(-1)
	for _, s := range c.Series {
		for _, v := range s.Values {
			if !math.IsNaN(v) {
				least, most = math.Min(least, v), math.Max(most, v)
			}
		}
	}
	if math.IsInf(most, -1) {
		least, most = 0, 1
	}
	p.Y.Min, p.Y.Max = math.Min(0, least), math.Max(most*1.05, 1)
	p.Y.Tick.Marker = plot.TickerFunc(func(from, to float64) []plot.Tick { return linearTicks(from, to, c.Unit) })
	if c.Log {
		p.Y.Min, p.Y.Max = powers(least, most)
		p.Y.Scale = plot.LogScale{}
		p.Y.Tick.Marker = plot.TickerFunc(func(from, to float64) []plot.Tick { return logTicks(from, to, c.Unit) })
	}
	return p
}

// LogFoot is the least that a scale of powers shows, in its unit: what is below, also a lag below 0, stands at the foot of the picture.
const LogFoot = 10

// powers are the ends of a scale of powers, which shows one of ten at least.
func powers(least, most float64) (foot, top float64) {
	foot = math.Pow(10, math.Floor(math.Log10(math.Max(least, LogFoot))))
	return foot, math.Max(math.Pow(10, math.Ceil(math.Log10(math.Max(most, foot)))), 10*foot)
}

// frame are the lines across the picture, with their figures.
func (c Timeline) frame(p *plot.Plot, in box) string {
	var labels strings.Builder
	lines := render(c.Height, "frame", func(d draw.Canvas) {
		for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			y := vg.Length(c.Height - in.y - in.h + in.h*p.Y.Norm(t.Value))
			d.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.5}, vg.Length(in.x), y, vg.Length(in.x+in.w), y)
			labels.WriteString(label(in.x-6, c.Height-y.Points()+4, "end", t.Label))
		}
	})
	return lines + `<g class="labels">` + labels.String() + `</g>`
}

// draw the figures of a series: a line where there are some on end, and nothing where there are none.
func (c Timeline) draw(p *plot.Plot, in box, s Series) string {
	return render(c.Height, "", func(d draw.Canvas) {
		at := func(i, part, v float64) vg.Point {
			x := in.x + in.w*(i+part)*c.Step/(c.To-c.From)
			y := p.Y.Norm(math.Min(math.Max(v, p.Y.Min), p.Y.Max))
			return vg.Point{X: vg.Length(x), Y: vg.Length(c.Height - in.y - in.h + in.h*y)}
		}
		for i := 0; i < len(s.Values); {
			if math.IsNaN(s.Values[i]) {
				i++
				continue
			}
			end := i
			for end < len(s.Values) && !math.IsNaN(s.Values[end]) {
				end++
			}
			stroke(d, s, i, end, at)
			i = end
		}
	})
}

// stroke draws the figures from one to before another.
func stroke(d draw.Canvas, s Series, from, end int, at func(i, part, v float64) vg.Point) {
	var points []vg.Point
	for i := from; i < end; i++ {
		v := s.Values[i]
		if s.Steps || s.Filled || end-from == 1 {
			points = append(points, at(float64(i), 0, v), at(float64(i), 1, v))
			continue
		}
		points = append(points, at(float64(i), 0.5, v))
	}
	if !s.Filled {
		d.StrokeLines(draw.LineStyle{Color: ink, Width: 1.4}, points)
		return
	}
	points = append(points, at(float64(end-1), 1, 0), at(float64(from), 0, 0))
	d.FillPolygon(ink, points)
}

// ink is what everything is drawn with. It stands for the colour that the page's style gives to the group that it is in.
var ink = color.RGBA{R: 1, G: 2, B: 3, A: 255}

const inkText = "#010203"

// label is a text of a picture, which the browser sets: what its letters take is not known here.
func label(x, y float64, anchor, text string) string {
	return fmt.Sprintf(`<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, template.HTMLEscapeString(text))
}

// render draws by the library, and returns what it drew as a group of a picture of a height.
func render(height float64, class string, what func(draw.Canvas)) string {
	c := vgsvg.New(Width, vg.Length(height))
	what(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil { // a buffer takes everything
		panic(err)
	}
	text := b.String()
	text = text[strings.Index(text, "<svg"):]
	text = text[strings.Index(text, ">")+1 : strings.LastIndex(text, "</svg>")]
	text = strings.TrimSpace(strings.ReplaceAll(text, inkText, "currentColor"))
	if class == "" {
		return text
	}
	return `<g class="` + class + `">` + text + `</g>`
}
