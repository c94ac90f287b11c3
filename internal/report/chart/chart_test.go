package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func picture() Timeline {
	return Timeline{
		Key: "latency", Title: "Latency <p99>", Height: 200, Log: true, Unit: "µs", From: 0, To: 60, Step: 1, View: Span{0, 60}, Rows: 2, Ticks: true,
		Series: []Series{{Name: "p99", Colour: 2, Values: []float64{1000, math.NaN(), 3000, 4000, 5}}, {Name: "failures", Colour: 8, Filled: true, Values: []float64{1, 2}}},
		Bands: []Band{
			{Name: "whole", Span: Span{20, 22}, Class: "outage"},
			{Name: "warmup", Span: Span{0, 5}, Class: "stage", Row: 1},
			{Name: "narrow", Span: Span{5, 6}, Class: "stage", Row: 1},
			{Name: "crash & burn", Span: Span{20, 30}, Class: "fault", Row: 2, Loose: true},
			{Name: "late", Span: Span{59, 59}, Class: "fault", Row: 2, Loose: true},
		},
		Marks: []Mark{{At: 20, Class: "fault"}, {At: 59, Class: "event"}, {At: 61, Class: "event"}},
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

func drawn(t *testing.T, c Timeline) string {
	t.Helper()
	text, err := c.HTML()
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, string(text))
	return string(text)
}

func TestATimelineHasItsColoursFromThePage(t *testing.T) {
	text := drawn(t, picture())
	for _, unwanted := range []string{"#", "font-family", "rgb(", "<?xml", "crash & burn", "<p99>", `whole</span>`, "M122.00"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("the picture has %q in it:\n%s", unwanted, text)
		}
	}
	for _, want := range []string{
		`class="series c2"`, `class="series c8 filled"`, `<title>whole</title>`, `>warmup</span>`, `class="stage narrow"`, `>crash &amp; burn</span>`, `class="fault end"`, `>10 ms</span>`, `>30 s</span>`, `class="mark event" d="M118.00`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture has no %q in it:\n%s", want, text)
		}
	}
}

// TestNoLineIsDrawnOverWhatWasNotMeasured: a series with a gap is two lines.
func TestNoLineIsDrawnOverWhatWasNotMeasured(t *testing.T) {
	for _, one := range []struct {
		values []float64
		lines  int
	}{{[]float64{1, 2, 3}, 1}, {[]float64{1, math.NaN(), 3, 4}, 2}, {[]float64{math.NaN()}, 0}} {
		c := picture()
		if n := strings.Count(c.path(c.axis(), Series{Values: one.values}), "M"); n != one.lines {
			t.Errorf("%v is drawn by %d lines, want %d", one.values, n, one.lines)
		}
	}
}

// TestFiguresStandWhereTheyBelong: one of a second in the middle of it, by the scale of the picture.
func TestFiguresStandWhereTheyBelong(t *testing.T) {
	n := math.NaN()
	c := Timeline{Key: "x", From: 0, To: 10, Step: 1, View: Span{0, 10}, Series: []Series{{Values: []float64{0, n, 25, n, 50, 100}}}}
	// 100 of 105 is at 95.24% of the height; a second is two wide.
	if got, want := c.path(c.axis(), c.Series[0]), "M0 1000h2M4 762h2M9 524l2 -476"; got != want {
		t.Errorf("the line is %s, want %s", got, want)
	}
	c.Series[0].Filled = true
	if got, want := c.path(c.axis(), c.Series[0]), "M0 1000V1000h2V1000zM4 1000V762h2V1000zM8 1000V524h2V48h2V1000z"; got != want {
		t.Errorf("the area is %s, want %s", got, want)
	}
}

