// Package evidence is what was collected of a run, and what all concerns of the verdict ask of it: whose clock, when, by which fault. It is pure.
package evidence

import (
	"slices"
	"strings"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/provenance"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// Status is where figures, goals and the verdict are written.
type Status = v1alpha1.ReplicationExperimentStatus

// ActionOf is what a fault did.
func ActionOf(spec v1alpha1.ReplicationExperimentSpec, status v1alpha1.FaultStatus) v1alpha1.FaultAction {
	return PlannedOf(spec, status).Action
}

// StagesOf the load as the recorder saw them, nil without a recorder.
func StagesOf(e Run) []wire.StageResult {
	if e.Recorder == nil {
		return nil
	}
	return e.Recorder.Stages
}

// WindowOf a stage by the recorder's clock: the whole load where it is not known when its first request came.
func WindowOf(e Run, r wire.StageResult) (begin, end time.Time, known bool) {
	if r.StartedAt != nil {
		return r.StartedAt.Time, r.StartedAt.Add(time.Duration(r.DurationMicroseconds) * time.Microsecond), true
	}
	if e.Recorder.LoadStartedAt == nil || e.Recorder.LoadEndedAt == nil {
		return time.Time{}, time.Time{}, false
	}
	return e.Recorder.LoadStartedAt.Time, e.Recorder.LoadEndedAt.Time, true
}

// UnnamedWrites counts acknowledged writes whose node is unknown: an app of the user's own may name none.
func UnnamedWrites(w *wire.RecorderResults) int64 {
	if len(w.Writers) == 0 {
		return max(w.UnnamedWrites, w.Writes.Acknowledged)
	}
	return w.UnnamedWrites
}

// Milliseconds are rounded up: a limit of 500 ms is not met by 500.4.
func Milliseconds(microseconds int64) int64 { return (microseconds + 999) / 1000 }

// PlannedOf is a fault as it was asked for.
func PlannedOf(spec v1alpha1.ReplicationExperimentSpec, status v1alpha1.FaultStatus) v1alpha1.Fault {
	for _, f := range spec.Faults {
		if f.Name == status.Fault {
			return f
		}
	}
	return v1alpha1.Fault{}
}

// Unanswered names those of some nodes that did not answer when the run was judged; nothing where all did. What they alone know is missing from
// the topology's state.
func Unanswered(e Run, nodes ...string) finding.Finding {
	silent := slices.DeleteFunc(slices.Clone(e.State.Silent), func(n string) bool { return !slices.Contains(nodes, n) })
	switch len(silent) {
	case 0:
		return finding.Finding{}
	case 1:
		return finding.Of(finding.NodeSilent, "node "+silent[0])
	}
	return finding.Of(finding.NodeSilent, "nodes "+strings.Join(silent, ", "))
}

// Run is all that was collected of a run. What is nil was not to be had.
type Run struct {
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
	// Independent tells that several nodes take writes without asking each other, and get each other's writes later.
	Independent bool
	// Grouped tells that nodes are members of a group: one may have applied less than another.
	Grouped bool
	// ReadsWait tells that reads wait for what other nodes have committed.
	ReadsWait bool
	// Provenance says what it all ran on.
	Provenance provenance.Provenance
	// Notes are what steps found that a reader of the figures should know. Nothing is decided by them.
	Notes []string
	// Missing says, by what is missing, why it could not be collected.
	Missing []string
}

// Whole tells that the recorder left results of the whole load.
func (e Run) Whole() bool { return e.Recorder != nil && e.Recorder.Incomplete == "" }

// Replication of a status, which is made for the first figure of it.
func Replication(s *Status) *v1alpha1.ReplicationStatus {
	if s.Replication == nil {
		s.Replication = &v1alpha1.ReplicationStatus{}
	}
	return s.Replication
}

// Pair is the run and its baseline, which is the zero run where it is not there.
func Pair(e Run, s *v1alpha1.ReplicationExperimentStatus) (now, base compare.Run) {
	now = compare.Run{Spec: e.Spec, Status: *s, Provenance: e.Provenance}
	if e.Baseline != nil {
		base = compare.Run{Spec: e.Baseline.Spec, Status: e.Baseline.Status, Provenance: e.BaselineProvenance}
	}
	return now, base
}
