package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/finding"
)

// notes on what else differs between two runs that may be compared, and is not known to matter.
func notes(now, base Run) []string {
	all := []string{say(finding.Anecdote)}
	all = append(all, otherDistance(now.Spec, base.Spec)...)
	all = append(all, otherImages(now.Status, base.Status)...)
	durability := now.Spec.Topology.Durability != base.Spec.Topology.Durability
	if durability {
		all = append(all, say(finding.DurabilityDiffers, now.Spec.Topology.Durability, base.Spec.Topology.Durability))
	}
	fields := otherFields(now.Spec, base.Spec)
	differs := finding.FieldDiffersToo
	if sameTopology(now, base) && len(fields) == 1 && !durability {
		differs = finding.FieldDiffers // it is what is compared
	}
	for _, field := range fields {
		all = append(all, say(differs, field))
	}
	if a, b := now.Status.Versions, base.Status.Versions; a != nil && b != nil && a.Server != b.Server && now.Spec.Topology.Engine == base.Spec.Topology.Engine {
		all = append(all, say(finding.OtherThen, "the server", version(a.Server), version(b.Server)))
	}
	if a, b := kernels(now), kernels(base); a != b {
		all = append(all, say(finding.OtherThen, "the kernel", a, b))
	}
	return all
}

func version(v string) string { return cmp.Or(v, "of an unknown version") }

// otherFields are those of the spec that may show in the figures, and in which runs may differ all the same.
func otherFields(a, b v1alpha1.ReplicationExperimentSpec) (names []string) {
	for _, field := range []struct {
		name string
		a, b any
	}{
		{"topology.storage", a.Topology.Storage, b.Topology.Storage},
		{"topology.resources", a.Topology.Resources, b.Topology.Resources},
		{"topology.parameters", a.Topology.Parameters, b.Topology.Parameters},
		{"routing", a.Routing, b.Routing},
		{"pods", a.Pods, b.Pods},
		{"load.runner", a.Load.Runner, b.Load.Runner},
	} {
		if !equality.Semantic.DeepEqual(field.a, field.b) {
			names = append(names, field.name)
		}
	}
	return names
}

// otherDistance says that the two were at different distances.
func otherDistance(a, b v1alpha1.ReplicationExperimentSpec) []string {
	if equality.Semantic.DeepEqual(a.Topology.Links, b.Topology.Links) && equality.Semantic.DeepEqual(a.Topology.Zones, b.Topology.Zones) && a.App.Zone == b.App.Zone {
		return nil
	}
	return []string{say(finding.DistancesDiffer, distances(a), distances(b))}
}

func distances(spec v1alpha1.ReplicationExperimentSpec) string {
	var words []string
	for _, l := range spec.Topology.Links {
		words = append(words, fmt.Sprintf("%s to %s %d ms", l.From, l.To, l.RoundTripMilliseconds))
	}
	if len(words) == 0 {
		return "none"
	}
	if spec.App.Zone != "" {
		words = append(words, "the app in "+spec.App.Zone)
	}
	return strings.Join(words, ", ")
}

// otherImages names what the two were made with: the app, the instruments and k6.
func otherImages(now, base v1alpha1.ReplicationExperimentStatus) (all []string) {
	if a, b := now.Images, base.Images; a != nil && b != nil {
		for _, m := range []struct{ what, now, base string }{{"k6", a.K6, b.K6}, {"app and instruments", a.Replab, b.Replab}} {
			if m.now != m.base {
				all = append(all, say(finding.OtherThen, "the image of "+m.what, m.now, m.base))
			}
		}
	}
	if a, b := now.Versions, base.Versions; a != nil && b != nil && a.K6 != b.K6 {
		all = append(all, say(finding.OtherThen, "k6", version(a.K6), version(b.K6)))
	}
	return all
}

func kernels(r Run) string {
	var all []string
	for _, m := range r.Provenance.Machines {
		if !slices.Contains(all, m.Kernel) {
			all = append(all, m.Kernel)
		}
	}
	slices.Sort(all)
	return strings.Join(all, " and ")
}
