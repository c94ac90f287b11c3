package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"replab.dev/internal/provenance"
	"replab.dev/internal/report/figures"
)

// machines says why the machines of two runs forbid a comparison, "" where they are alike.
func machines(now, base *figures.Document) string {
	for _, one := range []struct {
		whose string
		d     *figures.Document
	}{{"this run", now}, {"the first", base}} {
		if len(one.d.Provenance.Machines) == 0 {
			return "which machines " + one.whose + " was made on is not known" + because(one.d.Provenance.MachinesUnknown)
		}
	}
	if a, b := sizes(now.Provenance.Machines), sizes(base.Provenance.Machines); a != b {
		return fmt.Sprintf("the machines differ: %s here, %s of the first", a, b)
	}
	return ""
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// sizes of machines, whatever their names and in whatever order.
func sizes(all []provenance.Machine) string {
	const quarter = 256 << 20 // what a kernel leaves of the memory differs a little from start to start
	var words []string
	for _, m := range all {
		words = append(words, fmt.Sprintf("%d processors %s with %.2f GiB", m.CPUs, m.Architecture, float64((m.MemoryBytes+quarter/2)/quarter)/4))
	}
	slices.Sort(words)
	return strings.Join(words, " and ")
}

// durability that differs together with the topology cannot be told from it. Where it is all that differs, it is what is compared.
func durability(now, base *figures.Document) string {
	a, b := now.Spec.Topology, base.Spec.Topology
	if a.Durability == b.Durability || sameTopology(now, base) {
		return ""
	}
	return fmt.Sprintf("durability is %s here and %s of the first, and the topology is another too: nobody can tell which of the two a difference is of", a.Durability, b.Durability)
}

// storage that differs together with the topology cannot be told from it either.
func storage(now, base *figures.Document) string {
	if sameTopology(now, base) || equality.Semantic.DeepEqual(now.Spec.Topology.Storage, base.Spec.Topology.Storage) {
		return ""
	}
	return "spec.topology.storage differs, and the topology is another too: nobody can tell which of the two a difference is of"
}

func sameTopology(now, base *figures.Document) bool {
	a, b := now.Spec.Topology, base.Spec.Topology
	return a.Type == b.Type && a.Engine == b.Engine && a.Replicas == b.Replicas
}

// means are the fields of the spec that may show in the figures, and that runs may differ in all the same.
func means(now, base *figures.Document) (all []string) {
	a, b := now.Spec, base.Spec
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
			all = append(all, "spec."+field.name)
		}
	}
	return all
}

// notes on what else differs, and is not known to matter.
func notes(now, base *figures.Document) (all []string) {
	if a, b := now.Spec.Topology.Durability, base.Spec.Topology.Durability; a != b {
		all = append(all, fmt.Sprintf("durability is %s here and %s of the first", a, b))
	}
	fields := means(now, base)
	for _, field := range fields {
		if sameTopology(now, base) && len(fields) == 1 && len(all) == 0 { // it is what is compared
			all = append(all, field+" differs")
			continue
		}
		all = append(all, field+" differs too")
	}
	if a, b := now.Status.Versions, base.Status.Versions; a != nil && b != nil && a.Server != b.Server && now.Spec.Topology.Engine == base.Spec.Topology.Engine {
		all = append(all, fmt.Sprintf("the server was %s here and %s of the first", cmp.Or(a.Server, "of an unknown version"), cmp.Or(b.Server, "of an unknown version")))
	}
	if a, b := kernels(now), kernels(base); a != b {
		all = append(all, fmt.Sprintf("the kernel was %s here and %s of the first", a, b))
	}
	return all
}

func kernels(d *figures.Document) string {
	var all []string
	for _, m := range d.Provenance.Machines {
		if !slices.Contains(all, m.Kernel) {
			all = append(all, m.Kernel)
		}
	}
	slices.Sort(all)
	return strings.Join(all, " and ")
}
