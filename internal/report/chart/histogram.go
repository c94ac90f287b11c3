package chart

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"gonum.org/v1/plot"
)

// Histogram is a picture of how many values lie where, on a scale of powers. It is as wide as there is room, as a Timeline is.
type Histogram struct {
	Key, Title, Unit string
	Bars             []Bar
}

// Bar has the values from one to before another. What is below the scale stands at its foot.
type Bar struct {
	From, To float64
	Count    int64
	Name     string // of the bar, with its count
}

const histogramHeight = 130

// HTML draws the picture; without values there is none.
func (c Histogram) HTML() template.HTML {
	if len(c.Bars) == 0 {
		return ""
	}
	least, most, highest := math.Inf(1), math.Inf(-1), int64(0)
	for _, b := range c.Bars {
		least, most, highest = math.Min(least, b.From), math.Max(most, b.To), max(highest, b.Count)
	}
	from, to := math.Max(least, LogFoot), math.Max(most, 2*LogFoot)
	part := func(v float64) float64 { return plot.LogScale{}.Normalize(from, to, math.Max(v, from)) }
	a := axisOf(0, float64(highest), false, "")
	var b strings.Builder
	begin(&b, "histogram", c.Key, c.Title, histogramHeight, fmt.Sprintf("0 0 %d %d", high, high))
	a.lines(&b, 0, high)
	for _, bar := range c.Bars {
		x, y := high*part(bar.From), a.y(float64(bar.Count))
		width := math.Max(high*part(bar.To)-x, footWidth)
		fmt.Fprintf(&b, `<rect class="bar" x="%.2f" y="%d" width="%.2f" height="%d"><title>%s</title></rect>`, x, y, width, high-y, template.HTMLEscapeString(bar.Name))
	}
	b.WriteString(`</svg>`)
	a.labels(&b)
	b.WriteString(`</div><div class="time">`)
	for _, t := range powerTicks(from, to, c.Unit) {
		tick(&b, 100*part(t.Value), t.Label)
	}
	b.WriteString(`</div>`)
	return template.HTML(b.String()) //nolint:gosec // every text in it is escaped
}

// footWidth is the width of a bar that lies below the scale.
const footWidth = 8

// powerTicks are the powers of ten between two values, and where these are less than two also twice and five times each.
func powerTicks(from, to float64, unit string) (ticks []plot.Tick) {
	for _, by := range [][]float64{{1}, {1, 2, 5}} {
		ticks = nil
		for power := math.Pow(10, math.Floor(math.Log10(from))); power <= to; power *= 10 {
			for _, n := range by {
				if v := n * power; v >= from && v <= to {
					ticks = append(ticks, plot.Tick{Value: v, Label: round(v, unit)})
				}
			}
		}
		if len(ticks) > 1 {
			break
		}
	}
	return ticks
}
