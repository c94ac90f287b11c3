// Package chart draws the pictures of reports as parts of an HTML page: their text is text, and their colours are those of the page's style, so
// that they are readable in light and dark. It is pure.
package chart

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// bottom is the room for the scale of a picture of rows.
const bottom = 22

// box is a part of a picture, from its upper left corner.
type box struct{ x, y, w, h float64 }

// LogFoot is the least that a scale of powers shows, in its unit: what is below, also a lag below 0, stands at the foot of the picture.
const LogFoot = 10

// powers are the ends of a scale of powers, which shows one of ten at least.
func powers(least, most float64) (foot, top float64) {
	foot = math.Pow(10, math.Floor(math.Log10(math.Max(least, LogFoot))))
	return foot, math.Max(math.Pow(10, math.Ceil(math.Log10(math.Max(most, foot)))), 10*foot)
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
	c := vgsvg.New(rowsLeftMost+plotWidth, vg.Length(height)) // as wide as any: points outside are not drawn
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
