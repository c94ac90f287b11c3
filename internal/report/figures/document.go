// Package figures reads single figures off a results document, by their paths in it, with what is known of each. Everything that is shown of a
// run is read through it, so that each shows the same. It computes no figure of its own, and is pure.
package figures

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/results"
	"replab.dev/internal/topology/registry"
)

// Document is a results document whose figures are asked for by their paths.
type Document struct{ results.Results }

// Of returns the document of results.
func Of(r results.Results) *Document { return &Document{r} }

// Decided tells of a run whose figures its goals were judged by.
func (d *Document) Decided() bool {
	return d.Status.Verdict == v1alpha1.VerdictPassed || d.Status.Verdict == v1alpha1.VerdictFailed
}

// Topology in words, with the engine and the version of its servers.
func (d *Document) Topology() string {
	text, engine := string(d.Spec.Topology.Type), string(registry.Engine(d.Spec.Topology))
	if engine != "" {
		text += " of " + engine
	}
	if v := d.Status.Versions; v != nil && v.Server != "" { // some packages' versions are in brackets of their own, and some servers' begin with their names
		version := strings.NewReplacer("((", "(", "))", ")").Replace(v.Server)
		text += " " + strings.TrimPrefix(version, engine+" ")
	}
	return text
}

// Main are the paths of the figures that a run is first asked for; those that are absent are listed too, with the reason.
func Main() (paths []string) {
	for _, entry := range figure.All() {
		if entry.Main {
			paths = append(paths, "status."+entry.Path)
		}
	}
	return paths
}

// skipped are parts of the document that are no figures, or say again what others say, or so many of one kind that they belong to the timeline.
var skipped = []string{
	"status.conditions", "status.observedGeneration", "status.progress", "status.distance.clients", "status.goals", "status.bounds",
	"recorder.timeline", "recorder.acknowledgements", "recorder.staleUsers", "recorder.availability.silences", "recorder.settings",
	"recorder.load.histogram", "recorder.lag.histogram", "recorder.commits", "recorder.group", // the status has them with their bounds
}

// All are the figures of the status and of what the recorder measured, in the order of their paths, and those of Main that are absent.
func (d *Document) All() []figure.Figure {
	paths := slices.DeleteFunc(figure.Paths(d.Results, skipped...), func(path string) bool {
		return !strings.HasPrefix(path, "status.") && !strings.HasPrefix(path, "recorder.")
	})
	for _, path := range Main() {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	figures := make([]figure.Figure, 0, len(paths))
	for _, path := range paths {
		figures = append(figures, d.Figure(path))
	}
	return figures
}

// NoSuch begins what a figure says of which no document can have any: its path is misspelt.
const NoSuch = "no document has such a figure: "

func isField(path string) bool { return figure.IsField(reflect.TypeFor[results.Results](), path) }

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
	case !isField(path):
		f.Because = NoSuch + path
	default:
		f.Because = d.whyAbsent(path)
	}
	return f
}

// ofRequests are paths to latencies that the recorder measured of a stage's requests.
var ofRequests = regexp.MustCompile(`^recorder\.(load|stages\[[^]]*])\..*(latency|failedLatency)\.`)

// recorded is a figure of the recorder, which marks the percentiles that are lower bounds, and has the latencies less its pauses: no true one is
// less. A doubt about the latency of a stage is one about its operations.
func (d *Document) recorded(path string) figure.Figure {
	f := figure.Figure{Path: path, Value: figure.At(d.Results, path)}
	if f.Value == nil {
		return f
	}
	f.AtLeast, f.AtMost = f.Value, f.Value
	end := strings.LastIndexByte(path, '.')
	if least := figure.At(d.Results, path[:end]+".unpaused."+path[end+1:]); least != nil && *least < *f.Value {
		f.AtLeast, f.Because = least, "the recorder was paused within requests"
	}
	if slices.Contains(figure.Strings(d.Results, path[:end]+".lowerBounds"), path[end+1:]) {
		f.AtMost, f.Because = nil, "the recorder marked it as a lower bound"
	}
	if of := ofRequests.FindStringSubmatch(path); of != nil {
		stage := strings.Replace(of[1], "stages", "load.stages", 1)
		if p99 := figure.Read(&d.Status, stage+".latency.p99Microseconds"); p99.Doubtful() {
			f.AtLeast, f.AtMost, f.Because = nil, nil, p99.Because
		}
	}
	return f
}

const seeNotes = "reasons and notes say why"

// whyAbsent is what the catalogue says of a figure that the run says nothing of. Of a document without a load nothing is known, and that a latency
// is absent since no request succeeded is told by the requests alone.
func (d *Document) whyAbsent(path string) string {
	if d.Status.Load == nil {
		return seeNotes
	}
	if of, _, ok := strings.Cut(path, ".latency."); ok {
		requests, failures := figure.At(d.Results, of+".requests"), figure.At(d.Results, of+".failures")
		switch {
		case requests == nil || failures == nil:
			return seeNotes
		case *requests > *failures:
			return "the document does not have it"
		}
	}
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

// Limit of a goal, with the unit of its figure: "max 15 s".
func Limit(g v1alpha1.GoalStatus) string {
	entry, known := figure.Named(string(g.Metric))
	if !known {
		return g.Limit
	}
	limits := strings.Split(g.Limit, ", ")
	for i, limit := range limits {
		if end, number, ok := strings.Cut(limit, " "); ok {
			if n, err := strconv.ParseInt(number, 10, 64); err == nil { // else a percentage of the baseline
				limits[i] = end + " " + figure.Exact(entry.Path, n*max(1, entry.Scale)).Text()
			}
		}
	}
	return strings.Join(limits, ", ")
}
