// Package figures reads single figures off a results document, by their paths in it, with what is known of each. Everything that is shown of a
// run is read through it, so that each shows the same. It computes no figure of its own, and is pure.
package figures

import (
	"slices"
	"strings"

	"replab.dev/internal/figure"
	"replab.dev/internal/results"
	"replab.dev/internal/topology/registry"
)

// Document is a results document whose figures are asked for by their paths.
type Document struct{ results.Results }

// Of returns the document of results.
func Of(r results.Results) *Document { return &Document{r} }

// Topology in words, with the engine and the version of its servers.
func (d *Document) Topology() string {
	text := string(d.Spec.Topology.Type)
	if engine := registry.Engine(d.Spec.Topology); engine != "" {
		text += " of " + string(engine)
	}
	if v := d.Status.Versions; v != nil && v.Server != "" { // some packages' versions are in brackets of their own
		text += " " + strings.NewReplacer("((", "(", "))", ")").Replace(v.Server)
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
	"recorder.commits", "recorder.group", // the status has them with their bounds
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
