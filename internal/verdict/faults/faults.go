// Package faults judges whether faults came as planned, and whether servers ended without one. It is pure.
package faults

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// Findings of the faults.
func Findings(e evidence.Run, _ *evidence.Status) []finding.Finding {
	return slices.Concat(faultUnconfirmed(e), podsReplaced(e), serversEnded(e), managersEnded(e))
}

const (
	// mostLate is how long after its time, or before it, a fault still is the fault that was planned.
	mostLate = 10 * time.Second
	// hardlyLate is how late a fault may be without a note: being later changes how long two faults stand together.
	hardlyLate = time.Second
	// clockSlack is how long before its time a fault may come: the operator keeps it by a clock of its own.
	clockSlack = 100 * time.Millisecond
)

func faultUnconfirmed(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for _, f := range e.Faults {
		switch late, early := lateness(f), earliness(f); {
		case f.State == v1alpha1.FaultEndedEarly:
			found = append(found, finding.Of(finding.FaultEndedEarly, f.Name, f.Pod, f.Evidence))
		case f.State == v1alpha1.FaultEndedLate:
			found = append(found, finding.Of(finding.FaultEndedLate, f.Name, f.Pod, f.Evidence))
		case f.Leak != "":
			found = append(found, finding.Of(finding.FaultLeaked, f.Name, f.Pod, f.Leak))
		case f.Confirmed != metav1.ConditionTrue:
			found = append(found, finding.Of(finding.FaultUnconfirmed, f.Name, f.Pod, f.Evidence))
		case late > mostLate:
			found = append(found, finding.Of(finding.FaultLate, f.Name, f.Pod, late.Round(time.Second)))
		case early > mostLate:
			found = append(found, finding.Of(finding.FaultEarly, f.Name, f.Pod, early.Round(time.Second)))
		case early > clockSlack:
			found = append(found, inAnotherStage(e.Spec, f, -early)...)
		default:
			other := inAnotherStage(e.Spec, f, late)
			if len(other) == 0 && late > hardlyLate {
				other = append(other, finding.Of(finding.FaultLateInStage, f.Name, f.Pod, late.Milliseconds()))
			}
			found = append(found, other...)
		}
	}
	return found
}

// lateness is how long after its time a fault was injected at least, by the recorder's clock where the fault's was measured.
// One that seems to be early has a clock that is behind: 0.
func lateness(f v1alpha1.FaultStatus) time.Duration {
	if f.InjectedTime == nil || f.PlannedTime.IsZero() {
		return 0
	}
	at := f.InjectedTime.Time
	if m, ok := evidence.Injected(f); ok {
		at = m.Earliest
	}
	return max(at.Sub(f.PlannedTime.Time), 0)
}

// earliness is how long before its time a fault was injected at least: the operator's clock is ahead of the recorder's then. It is 0
// where the fault's own clock was not measured.
func earliness(f v1alpha1.FaultStatus) time.Duration {
	m, ok := evidence.Injected(f)
	if !ok || f.PlannedTime.IsZero() {
		return 0
	}
	return max(f.PlannedTime.Sub(m.Latest), 0)
}

// inAnotherStage finds a fault that was late, or early, enough to hit another load than that of the stage it was planned for.
func inAnotherStage(spec v1alpha1.ReplicationExperimentSpec, f v1alpha1.FaultStatus, late time.Duration) []finding.Finding {
	for _, planned := range spec.Faults {
		if planned.Name != f.Fault {
			continue
		}
		at := time.Duration(planned.AtSeconds) * time.Second
		if meant, was := stageAt(spec.Load.Stages, at), stageAt(spec.Load.Stages, at+late); meant != was {
			side := "after"
			if late < 0 {
				side = "before"
			}
			return []finding.Finding{finding.Of(finding.FaultInOtherStage, f.Name, f.Pod, late.Abs().Milliseconds(), side, was, meant)}
		}
	}
	return nil
}

// stageAt names what a load does so long after its start.
func stageAt(stages []v1alpha1.Stage, at time.Duration) string {
	var end time.Duration
	for _, s := range stages {
		if end += time.Duration(s.DurationSeconds) * time.Second; at < end {
			return "stage " + s.Name
		}
	}
	return "the time after the load"
}
