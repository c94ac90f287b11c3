// Package remedy says what to do next about an experiment or a suite. It is pure.
package remedy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/finding"
)

const (
	// most lines that are worth reading at once.
	most = 3
	// long is how long a step may wait before the remedies mention it.
	long = 5 * time.Minute
)

// Experiment returns at most three lines. There are none if all is well.
func Experiment(x *v1alpha1.ReplicationExperiment, now time.Time) []string {
	var lines []string
	switch x.Status.Verdict {
	case "":
		lines = waiting(x, now)
	case v1alpha1.VerdictPassed:
		lines = []string{ending[halted(x).Reason]}
	case v1alpha1.VerdictFailed:
		for _, g := range x.Status.Goals {
			if g.Met == metav1.ConditionFalse {
				kind, _, _ := strings.Cut(g.Limit, " ")
				lines = append(lines, cmp.Or(missed[g.Metric+v1alpha1.Metric(" "+kind)], whileDegraded(x, g.Metric), missed[g.Metric]))
			}
		}
		lines = append(lines, ending[halted(x).Reason])
	default:
		lines = unique(append([]string{ending[halted(x).Reason]}, of(x.Status.Reasons)...), most-1)
		if halted(x).Reason != v1alpha1.ReasonAborted {
			lines = append(lines, again)
		}
	}
	return named(unique(lines, most), x.Name, x.Namespace)
}

// whileDegraded is what to do about writes that were lost while commits waited for no replica.
func whileDegraded(x *v1alpha1.ReplicationExperiment, missed v1alpha1.Metric) string {
	r, p := x.Status.Replication, x.Spec.Topology.Patroni
	if missed != "lostWrites" || r == nil || ptr.Deref(r.DegradedCommits, 0) == 0 || p != nil && p.Strict {
		return ""
	}
	return degraded[x.Spec.Topology.Type]
}

// Suite returns at most three lines. There are none if all is well.
func Suite(s *v1alpha1.ReplicationSuite) []string {
	complete := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionComplete)
	var lines []string
	switch s.Status.Verdict {
	case v1alpha1.VerdictPassed:
		return nil
	case "":
		if complete != nil {
			lines = append(lines, suiteWaits[complete.Reason])
		}
	case v1alpha1.VerdictFailed:
		lines = append(lines, "A missed expectation is a finding. See each trial's figures in `kubectl replab report suite/NAME --file report.html`: docs/concepts/runs-and-suites.md#expectations.")
	default:
		for _, reason := range s.Status.Reasons {
			code, _, _ := strings.Cut(reason, ":")
			lines = append(lines, ending[code])
		}
		if run := unusable(s); run != nil {
			lines = append(lines, fmt.Sprintf("See why trial %s is %s: `kubectl replab describe experiment/%s -n %s`.", run.Name, run.Verdict, run.Name, s.Namespace))
		}
		lines = append(lines, "See docs/concepts/verdicts.md#verdicts-of-a-suite.")
	}
	return named(unique(lines, most), s.Name, s.Namespace)
}

// unusable is the last trial without usable figures, nil where there is none.
func unusable(s *v1alpha1.ReplicationSuite) *v1alpha1.TrialRun {
	for i := range slices.Backward(s.Status.Runs) {
		if run := &s.Status.Runs[i]; run.Verdict == v1alpha1.VerdictInvalid || run.Verdict == v1alpha1.VerdictInconclusive {
			return run
		}
	}
	return nil
}

// halted is the first condition of a step that is not True; empty where all are.
func halted(x *v1alpha1.ReplicationExperiment) metav1.Condition {
	for _, step := range v1alpha1.Steps {
		if c := meta.FindStatusCondition(x.Status.Conditions, step); c != nil && c.Status != metav1.ConditionTrue {
			return *c
		}
	}
	return metav1.Condition{}
}

func waiting(x *v1alpha1.ReplicationExperiment, now time.Time) []string {
	c := halted(x)
	since := now.Sub(c.LastTransitionTime.Time)
	switch {
	case x.Status.Phase == "" && now.Sub(x.CreationTimestamp.Time) > time.Minute:
		return []string{"The operator has not seen it. See `kubectl replab doctor` and docs/how-to/debug.md#the-experiment-is-not-accepted."}
	case waits[c.Reason] != "":
		return []string{waits[c.Reason]}
	case c.Reason != "" && since > long && !slices.Contains(slow, c.Reason):
		return []string{fmt.Sprintf("%s has waited for %s. See `kubectl replab logs NAME` and docs/reference/conditions.md#reasons.", c.Type, since.Truncate(time.Minute))}
	}
	return nil
}

func of(reasons []string) (lines []string) {
	for _, reason := range reasons {
		lines = append(lines, finding.Remedy(reason))
	}
	return lines
}

// unique drops empty lines and repeated ones, and keeps so many.
func unique(lines []string, most int) (kept []string) {
	for _, line := range lines {
		if line != "" && len(kept) < most && !slices.Contains(kept, line) {
			kept = append(kept, line)
		}
	}
	return kept
}

// named puts the object's namespace in, and its name.
func named(lines []string, name, namespace string) []string {
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "NAMESPACE", namespace)
		lines[i] = strings.ReplaceAll(lines[i], "NAME", name+" -n "+namespace)
	}
	return lines
}
