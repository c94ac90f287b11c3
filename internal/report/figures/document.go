// Package figures reads single figures off a results document, by their paths in it, with what is known of each. Everything that is shown of a
// run is read through it, so that each shows the same. It computes no figure of its own, and is pure.
package figures

import (
	"strings"

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
