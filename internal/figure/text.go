package figure

import (
	"math"
	"strconv"
	"strings"
)

// Text shows a figure to people: with its unit, as the bound that it is, and with what contradicts it.
func (f Figure) Text() string {
	if f.Doubtful() {
		return unitOf(f.Path).text(*f.Value, math.Round) + " (" + f.Because + ")"
	}
	return f.words("≥ ", " to ", "not measured")
}

// Short is Text for a cell of a list: without blanks, with a question mark for what contradicts it.
func (f Figure) Short() string {
	text := strings.ReplaceAll(f.words("≥", "–", "-"), " ", "")
	if f.Doubtful() {
		text += "?"
	}
	return text
}

// Brief is Text with the digits that count at a glance: 83 ms for 83.26 ms, 5.2 ms for 5.23 ms. A bound stays one, and what is not 0 does not become it.
// A question mark stands for what contradicts the figure.
func (f Figure) Brief() string {
	step := unitOf(f.Path).glance
	switch {
	case f.Value == nil:
		return f.Text()
	case f.Doubtful(): // its reason has no room here
		return Exact(f.Path, *f.Value).Brief() + " ?"
	case step == nil:
		return f.Text()
	}
	rounded := func(v *int64, round func(float64) float64) *int64 {
		if v == nil {
			return nil
		}
		s := step(max(*v, -*v))
		to := int64(round(float64(*v)/float64(s))) * s
		return &to
	}
	b := Figure{Path: f.Path, Because: f.Because, Value: rounded(f.Value, math.Round)}
	if *b.Value == 0 {
		return f.Text()
	}
	if f.Known() {
		b.AtLeast, b.AtMost = b.Value, b.Value
	} else {
		b.AtLeast, b.AtMost = rounded(f.AtLeast, math.Floor), rounded(f.AtMost, math.Ceil)
	}
	return b.Text()
}

func (f Figure) words(atLeast, to, absent string) string {
	unit := unitOf(f.Path)
	switch {
	case f.Value == nil:
		return absent
	case f.Doubtful(), f.Known():
		return unit.text(*f.Value, math.Round)
	case f.AtLeast == nil:
		return "≤ " + unit.text(*f.AtMost, math.Ceil)
	case f.AtMost == nil:
		return atLeast + unit.text(*f.AtLeast, math.Floor)
	}
	return unit.text(*f.AtLeast, math.Floor) + to + unit.text(*f.AtMost, math.Ceil)
}

// Decimal shows a number of a field, in the field's unit, that need not be whole. It is rounded as given, so that a bound stays one.
func Decimal(path string, v float64, round func(float64) float64) string {
	unit := unitOf(path)
	if unit.suffix == "" && v != math.Trunc(v) && math.Abs(v) < 1000 {
		return fourDigits(v, round)
	}
	return unit.text(int64(round(v)), round)
}

// Known tells of an exact figure, and of one with a unit whose bounds differ by a twentieth at most: people read its value.
func (f Figure) Known() bool {
	narrow := f.AtLeast != nil && f.AtMost != nil && (*f.AtMost-*f.AtLeast)*20 <= *f.AtMost
	return f.Value != nil && (f.IsExact() || unitOf(f.Path).suffix != "" && narrow)
}

// Bound says in a word what the value is: "" of an exact figure, "at least", "at most", "between", or "contradicted".
func (f Figure) Bound() string {
	switch {
	case f.Value == nil, f.IsExact():
		return ""
	case f.Doubtful():
		return "contradicted"
	case f.AtMost == nil:
		return "at least"
	case f.AtLeast == nil:
		return "at most"
	}
	return "between"
}

// Unit of the figure as its field has it, "" of one that counts something.
func (f Figure) Unit() string { return unitOf(f.Path).symbol }

// unit of a figure, as the end of its name says.
type unit struct {
	suffix, symbol string
	text           func(int64, func(float64) float64) string
	glance         func(int64) int64 // what Brief rounds a value of that size to; nil: to nothing
}

func unitOf(path string) unit {
	name := strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])
	for _, u := range units {
		if strings.HasSuffix(name, u.suffix) {
			return u
		}
	}
	return unit{text: func(v int64, _ func(float64) float64) string { return Grouped(v) }}
}

