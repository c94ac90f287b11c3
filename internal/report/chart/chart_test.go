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
		Key: "latency", Title: "Latency <p99>", Height: 200, Log: true, Unit: "µs", From: 0, To: 60, Step: 1,
		Series: []Series{{Name: "p99", Colour: 2, Values: []float64{1000, math.NaN(), 3000, 4000, 5}}, {Name: "failures", Colour: 8, Filled: true, Values: []float64{1, 2}}},
		Bands:  []Band{{Name: "warmup", From: 0, To: 5, Class: "discarded"}, {Name: "narrow", From: 5, To: 6, Class: "stage"}, {Name: "crash held", From: 20, To: 30, Class: "fault"}},
		Marks:  []Mark{{Name: "crash & burn", At: 20, Class: "fault"}, {Name: "late", At: 59, Class: "event"}},
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

func TestATimelineHasItsColoursFromThePage(t *testing.T) {
	svg, err := picture().SVG()
	if err != nil {
		t.Fatal(err)
	}
	text := string(svg)
	wellFormed(t, text)
	for _, unwanted := range []string{"#", "font-family", "rgb(", "<?xml", ">narrow</text>", "crash & burn", "<p99>"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("the picture has %q in it:\n%s", unwanted, text)
		}
	}
	for _, want := range []string{
		`class="series c2"`, "currentColor", ">warmup</text>", "crash &amp; burn", `data-unit="µs"`, ">10 ms</text>", ">30 s</text>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture has no %q in it:\n%s", want, text)
		}
	}
}

// TestNoLineIsDrawnOverWhatWasNotMeasured: a series with a gap is two lines.
func TestNoLineIsDrawnOverWhatWasNotMeasured(t *testing.T) {
	c := picture()
	for _, one := range []struct {
		values []float64
		lines  int
	}{{[]float64{1, 2, 3}, 1}, {[]float64{1, math.NaN(), 3, 4}, 2}, {[]float64{math.NaN()}, 0}} {
		c.Series = []Series{{Name: "x", Values: one.values}}
		svg, err := c.SVG()
		if err != nil {
			t.Fatal(err)
		}
		_, series, _ := strings.Cut(string(svg), `class="series`)
		series, _, _ = strings.Cut(series, `class="mark`)
		if n := strings.Count(series, "<path"); n != one.lines {
			t.Errorf("%v is drawn by %d lines, want %d", one.values, n, one.lines)
		}
	}
}

// TestFiguresStandWhereTheyBelong: one of a second in the middle of it, by the scale of the picture.
func TestFiguresStandWhereTheyBelong(t *testing.T) {
	c := Timeline{Key: "x", Height: 152, From: 0, To: 10, Step: 1, Series: []Series{{Values: []float64{0, math.NaN(), math.NaN(), math.NaN(), 50, 100}}}}
	p := c.axes()
	svg := c.draw(p, box{left, 30, 810, 100}, c.Series[0])
	// 100 of 105 is at 95.24% of the height, and the sixth second at 5.5 of 10.
	if want := "523.5,117.24"; !strings.Contains(svg, want) {
		t.Errorf("no point at %s in %s", want, svg)
	}
}

func TestATimelineWithoutTimeIsAnError(t *testing.T) {
	if _, err := (Timeline{Key: "x"}).SVG(); err == nil || !strings.Contains(err.Error(), "no time to show") {
		t.Errorf("it is %v", err)
	}
}

func TestRowsShowLowerBoundsOpen(t *testing.T) {
	c := Rows{Key: "x", Title: "Latency", Unit: "µs", Log: true, Rows: []Row{
		{Name: "steady <1>", Points: []Point{{Name: "p50 <3 ms>", Colour: 1, Value: 3000}, {Name: "p99 ≥ 9 ms", Colour: 2, Value: 9000, Open: true}}},
		{Name: "phases", Parts: []Part{{Name: "detection", Colour: 3, From: 20, To: 900}}},
	}}
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	text := string(svg)
	wellFormed(t, text)
	for _, want := range []string{"steady &lt;1&gt;", "p50 &lt;3 ms&gt;", "<title>detection</title>", ">10 ms</text>"} {
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
			{Name: "a", Points: []Point{{Value: 75}, {Value: 90, Below: true}}, Range: &Range{From: 70, To: math.Inf(1)}},
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
		c := Timeline{Key: "x", Height: 150, Log: true, Unit: "µs", From: 0, To: 9, Step: 1, Series: []Series{{Values: values}}}
		rows := Rows{Key: "x", Log: true, Unit: "µs", Rows: []Row{{Name: "x"}}}
		for _, v := range values {
			rows.Rows[0].Points = append(rows.Rows[0].Points, Point{Value: math.Max(v, -3)})
		}
		svg, err := c.SVG()
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(append(values, math.NaN())[0]) { // of nothing there are no rows
			rows.Rows = nil
		}
		bars, err := rows.SVG()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(svg), string(bars)} {
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%v is drawn as %s", values, text)
			}
		}
		if empty := len(values) == 0 || math.IsNaN(values[0]); c.Empty() != empty {
			t.Errorf("%v is empty: %v", values, c.Empty())
		}
	}
}