// TestLowerBoundsAreDrawnApart: dashed, up to the exact figures beside them.
func TestLowerBoundsAreDrawnApart(t *testing.T) {
	c := Timeline{Key: "x", From: 0, To: 5, Step: 1, View: Span{0, 5}, Series: []Series{{
		Colour: 2, Values: []float64{0, 25, 50, 100, 100}, Bounds: []bool{false, false, false, true, false},
	}}}
	text := drawn(t, c)
	for _, want := range []string{
		`<path class="series c2" data-series="0" d="M1 1000l2 -238 2 -238M8 48h2"/>`, `<path class="series c2 bound" data-series="0" d="M5 524l2 -476 2 0"/>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture has no %q in it:\n%s", want, text)
		}
	}
	if c.Series[0].Bounds = make([]bool, 5); strings.Contains(drawn(t, c), "bound") {
		t.Error("exact figures are drawn as bounds")
	}
}

// TestWhatDoesNotCountSetsNoScale, neither a discarded stage nor what is outside of the view. Without other figures it does.
func TestWhatDoesNotCountSetsNoScale(t *testing.T) {
	c := Timeline{From: 0, To: 4, Step: 1, View: Span{0, 3}, Series: []Series{{Values: []float64{1000, 10, 20, 2000}}}, Bands: []Band{{Span: Span{0, 1}, Class: "discarded"}}}
	if got, want := c.axis().to, 21.0; got != want {
		t.Errorf("the scale ends at %g, want %g", got, want)
	}
	if got, want := c.path(c.axis(), c.Series[0]), "M1 0l2 524 2 -476 2 -48"; got != want {
		t.Errorf("the line is %s, want %s", got, want)
	}
	c.Bands[0].To = 4
	if got, want := c.axis().to, 2100.0; got != want {
		t.Errorf("the scale of a load that is discarded ends at %g, want %g", got, want)
	}
}

// TestTheViewIsShownFirst: what lies outside of it is there, and its names are off.
func TestTheViewIsShownFirst(t *testing.T) {
	c := picture()
	c.View = Span{5, 35}
	text := drawn(t, c)
	for _, want := range []string{`viewBox="10.00 0 60.00 1000"`, `class="stage off" data-from="0.000"`, `left:50.00%;top:50.0%">crash`, `class="fault off" data-from="59.000"`, `<span style="left:50.00%">20 s</span>`} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture has no %q in it:\n%s", want, text)
		}
	}
}

