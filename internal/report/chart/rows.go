package chart

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Rows is a picture of figures side by side: a row each, along one scale.
type Rows struct {
	Key, Title, Unit string
	Log              bool
	Loose            bool     // no line joins the points of a row
	At               *float64 // a line across all rows
	Rows             []Row
}

// Row has points on the scale.
type Row struct {
	Name   string
	Points []Point
	Range  *Range
}

// Range is an interval, drawn as a line. An end without bound is infinite.
type Range struct{ From, To float64 }

// Point is one figure; that of a bound is drawn open, with its sign.
type Point struct {
	Name   string
	Colour int
	Value  float64
	Open   bool   // a lower bound
	Below  bool   // an upper bound
	Range  *Range // the two bounds that it lies between, drawn as a line with two ends; Value is its middle
}

const radius = 5 // of a dot

const (
	rowHeight    = 24
	rowsTop      = 24
	rowsLeft     = 70
	rowsLeftMost = 450
	leastWidth   = 480
	plotWidth    = 290
	rowsRight    = 40 // for what stands beside the last point
)

// SVG draws the picture; without a figure there is none.
func (c Rows) SVG() (template.HTML, error) {
	p, ok := c.scale()
	if !ok {
		return "", nil
	}
	height := float64(rowsTop + rowHeight*len(c.Rows) + bottom)
	left := c.left()
	width := math.Max(leastWidth, left+plotWidth)
	in := box{left, rowsTop, width - left - rowsRight, float64(rowHeight * len(c.Rows))}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart rows" role="img" aria-label="%s" viewBox="0 0 %g %g" data-chart="%s">`, template.HTMLEscapeString(c.Title), width, height, template.HTMLEscapeString(c.Key))
	fmt.Fprintf(&b, `<text class="title" x="4" y="12">%s</text>`, template.HTMLEscapeString(c.Title))
	b.WriteString(c.frame(p, in, height))
	for i, r := range c.Rows {
		y := height - in.y - rowHeight*(float64(i)+0.5)
		c.ranges(&b, p, in, height, y, r)
		c.points(&b, p, in, height, y, r)
	}
	b.WriteString(c.across(p, in, height) + `</svg>`)
	return template.HTML(b.String()), nil //nolint:gosec // every text in it is escaped above or by the library
}

// left is the room of the longest name.
func (c Rows) left() float64 {
	longest := 0
	for _, r := range c.Rows {
		longest = max(longest, len([]rune(r.Name)))
	}
	return min(max(rowsLeft, 1.1*letter*float64(longest)+10), rowsLeftMost)
}

func (c Rows) scale() (*plot.Plot, bool) {
	least, most, endless := math.Inf(1), math.Inf(-1), false
	take := func(v float64) {
		if math.IsInf(v, 0) {
			endless = true
			return
		}
		least, most = math.Min(least, v), math.Max(most, v)
	}
	for _, r := range c.Rows {
		for _, point := range r.Points {
			take(point.Value)
			if point.Range != nil {
				take(point.Range.From)
				take(point.Range.To)
			}
		}
		if r.Range != nil {
			take(r.Range.From)
			take(r.Range.To)
		}
	}
	if math.IsInf(most, -1) {
		return nil, false
	}
	p := plot.New()
	p.X.Padding, p.Y.Padding = 0, 0
	if c.Log {
		p.X.Scale = plot.LogScale{}
		p.X.Min, p.X.Max = powers(least, most)
		return p, true
	}
	if endless { // its bar begins at its only end, and needs room too
		most *= 1.1
	}
	p.X.Min, p.X.Max = math.Min(0, least), math.Max(most, 1)
	return p, true
}

func (c Rows) x(p *plot.Plot, in box, v float64) vg.Length {
	return vg.Length(in.x + in.w*p.X.Norm(math.Min(math.Max(v, p.X.Min), p.X.Max)))
}

func (c Rows) frame(p *plot.Plot, in box, height float64) string {
	ticks := linearTicks(p.X.Min, p.X.Max, c.Unit)
	if c.Log {
		ticks = logTicks(p.X.Min, p.X.Max, c.Unit)
	}
	var labels strings.Builder
	lines := render(height, "frame", func(d draw.Canvas) {
		for _, t := range ticks {
			x := c.x(p, in, t.Value)
			d.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.5}, x, vg.Length(bottom-2), x, vg.Length(height-in.y))
			labels.WriteString(label(x.Points(), height-6, "middle", t.Label))
		}
	})
	for i, r := range c.Rows {
		labels.WriteString(label(in.x-10, in.y+rowHeight*(float64(i)+0.5)+4, "end", r.Name))
	}
	return lines + `<g class="labels">` + labels.String() + `</g>`
}

