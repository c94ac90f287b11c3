package chart

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// words are the texts along the time: its seconds, and the names of stages, faults and events.
func (c Timeline) words(b *strings.Builder, in box) {
	b.WriteString(`<g class="time">`)
	for _, t := range linearTicks(c.From, c.To, "s") {
		if t.Value > c.To {
			continue
		}
		x := c.x(in, t.Value)
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%g" y2="%g"/><text x="%.1f" y="%g">%s</text>`, x, x, in.y+in.h, in.y+in.h+4, x, in.y+in.h+15, template.HTMLEscapeString(t.Label))
	}
	b.WriteString(`</g><g class="names">`)
	for _, band := range c.Bands {
		if room := c.x(in, band.To) - c.x(in, band.From); band.Class == "fault" || room < letter*float64(len(band.Name)) {
			continue
		}
		fmt.Fprintf(b, `<text class="%s" data-at="%g" x="%.1f" y="%g">%s</text>`, template.HTMLEscapeString(band.Class), band.From, c.x(in, band.From)+3, in.y-5, template.HTMLEscapeString(band.Name))
	}
	for _, m := range c.Marks {
		if !c.Shows(m.At) {
			continue
		}
		anchor, by := "start", 3.0
		if m.At > c.From+0.8*(c.To-c.From) {
			anchor, by = "end", -3
		}
		row := in.y + 11
		if m.Class == "event" {
			row += 13
		}
		fmt.Fprintf(b, `<text class="%s" text-anchor="%s" data-at="%g" x="%.1f" y="%g">%s</text>`, template.HTMLEscapeString(m.Class), anchor, m.At, c.x(in, m.At)+by, row, template.HTMLEscapeString(m.Name))
	}
	b.WriteString(`</g>`)
}

// letter is about as wide as one of a name is.
const letter = 5.5

func (c Timeline) x(in box, at float64) float64 {
	at = math.Min(math.Max(at, c.From), c.To)
	return in.x + in.w*(at-c.From)/(c.To-c.From)
}

func (c Timeline) bands(b *strings.Builder, in box) {
	for _, band := range c.Bands {
		from, to := c.x(in, band.From), c.x(in, band.To)
		fmt.Fprintf(b, `<rect class="band %s" x="%.2f" y="%g" width="%.2f" height="%g"><title>%s</title></rect>`,
			template.HTMLEscapeString(band.Class), from, in.y, math.Max(to-from, 0), in.h, template.HTMLEscapeString(band.Name))
	}
}

func (c Timeline) marks(b *strings.Builder, in box) {
	for _, m := range c.Marks {
		if !c.Shows(m.At) {
			continue
		}
		x := c.x(in, m.At)
		fmt.Fprintf(b, `<line class="mark %s" x1="%.2f" x2="%.2f" y1="%g" y2="%g"/>`, template.HTMLEscapeString(m.Class), x, x, in.y, in.y+in.h)
	}
}

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
