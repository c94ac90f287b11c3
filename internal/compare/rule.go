// Package compare holds the one rule of which runs may be compared, and the statistics of comparisons. An experiment's own comparison with its
// baseline, reports on several runs, and suites all go by it. It is pure.
package compare

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/provenance"
	"replab.dev/internal/verdict/finding"
)

// Run is one run to compare: what was asked, what came of it, and what it ran on. A run that is not there is the zero value.
type Run struct {
	Spec       v1alpha1.ReplicationExperimentSpec
	Status     v1alpha1.ReplicationExperimentStatus
	Provenance provenance.Provenance
}

func say(code finding.Code, params ...any) string { return finding.Of(code, params...).String() }

// Refusal says why a difference between two runs would mean nothing, "" where it may be stated.
func Refusal(now, base Run) string {
	if why := Unlike(now, base); why != "" {
		return why
	}
	return unreliable("this run", now)
}

// Unlike says why a run cannot be compared with its baseline, whatever the run's own verdict.
func Unlike(now, base Run) string {
	if _, ok := Throughput(&base.Status); !ok {
		return say(finding.BaselineEmpty)
	}
	if why := unreliable("the baseline", base); why != "" {
		return why
	}
	if why := otherScript(now, base); why != "" {
		return why
	}
	if fields := differing(now.Spec, base.Spec); len(fields) > 0 {
		return say(finding.BaselineOtherwise, strings.Join(fields, " and spec."))
	}
	if _, ok := Throughput(&now.Status); !ok {
		return say(finding.LoadEmpty)
	}
	if rate, _ := Throughput(&base.Status); rate.Low == 0 {
		return say(finding.BaselineFailed)
	}
	causes := []string{otherMachines(now, base), otherDurability(now, base), otherStorage(now, base)}
	return strings.Join(slices.DeleteFunc(causes, func(s string) bool { return s == "" }), "; ")
}

// Reliable tells whether a run's figures enter comparisons and summaries.
func Reliable(v v1alpha1.Verdict) bool {
	return v == v1alpha1.VerdictPassed || v == v1alpha1.VerdictFailed
}

func unreliable(whose string, r Run) string {
	if Reliable(r.Status.Verdict) {
		return ""
	}
	return say(finding.RunUnreliable, whose, r.Status.Verdict)
}

// otherScript compares scripts by their hashes, wherever they lie.
func otherScript(now, base Run) string {
	a, b := now.Status.ScriptHash, base.Status.ScriptHash
	switch {
	case now.Spec.Load.Script == nil || base.Spec.Load.Script == nil:
		return ""
	case a == "" || b == "":
		return say(finding.ScriptUnknown)
	case a != b:
		return say(finding.ScriptsDiffer)
	}
	return ""
}

// Same are the fields of the spec that variants of a suite should have in common. A suite compares them whole, with the app's zone and the
// stages' distance. Comparisons of runs go by differing, which leaves these out.
var Same = []string{"load", "dataset", "app", "probes", "faults"}

// differing names the fields of two specs that would show in the figures without being what is compared.
func differing(a, b v1alpha1.ReplicationExperimentSpec) []string {
	var names []string
	for _, field := range []struct {
		name string
		a, b any
	}{
		{"load.stages", placeless(a.Load.Stages), placeless(b.Load.Stages)},
		{"load.mix", a.Load.Mix, b.Load.Mix},
		{"load.script", settings(a.Load.Script), settings(b.Load.Script)},
		{"load.parallelism", a.Load.Parallelism, b.Load.Parallelism},
		{"load.image", a.Load.Image, b.Load.Image},
		{"dataset", a.Dataset, b.Dataset},
		{"app", placelessApp(a.App), placelessApp(b.App)},
		{"probes", a.Probes, b.Probes},
		{"faults", a.Faults, b.Faults},
	} {
		if !equality.Semantic.DeepEqual(field.a, field.b) {
			names = append(names, field.name)
		}
	}
	return names
}

// placeless are stages without their distance.
func placeless(stages []v1alpha1.Stage) []v1alpha1.Stage {
	others := slices.Clone(stages)
	for i := range others {
		others[i].Distance = ""
	}
	return others
}

// placelessApp is an app without its zone.
func placelessApp(a v1alpha1.AppSpec) v1alpha1.AppSpec {
	a.Zone = ""
	return a
}

// settings of a script without where it lies.
func settings(s *v1alpha1.ScriptSource) *v1alpha1.ScriptSource {
	if s == nil {
		return nil
	}
	other := *s
	other.ConfigMapKeyRef = v1alpha1.ScriptKey{}
	return &other
}

// otherMachines says why the machines of two runs forbid a comparison, "" where they are alike.
func otherMachines(now, base Run) string {
	for _, one := range []struct {
		whose string
		p     provenance.Provenance
	}{{"this run", now.Provenance}, {"the baseline", base.Provenance}} {
		if len(one.p.Machines) > 0 {
			continue
		}
		if one.p.MachinesUnknown != "" {
			return say(finding.MachinesUnknownBecause, one.whose, one.p.MachinesUnknown)
		}
		return say(finding.MachinesUnknown, one.whose)
	}
	if a, b := sizes(now.Provenance.Machines), sizes(base.Provenance.Machines); a != b {
		return say(finding.MachinesDiffer, a, b)
	}
	return ""
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

// otherDurability refuses two differences at once. Where durability alone differs, it is what is compared.
func otherDurability(now, base Run) string {
	a, b := now.Spec.Topology, base.Spec.Topology
	if a.Durability == b.Durability || sameTopology(now, base) {
		return ""
	}
	return say(finding.DurabilityDiffersToo, a.Durability, b.Durability)
}

// otherStorage refuses two differences at once, too.
func otherStorage(now, base Run) string {
	if sameTopology(now, base) || equality.Semantic.DeepEqual(now.Spec.Topology.Storage, base.Spec.Topology.Storage) {
		return ""
	}
	return say(finding.StorageDiffersToo)
}

func sameTopology(now, base Run) bool {
	a, b := now.Spec.Topology, base.Spec.Topology
	return a.Type == b.Type && a.Engine == b.Engine && a.Nodes == b.Nodes
}