func (c Rows) line(b *strings.Builder, p *plot.Plot, in box, height, y float64, r Range) {
	b.WriteString(render(height, "range", func(d draw.Canvas) {
		d.StrokeLine2(draw.LineStyle{Color: ink, Width: 2}, c.x(p, in, r.From), vg.Length(y), c.x(p, in, r.To), vg.Length(y))
	}))
}

func (c Rows) ranges(b *strings.Builder, p *plot.Plot, in box, height, y float64, r Row) {
	if r.Range != nil {
		c.line(b, p, in, height, y, *r.Range)
	}
}

// across is the line at c.At.
func (c Rows) across(p *plot.Plot, in box, height float64) string {
	if c.At == nil {
		return ""
	}
	return render(height, "at", func(d draw.Canvas) {
		x := c.x(p, in, *c.At)
		d.StrokeLine2(draw.LineStyle{Color: ink, Width: 1, Dashes: []vg.Length{4, 3}}, x, vg.Length(bottom-2), x, vg.Length(height-in.y))
	})
}

// points of a row, with a line from the first to the last.
func (c Rows) points(b *strings.Builder, p *plot.Plot, in box, height, y float64, r Row) {
	if len(r.Points) == 0 {
		return
	}
	if !c.Loose {
		c.line(b, p, in, height, y, Range{r.Points[0].Value, r.Points[len(r.Points)-1].Value})
	}
	for _, point := range r.Points {
		text := render(height, "", func(d draw.Canvas) { c.point(d, p, in, vg.Length(y), point) })
		fmt.Fprintf(b, `<g class="c%d"><title>%s</title>%s</g>`, point.Colour, template.HTMLEscapeString(point.Name), text)
	}
}

// point is a dot, a bar with an arrow for a bound, or a line for a range that a dot does not cover.
func (c Rows) point(d draw.Canvas, p *plot.Plot, in box, y vg.Length, point Point) {
	style := draw.LineStyle{Color: ink, Width: 2}
	bar := func(x vg.Length) { d.StrokeLine2(style, x, y-6, x, y+6) }
	x := c.x(p, in, point.Value)
	if r := point.Range; r != nil {
		from, to := c.x(p, in, r.From), c.x(p, in, r.To)
		if to-from > 2*radius {
			bar(from)
			bar(to)
			d.StrokeLine2(style, from, y, to, y)
			return
		}
		x = (from + to) / 2
	}
	if !point.Open && !point.Below {
		d.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: radius, Shape: draw.CircleGlyph{}}, vg.Point{X: x, Y: y})
		return
	}
	bar(x)
	side := vg.Length(1)
	if point.Below {
		side = -1
	}
	d.StrokeLines(style, []vg.Point{{X: x + 3*side, Y: y + 4}, {X: x + 8*side, Y: y}, {X: x + 3*side, Y: y - 4}})
}

// letter is about as wide as one of a name is.
const letter = 5.5

// linearTicks are about five round figures.
func linearTicks(from, to float64, unit string) []plot.Tick {
	rough := (to - from) / 5
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, by := range []float64{1, 2, 5, 10} {
		if step*by >= rough {
			step *= by
			break
		}
	}
	if unit == "s" {
		step = wholeTime(rough)
	}
	var ticks []plot.Tick
	for v := math.Ceil(from/step) * step; v <= to; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: round(v, unit)})
	}
	return ticks
}

// wholeTime is a round time of about so many seconds.
func wholeTime(rough float64) float64 {
	for _, s := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400} {
		if s >= rough*0.6 {
			return s
		}
	}
	return 28800
}

// logTicks are the powers of ten.
func logTicks(from, to float64, unit string) []plot.Tick {
	var ticks []plot.Tick
	for v := from; v <= to*1.001; v *= 10 {
		ticks = append(ticks, plot.Tick{Value: v, Label: round(v, unit)})
	}
	return ticks
}

// round is a round figure as text.
func round(v float64, unit string) string {
	short := func(v float64) string { return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64) }
	switch {
	case unit == "s" && v >= 60 && math.Mod(v, 60) == 0:
		return short(v/60) + " min"
	case unit == "s":
		return short(v) + " s"
	case unit != "µs":
		return short(v)
	case v >= 1e6:
		return short(v/1e6) + " s"
	case v >= 1e3:
		return short(v/1e3) + " ms"
	}
	return short(v) + " µs"
}
