package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
)

// comparison states the differences from the baseline, when they are due to what is under test alone.
func comparison(e Evidence, s *v1alpha1.ReplicationExperimentStatus) *v1alpha1.ComparisonStatus {
	if e.Spec.Baseline == nil {
		return nil
	}
	c := &v1alpha1.ComparisonStatus{Baseline: e.Spec.Baseline.Name, Note: incomparable(e, s)}
	if c.Note != "" {
		return c
	}
	now, before := s.Load, e.Baseline.Status.Load
	loads := []whose{{"here", now}, {"of the baseline", before}}
	c.Note = "one run each: an anecdote, without an interval" + otherDistance(e) + otherMeans(s, &e.Baseline.Status)
	c.RequestsPerSecondPercent = percent(now.RequestsPerSecond, before.RequestsPerSecond)
	for _, l := range loads {
		if cause := WhyNoRate(l.load.StageFigures); cause != "" {
			c.Note += fmt.Sprintf("; the throughput %s is not compared, since %s", l.who, cause)
			c.RequestsPerSecondPercent = nil
			break
		}
	}
	if now.Latency == nil || before.Latency == nil {
		return c
	}
	for _, l := range loads {
		if cause := contradicted(e.Spec, l.load); cause != "" { // stages are the same in both
			c.Note += fmt.Sprintf("; the p99 %s cannot be relied on, since %s", l.who, cause)
			return c
		}
		if cause := whyLower(v1alpha1.P99, l.load.StageFigures); cause != "" {
			c.Note += fmt.Sprintf("; the p99 %s is a lower bound, since %s", l.who, cause)
			return c
		}
	}
	c.P99Percent = percent(&now.Latency.P99Microseconds, &before.Latency.P99Microseconds)
	return c
}

// whose load it is.
type whose struct {
	who  string
	load *v1alpha1.LoadStatus
}

// Compare states the differences of a finished experiment from another one, as it would state those from its baseline. A reason says why
// there are none to state.
func Compare(now, before *v1alpha1.ReplicationExperiment) (c *v1alpha1.ComparisonStatus, reason string) {
	spec := now.Spec
	spec.Baseline = &v1alpha1.BaselineReference{Name: before.Name}
	e := Evidence{Spec: spec, Baseline: before}
	return comparison(e, &now.Status), incomparable(e, &now.Status)
}

// incomparable says why a comparison would mean nothing, "" when it may be made.
func incomparable(e Evidence, s *v1alpha1.ReplicationExperimentStatus) string {
	if e.Baseline == nil || e.Baseline.Status.Load == nil || e.Baseline.Status.Load.RequestsPerSecond == nil {
		return "the baseline has no figures: run it first, in this namespace"
	}
	if v := e.Baseline.Status.Verdict; v != v1alpha1.VerdictPassed && v != v1alpha1.VerdictFailed {
		return "the baseline's verdict is " + string(v) + ": its figures cannot be relied on"
	}
	if scripts := e.Spec.Load.Script != nil && e.Baseline.Spec.Load.Script != nil; scripts && (s.ScriptHash == "" || e.Baseline.Status.ScriptHash == "") {
		return "what was in the script of one of the two is not known"
	} else if scripts && s.ScriptHash != e.Baseline.Status.ScriptHash {
		return "the baseline was measured otherwise: what is in the script of spec.load.script must be the same in both"
	}
	if fields := differing(e.Spec, e.Baseline.Spec); len(fields) > 0 {
		return "the baseline was measured otherwise: spec." + strings.Join(fields, " and spec.") + " must be the same in both"
	}
	if s.Load == nil || s.Load.RequestsPerSecond == nil {
		return "this experiment has no figures of its load"
	}
	return ""
}

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

// placeless are stages without their distance, which is part of what is compared.
func placeless(stages []v1alpha1.Stage) []v1alpha1.Stage {
	others := slices.Clone(stages)
	for i := range others {
		others[i].Distance = ""
	}
	return others
}

// placelessApp is an app without its place: distance is part of what is compared.
func placelessApp(a v1alpha1.AppSpec) v1alpha1.AppSpec {
	a.Zone = ""
	return a
}

// otherDistance says that the two were at different distances, which a reader might take for a difference of something else.
func otherDistance(e Evidence) string {
	a, b := e.Spec, e.Baseline.Spec
	if equality.Semantic.DeepEqual(a.Topology.Links, b.Topology.Links) && equality.Semantic.DeepEqual(a.Topology.Zones, b.Topology.Zones) && a.App.Zone == b.App.Zone {
		return ""
	}
	return fmt.Sprintf("; the distances differ: %s here, %s in the baseline", distances(a), distances(b))
}

// distances of a spec in words.
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

// settings of a script without where it lies: its content is compared by its hash.
func settings(s *v1alpha1.ScriptSource) *v1alpha1.ScriptSource {
	if s == nil {
		return nil
	}
	other := *s
	other.ConfigMapKeyRef = v1alpha1.ScriptKey{}
	return &other
}

// otherMeans names what the two runs were made with that may show in the figures, and is not what is compared.
func otherMeans(now, before *v1alpha1.ReplicationExperimentStatus) string {
	var words string
	if a, b := now.Images, before.Images; a != nil && b != nil {
		for _, m := range []struct{ what, now, before string }{{"k6", a.K6, b.K6}, {"app and instruments", a.Replab, b.Replab}} {
			if m.now != m.before {
				words += fmt.Sprintf("; the image of %s was %s here and %s in the baseline", m.what, m.now, m.before)
			}
		}
	}
	if a, b := now.Versions, before.Versions; a != nil && b != nil && a.K6 != b.K6 {
		words += fmt.Sprintf("; k6 was %s here and %s in the baseline", cmp.Or(a.K6, "of an unknown version"), cmp.Or(b.K6, "of an unknown version"))
	}
	return words
}

// percent by which now differs from before.
func percent(now, before *int64) *int64 {
	if now == nil || before == nil || *before == 0 {
		return nil
	}
	return ptr.To(int64(math.Round(float64(*now-*before) * 100 / float64(*before))))
}

// notCompared says among the reasons too why a comparison that was asked for is not there.
func notCompared(_ Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	c := status.Comparison
	if c == nil || c.RequestsPerSecondPercent != nil {
		return nil
	}
	if c.P99Percent != nil {
		return []string{fmt.Sprintf("The throughput is not compared with %s: %s.", c.Baseline, c.Note)}
	}
	return []string{fmt.Sprintf("Not compared with %s: %s.", c.Baseline, c.Note)}
}
