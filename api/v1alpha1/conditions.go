package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Conditions of a run's steps; each stays True once it is.
const (
	ConditionAccepted       = "Accepted"
	ConditionDeployed       = "Deployed"
	ConditionSeeded         = "Seeded"
	ConditionLoadStarted    = "LoadStarted"
	ConditionFaultsInjected = "FaultsInjected"
	ConditionLoadFinished   = "LoadFinished"
	ConditionSettled        = "Settled"
	ConditionAudited        = "Audited"
	ConditionJudged         = "Judged"
	ConditionCleanedUp      = "CleanedUp"
)

// Steps of a run in their order.
var Steps = []string{
	ConditionAccepted, ConditionDeployed, ConditionSeeded, ConditionLoadStarted, ConditionFaultsInjected, ConditionLoadFinished,
	ConditionSettled, ConditionAudited, ConditionJudged, ConditionCleanedUp,
}

// Conditions about the run as a whole.
const (
	// ConditionComplete becomes True at the end of every run; its reason is the verdict.
	ConditionComplete = "Complete"
	// ConditionPassed is True for Passed, False for Failed, Unknown for Inconclusive and Invalid.
	ConditionPassed = "Passed"
)

// Reasons of conditions that end a run before its time.
const (
	ReasonImageCannotBePulled = "ImageCannotBePulled"
	ReasonPodUnschedulable    = "PodUnschedulable"
	ReasonPodNotStarted       = "PodNotStarted"
	ReasonPodFailed           = "PodFailed"
	ReasonPodAltered          = "PodAltered"
	ReasonVolumeNotBound      = "VolumeNotBound"
	ReasonCrashLoop           = "CrashLoop"
	ReasonContainerConfig     = "ContainerConfigError"
	ReasonObjectRefused       = "ObjectRefused"
	ReasonTimeout             = "Timeout"
	ReasonLoadFailed          = "LoadFailed"
	ReasonRecorderFailed      = "RecorderFailed"
	ReasonSeedFailed          = "SeedFailed"
	ReasonAuditFailed         = "AuditFailed"
	ReasonEvidenceTooLarge    = "EvidenceTooLarge"
	ReasonLinksNotSet         = "LinksNotSet"
	ReasonFaultImpossible     = "FaultImpossible"
	ReasonSpecRefused         = "SpecRefused"
	ReasonNotFound            = "NotFound"
	ReasonPlanChanged         = "PlanChanged"
	ReasonAborted             = "Aborted"
	ReasonDeadlineExceeded    = "DeadlineExceeded"
)

// Reasons of conditions while a run waits, in the order of a run.
const (
	ReasonSuspended = "Suspended"
	// ReasonUndecodable is that of an experiment or a trial that the operator cannot decode. It waits until the spec is corrected.
	ReasonUndecodable      = "Undecodable"
	ReasonHeld             = "Held"
	ReasonReferenceMissing = "ReferenceMissing"
	ReasonQueued           = "Queued"
	ReasonPredecessor      = "Predecessor"
	ReasonRefused          = "Refused"
	ReasonStarting         = "Starting"
	ReasonLoading          = "Loading"
	ReasonCatchingUp       = "CatchingUp"
	ReasonSettingLinks     = "SettingLinks"
	ReasonIntended         = "Intended"
	ReasonRecorderSilent   = "RecorderSilent"
	ReasonFaultAhead       = "Waiting"
	ReasonAiming           = "Aiming"
	ReasonAimed            = "Aimed"
	ReasonAsking           = "Asking"
	ReasonInjecting        = "Injecting"
	ReasonDeleting         = "Deleting"
	ReasonSwitching        = "Switching"
	ReasonConfirming       = "Confirming"
	ReasonRunning          = "Running"
	ReasonHolding          = "Holding"
	ReasonSettling         = "Settling"
	ReasonMeasuringLinks   = "MeasuringLinks"
	ReasonFinishing        = "Finishing"
	ReasonCounting         = "Counting"
	ReasonRejoining        = "Rejoining"
	ReasonComparing        = "Comparing"
	ReasonCollecting       = "Collecting"
	ReasonHalting          = "Halting"
	ReasonRemoving         = "Removing"
)

// Reasons of a waiting suite, beside ReasonRunning, ReasonSuspended and some that end a run.
const (
	ReasonNameTaken   = "NameTaken"
	ReasonSpecChanged = "SpecChanged"
	ReasonTidying     = "Tidying"
)

// Reasons of steps that are over.
const (
	ReasonDone = "Done"
	// ReasonKept is that of CleanedUp when the run is over and keeps its pods and volumes.
	ReasonKept = "Kept"
	// ReasonRemaining is that of CleanedUp when objects could not be removed.
	ReasonRemaining = "Remaining"
)

// GetConditions of an experiment.
func (x *ReplicationExperiment) GetConditions() []metav1.Condition { return x.Status.Conditions }

// GetConditions of a suite.
func (x *ReplicationSuite) GetConditions() []metav1.Condition { return x.Status.Conditions }

// Ended tells whether an experiment or a suite is complete, and does not begin anew.
func Ended(conditions []metav1.Condition, startTime *metav1.Time, generation, observedGeneration int64) bool {
	return meta.IsStatusConditionTrue(conditions, ConditionComplete) && !BeginsAnew(conditions, startTime, generation, observedGeneration)
}

// BeginsAnew tells whether an experiment or a suite ended before its start, and its spec was changed since. Its status is that of the earlier spec.
func BeginsAnew(conditions []metav1.Condition, startTime *metav1.Time, generation, observedGeneration int64) bool {
	return meta.IsStatusConditionTrue(conditions, ConditionComplete) && startTime == nil && generation != observedGeneration
}

// Ended tells whether the experiment is complete, and does not begin anew.
func (x *ReplicationExperiment) Ended() bool {
	return Ended(x.Status.Conditions, x.Status.StartTime, x.Generation, x.Status.ObservedGeneration)
}

// Ended tells whether the suite is complete, and does not begin anew.
func (x *ReplicationSuite) Ended() bool {
	return Ended(x.Status.Conditions, x.Status.StartTime, x.Generation, x.Status.ObservedGeneration)
}

// Attended tells whether an operator has written the status for this spec.
func (x *ReplicationExperiment) Attended() bool {
	return x.Status.Phase != "" || x.Status.ObservedGeneration == x.Generation || len(x.Status.Conditions) > 0
}

// Attended tells whether an operator has written the status for this spec.
func (x *ReplicationSuite) Attended() bool {
	return x.Status.ObservedGeneration == x.Generation || len(x.Status.Conditions) > 0
}

// Renew clears the status of an experiment that begins anew. It keeps observedGeneration: an operator has looked at the earlier spec.
func (x *ReplicationExperiment) Renew() {
	if s := x.Status; BeginsAnew(s.Conditions, s.StartTime, x.Generation, s.ObservedGeneration) {
		x.Status = ReplicationExperimentStatus{ObservedGeneration: s.ObservedGeneration}
	}
}

// Renew clears the status of a suite that begins anew. It keeps observedGeneration: an operator has looked at the earlier spec.
func (x *ReplicationSuite) Renew() {
	if s := x.Status; BeginsAnew(s.Conditions, s.StartTime, x.Generation, s.ObservedGeneration) {
		x.Status = ReplicationSuiteStatus{ObservedGeneration: s.ObservedGeneration}
	}
}
