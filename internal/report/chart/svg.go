package chart

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

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
