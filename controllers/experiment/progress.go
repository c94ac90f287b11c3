package experiment

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// look begins a look of a step at the world: what it waited for is forgotten unless it waits for it again.
func look(run *Run) {
	run.waiting = v1alpha1.ProgressStatus{}
	if p := run.Status.Progress; p != nil {
		run.waiting = *p
		p.Awaited, p.AwaitedTime = "", nil
	}
}

// waited notes whom the step waits for, and tells since when it has done so without a break.
func waited(run *Run, awaited v1alpha1.Awaited) time.Duration {
	p := progress(run)
	p.Awaited, p.AwaitedTime = awaited, run.waiting.AwaitedTime
	if run.waiting.Awaited != awaited || p.AwaitedTime == nil {
		now := metav1.NewMicroTime(run.Now())
		p.AwaitedTime = &now
	}
	return run.Now().Sub(p.AwaitedTime.Time)
}

// reach notes a milestone of the step.
func reach(run *Run, m v1alpha1.Milestone) {
	now := metav1.NewMicroTime(run.Now())
	p := progress(run)
	p.Milestone, p.MilestoneTime = m, &now
}

// reached tells whether this is the last milestone of the step, and since when.
func reached(run *Run, m v1alpha1.Milestone) (is bool, since time.Duration) {
	p := run.Status.Progress
	if p == nil || p.Milestone != m || p.MilestoneTime == nil {
		return false, 0
	}
	return true, run.Now().Sub(p.MilestoneTime.Time)
}

// reachedAny tells whether one of these is the last milestone of the step.
func reachedAny(run *Run, ms ...v1alpha1.Milestone) bool {
	return run.Status.Progress != nil && slices.Contains(ms, run.Status.Progress.Milestone)
}

func progress(run *Run) *v1alpha1.ProgressStatus {
	if run.Status.Progress == nil {
		run.Status.Progress = &v1alpha1.ProgressStatus{}
	}
	return run.Status.Progress
}
