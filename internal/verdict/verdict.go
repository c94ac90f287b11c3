// Package verdict turns evidence into figures and a verdict. It is pure, so that the same evidence always gives the same.
package verdict

import (
	"fmt"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/provenance"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Evidence is all that was collected of a run. What is nil was not to be had.
type Evidence struct {
	Experiment string   // its name
	Nodes      []string // names of their pods, in their order
	Spec       v1alpha1.ReplicationExperimentSpec
	Recorder   *wire.RecorderResults
	Audit      *wire.AuditResult
	// Recount compares nodes that came back after the audit; nil where none did.
	Recount  *wire.AuditResult
	K6       *wire.K6Summary
	Faults   []v1alpha1.FaultStatus
	State    topology.State
	Rest     *v1alpha1.RestStatus
	Baseline *v1alpha1.ReplicationExperiment
	// BaselineProvenance says what the baseline ran on.
	BaselineProvenance provenance.Provenance
	// Proxy are the settings of the proxy, by its own names of them; nil without one. Nothing is decided by them.
	Proxy map[string]string
	// SendsTwice tells that the proxy may have sent a write to a second server after it had lost the first one.
	SendsTwice bool
	Distance   *v1alpha1.DistanceStatus
	// CommitWaits is for how many other nodes a commit waits.
	CommitWaits int
	// StandbysChosen tells that a manager chooses these nodes by name.
	StandbysChosen bool
	// LossesWhileDegraded tells that lost writes are told apart by whether a standby was waited for, and DegradedBy what had none waited for, "" for nothing.
	LossesWhileDegraded bool
	DegradedBy          string
	// ReadsWait tells that reads wait for what other nodes have committed.
	ReadsWait bool
	// Provenance says what it all ran on.
	Provenance provenance.Provenance
	// Notes are what steps found that a reader of the figures should know. Nothing is decided by them.
	Notes []string
	// Missing says, by what is missing, why it could not be collected.
	Missing []string
}

// Judge writes figures, goals, reasons and the verdict into status; the rest of it stays as it is.
//
// Invalid comes first: figures that contradict each other prove nothing. Then Inconclusive: what was not measured cannot be
// judged. Then the goals.
func Judge(e Evidence, status *v1alpha1.ReplicationExperimentStatus) {
	e.Faults = timed(e)
	fill(e, status)
	status.Goals = judgeGoals(e, status)

	var reasons []string
	status.Verdict = v1alpha1.VerdictPassed
	for _, c := range []struct {
		verdict v1alpha1.Verdict
		checks  []check
	}{
		{v1alpha1.VerdictInvalid, contradictions},
		{v1alpha1.VerdictInconclusive, gaps},
		{v1alpha1.VerdictFailed, []check{goalsNotMet}},
	} {
		for _, found := range run(c.checks, e, status) {
			if status.Verdict == v1alpha1.VerdictPassed {
				status.Verdict = c.verdict
			}
			reasons = append(reasons, found)
		}
	}
	if len(reasons) == 0 {
		reasons = append(reasons, passed(status))
	}
	status.Comparison = comparison(e, status) // it depends on the verdict
	reasons = append(reasons, run(remarks, e, status)...)
	status.Reasons = append(reasons, e.Notes...)
}

// check returns a sentence for each thing it found.
type check func(Evidence, *v1alpha1.ReplicationExperimentStatus) []string

func run(checks []check, e Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	var found []string
	for _, c := range checks {
		found = append(found, c(e, status)...)
	}
	return found
}

func passed(status *v1alpha1.ReplicationExperimentStatus) string {
	switch n := len(status.Goals); n {
	case 0:
		return "Everything was measured; the experiment sets no goals."
	case 1:
		return "The goal was met."
	default:
		return fmt.Sprintf("All %d goals were met.", n)
	}
}

func goalsNotMet(_ Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	var found []string
	for _, g := range status.Goals {
		if g.Met == "False" {
			found = append(found, fmt.Sprintf("Goal %s (%s) was not met: measured %s.", g.Metric, g.Limit, measured(g)))
		}
	}
	return found
}
