package figures

import (
	"reflect"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/results"
)

// NoSuch begins what a figure says of which no document can have any: its path is misspelt.
const NoSuch = "no document has such a figure: "

// Figure returns what stands at a path of the document, which begins with status or recorder.
func (d *Document) Figure(path string) figure.Figure {
	var f figure.Figure
	if of, ok := strings.CutPrefix(path, "status."); ok {
		f = figure.Read(&d.Status, of)
	} else {
		f = d.recorded(path)
	}
	f.Path = path
	switch {
	case f.Value != nil || f.Because != "":
	case !figure.IsField(reflect.TypeFor[results.Results](), path):
		f.Because = NoSuch + path
	default:
		f.Because = whyAbsent(path)
	}
	return f
}

// recorded is what the recorder counted, of which it marks lower bounds. What is wrong with the latency of a stage is so with that of its parts.
func (d *Document) recorded(path string) figure.Figure {
	f := figure.Figure{Path: path, Value: figure.At(d.Results, path)}
	if f.Value == nil {
		return f
	}
	f.AtLeast, f.AtMost = f.Value, f.Value
	parent, name := path[:strings.LastIndexByte(path, '.')], path[strings.LastIndexByte(path, '.')+1:]
	if slices.Contains(figure.Strings(d.Results, parent+".lowerBounds"), name) {
		f.AtMost, f.Because = nil, "the recorder marked it as a lower bound"
	}
	if most := figure.At(d.Results, path+"AtMost"); most != nil {
		f.AtMost, f.Because = most, "not all of it was sampled"
	}
	if unsampled := figure.At(d.Results, parent+".uncountedMicroseconds"); unsampled != nil && *unsampled > 0 && slices.Contains(sampled, name) {
		f.AtMost, f.Because = nil, "the server was not sampled for a part of the time"
	}
	stage := "load."
	if of := figure.Segments(path); of[1] == "stages" && len(of) > 2 {
		stage = "load.stages[" + of[2] + "]."
	}
	p99 := figure.Read(&d.Status, stage+"latency.p99Microseconds")
	if p99.Doubtful() && isLatency(path) {
		f.AtLeast, f.AtMost, f.Because = nil, nil, p99.Because
	}
	return f
}

// sampled are counters of servers: what one counted after its last sample is not known.
var sampled = []string{"certificationFailures", "forcedAborts", "deadlocks", "degradedCommits"}

// isLatency tells of figures that the recorder measured of requests.
func isLatency(path string) bool {
	of := figure.Segments(path)
	return of[0] == "recorder" && (of[1] == "stages" || of[1] == "load") && (slices.Contains(of, "latency") || slices.Contains(of, "failedLatency"))
}

const seeNotes = "reasons and notes say why"

// whyAbsent is what the catalogue says of a figure that the run says nothing of.
func whyAbsent(path string) string {
	for _, entry := range figure.All() {
		if entry.Absent != "" && entry.Matches(strings.TrimPrefix(path, "status.")) {
			return entry.Absent
		}
	}
	return seeNotes
}

// Goal is what was measured for a goal, as exactly as it is judged.
func (d *Document) Goal(metric v1alpha1.Metric) figure.Figure {
	entry, known := figure.Named(string(metric))
	if !known {
		return figure.Figure{Because: NoSuch + string(metric)}
	}
	for _, g := range d.Status.Goals {
		if g.Metric == metric && g.Measured == nil { // it is a part of nothing
			return figure.Figure{Path: "status." + entry.Path, Because: seeNotes}
		}
	}
	return d.Figure("status." + entry.Path)
}