// units by the ends of names, the longer ones first.
var units = []unit{
	{"millirequestspersecond", "mreq/s", thousandths("/s"), nil},
	{"requestspersecondmilli", "mreq/s", rate, tenths(1000)},
	{"requestspersecond", "req/s", plain("/s"), nil},
	{"microseconds", "µs", duration(1), tenths(1, 1000, 1_000_000)},
	{"milliseconds", "ms", duration(1000), tenths(1, 1000)},
	{"seconds", "s", plain(" s"), nil},
	{"permille", "‰", permille, nil},
	{"percent", "%", signed("%"), nil},
	{"bytespersecond", "B/s", func(v int64, round func(float64) float64) string { return bytesText(v, round) + "/s" }, nil},
	{"bytes", "B", bytesText, nil},
	{"millicores", "mCPU", thousandths(" CPU"), nil},
	{"thousandths", "‰", thousandths(""), nil},
}

func plain(symbol string) func(int64, func(float64) float64) string {
	return func(v int64, _ func(float64) float64) string { return Grouped(v) + symbol }
}

// tenths are the steps of a value shown in the largest of some sizes that it reaches: a tenth of it below 10, the whole of it above.
func tenths(sizes ...int64) func(int64) int64 {
	return func(v int64) int64 {
		size := sizes[0]
		for _, s := range sizes {
			if v >= s {
				size = s
			}
		}
		if v < 10*size {
			size /= 10
		}
		return max(size, 1)
	}
}

// signed is of differences: those of comparisons.
func signed(symbol string) func(int64, func(float64) float64) string {
	return func(v int64, _ func(float64) float64) string {
		if v < 0 {
			return Grouped(v) + symbol
		}
		return "+" + Grouped(v) + symbol
	}
}

func thousandths(symbol string) func(int64, func(float64) float64) string {
	return func(v int64, _ func(float64) float64) string {
		return strconv.FormatFloat(float64(v)/1000, 'f', 3, 64) + symbol
	}
}

// rate shows thousandths of a request per second with the digits that count.
func rate(v int64, round func(float64) float64) string {
	perSecond := float64(v) / 1000
	if perSecond >= 1000 {
		return Grouped(int64(round(perSecond))) + "/s"
	}
	return fourDigits(perSecond, round) + "/s"
}

// Percents are thousandths in percent with their bounds: "90.0% to 99.0%". They are "" without a value.
func (f Figure) Percents() string {
	percent := func(v int64) string { return permille(v, nil) }
	switch {
	case f.Value == nil:
		return ""
	case f.AtLeast == nil || f.AtMost == nil || *f.AtLeast == *f.AtMost:
		return percent(*f.Value)
	}
	return percent(*f.AtLeast) + " to " + percent(*f.AtMost)
}

func permille(v int64, _ func(float64) float64) string {
	return strconv.FormatFloat(float64(v)/10, 'f', 1, 64) + "%"
}

// duration shows a time of so many microseconds a unit with four digits that count: rounded as given, so that a bound stays one.
func duration(microseconds int64) func(int64, func(float64) float64) string {
	return func(v int64, round func(float64) float64) string {
		if v == 0 && microseconds == 1000 {
			return "0 ms"
		}
		us := v * microseconds
		switch abs := max(us, -us); {
		case abs < 1000:
			return Grouped(us) + " µs"
		case abs < 1_000_000:
			return fourDigits(float64(us)/1000, round) + " ms"
		case abs < 600_000_000:
			return fourDigits(float64(us)/1_000_000, round) + " s"
		}
		return Grouped(int64(round(float64(us)/1_000_000))) + " s"
	}
}

func bytesText(v int64, round func(float64) float64) string {
	names := []string{" B", " KiB", " MiB", " GiB", " TiB"}
	scaled, i := float64(v), 0
	for ; scaled >= 1024 && i < len(names)-1; i++ {
		scaled /= 1024
	}
	if i == 0 {
		return Grouped(v) + names[0]
	}
	return fourDigits(scaled, round) + names[i]
}

func fourDigits(v float64, round func(float64) float64) string {
	digits := max(0, 3-int(math.Floor(math.Log10(math.Max(math.Abs(v), 1)))))
	scale := math.Pow10(digits)
	text := strconv.FormatFloat(round(math.Round(v*scale*1e6)/1e6)/scale, 'f', digits, 64) // first without the error of the product
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Grouped writes a number with its thousands apart.
func Grouped(v int64) string {
	text := strconv.FormatInt(v, 10)
	sign := ""
	if v < 0 {
		sign, text = "−", text[1:]
	}
	var b strings.Builder
	for i, r := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return sign + b.String()
}