func TestAHistogramHasItsBarsOnAScaleOfPowers(t *testing.T) {
	c := Histogram{Key: "x", Title: "Lag <x>", Unit: "µs", Bars: []Bar{{From: -9, To: 0, Count: 5, Name: "5 <below>"}, {From: 100, To: 1000, Count: 10}, {From: 1000, To: 1e5, Count: 20}}}
	text := "<div>" + string(c.HTML()) + "</div>"
	wellFormed(t, text)
	for _, want := range []string{
		`<rect class="bar" x="0.00" y="762" width="8.00" height="238"><title>5 &lt;below&gt;</title>`, // 5 of 21, at the foot
		`<rect class="bar" x="250.00" y="524" width="250.00" height="476">`, `<rect class="bar" x="500.00" y="48" width="500.00" height="952">`,
		`<span style="left:50.00%">1 ms</span>`, `<span style="left:100.00%">100 ms</span>`, `aria-label="Lag &lt;x&gt;"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture has no %q in it:\n%s", want, text)
		}
	}
	c.Bars = []Bar{{From: 1200, To: 2200, Count: 1}}
	if text := string(c.HTML()); !strings.Contains(text, ">2 ms</span>") {
		t.Errorf("a scale within a power has no ticks: %s", text)
	}
	if (Histogram{}).HTML() != "" {
		t.Error("of no value there is a picture")
	}
}

func TestATimelineWithoutTimeIsAnError(t *testing.T) {
	for _, c := range []Timeline{{Key: "x"}, {Key: "x", To: 9, Step: 1}} {
		if _, err := c.HTML(); err == nil || !strings.Contains(err.Error(), "no time to show") {
			t.Errorf("it is %v", err)
		}
	}
}

func TestRowsShowLowerBoundsOpen(t *testing.T) {
	c := Rows{Key: "x", Title: "Latency", Unit: "µs", Log: true, Rows: []Row{
		{Name: "steady <1>", Points: []Point{{Name: "p50 <3 ms>", Colour: 1, Value: 3000}, {Name: "p99 ≥ 9 ms", Colour: 2, Value: 9000, Open: true}}},
	}}
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	text := string(svg)
	wellFormed(t, text)
	for _, want := range []string{"steady &lt;1&gt;", "p50 &lt;3 ms&gt;", ">10 ms</text>"} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture has no %q in it:\n%s", want, text)
		}
	}
	if circles := strings.Count(text, "A"); circles == 0 || strings.Count(text, `<title>p99 ≥ 9 ms</title>`) != 1 {
		t.Errorf("%d arcs:\n%s", circles, text)
	}
	if nothing, err := (Rows{Rows: []Row{{Name: "x"}}}).SVG(); nothing != "" || err != nil {
		t.Errorf("of no figure there is a picture: %q, %v", nothing, err)
	}
}

func TestRowsShowIntervalsAndUpperBounds(t *testing.T) {
	at := 100.0
	draw := func(change func(*Rows)) string {
		c := Rows{Key: "x", Loose: true, At: &at, Rows: []Row{
			{Name: "a", Points: []Point{{Value: 75}, {Value: 90, Below: true}, {Value: 30, Range: &Range{From: 20, To: 40}}}, Range: &Range{From: 70, To: math.Inf(1)}},
		}}
		change(&c)
		svg, err := c.SVG()
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, string(svg))
		return string(svg)
	}
	whole := draw(func(*Rows) {})
	for name, change := range map[string]func(*Rows){
		"the interval":         func(c *Rows) { c.Rows[0].Range = nil },
		"its end":              func(c *Rows) { c.Rows[0].Range.To = 80 },
		"the line at 100":      func(c *Rows) { c.At = nil },
		"the upper bound":      func(c *Rows) { c.Rows[0].Points[1].Below = false },
		"a lower bound's sign": func(c *Rows) { c.Rows[0].Points[1].Below, c.Rows[0].Points[1].Open = false, true },
		"a line between dots":  func(c *Rows) { c.Loose = false },
		"a point's range":      func(c *Rows) { c.Rows[0].Points[2].Range = nil },
		"the end of it":        func(c *Rows) { c.Rows[0].Points[2].Range.To = 200 },
	} {
		if draw(change) == whole {
			t.Errorf("%s makes no difference", name)
		}
	}
	if n := strings.Count(whole, `class="range"`); n != 1 {
		t.Errorf("%d lines for one interval", n)
	}
}

// TestAScaleOfPowersIsNeverEmpty: what is all below its foot, or all of one power, has a place on it.
func TestAScaleOfPowersIsNeverEmpty(t *testing.T) {
	for _, values := range [][]float64{{0, 0}, {-3}, {10}, {7, 3}, {1000, 1000}, {math.NaN()}, nil} {
		c := Timeline{Key: "x", Height: 150, Log: true, Unit: "µs", From: 0, To: 9, Step: 1, View: Span{0, 9}, Series: []Series{{Values: values}}}
		rows := Rows{Key: "x", Log: true, Unit: "µs", Rows: []Row{{Name: "x"}}}
		for _, v := range values {
			rows.Rows[0].Points = append(rows.Rows[0].Points, Point{Value: math.Max(v, -3)})
		}
		svg := drawn(t, c)
		if math.IsNaN(append(values, math.NaN())[0]) { // of nothing there are no rows
			rows.Rows = nil
		}
		bars, err := rows.SVG()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{svg, string(bars)} {
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%v is drawn as %s", values, text)
			}
		}
		if empty := len(values) == 0 || math.IsNaN(values[0]); c.Empty() != empty {
			t.Errorf("%v is empty: %v", values, c.Empty())
		}
	}
}
