package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/decode"
	"replab.dev/internal/plan"
	"replab.dev/internal/provenance"
	"replab.dev/internal/results"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// judgePatience is how long a topology that does not answer is asked again; its nodes' last states are part of the status.
const judgePatience = 30 * time.Second

// judge collects the evidence, which lies in the cluster, and writes figures, verdict and the results document. It may
// be run again: the same evidence gives the same verdict.
func judge(ctx context.Context, run *Run) (Outcome, error) {
	done, err := useEvidence(ctx)
	if err != nil {
		return Outcome{}, err
	}
	defer done()
	evidence, err := collect(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	if why := whoIsSilent(evidence.State); why != "" && run.waiting.Awaited != v1alpha1.AwaitedAdmission && waited(run, v1alpha1.AwaitedTopology) < judgePatience {
		return Wait(time.Second, v1alpha1.ReasonCollecting, "%s", why), nil
	}
	unjudged := run.Status.DeepCopy()
	verdict.Judge(evidence, &run.Status)
	if err := fits(run.Status); err != nil {
		return unfit(run, unjudged, err), nil
	}
	document, err := results.Document(run.ReplicationExperiment, evidence)
	if errors.Is(err, results.ErrTooLarge) {
		return unfit(run, unjudged, err), nil
	}
	if err != nil {
		return Outcome{}, err
	}
	if err := run.Cluster.Apply(ctx, run.ReplicationExperiment, document); err != nil {
		return refusedDocument(run, unjudged, err)
	}
	run.Status.Results = document.Name
	return Done(), nil
}

// refusedDocument is refused of the results document. While it is tried again the status is as it was before.
func refusedDocument(run *Run, before *v1alpha1.ReplicationExperimentStatus, err error) (Outcome, error) {
	out, err := refused(run, err)
	if out.Reason != "" && !out.Terminal {
		progress := run.Status.Progress
		run.Status = *before
		run.Status.Progress = progress
	}
	return out, err
}

// statusMost is how large a judged status may be, as JSON. An API server keeps objects of 1.5 MiB.
const statusMost = 1 << 20

func fits(status v1alpha1.ReplicationExperimentStatus) error {
	text, err := json.Marshal(status)
	if err == nil && len(text) > statusMost {
		err = fmt.Errorf("the status would take %d KiB, at most %d KiB fit", len(text)>>10, statusMost>>10)
	}
	return err
}

// unfit ends a run whose evidence is too large. Instruments keep to the limit, so another program wrote it.
func unfit(run *Run, before *v1alpha1.ReplicationExperimentStatus, why error) Outcome {
	run.Status = *before
	return Terminal(v1alpha1.ReasonEvidenceTooLarge, "%v. Something other than replab wrote to the run's ConfigMaps or answered for its pods.", why)
}

// evidenceInUse is full while a run's evidence is in memory.
var evidenceInUse = make(chan struct{}, 1)

// useEvidence waits until no other run's evidence is in memory: the operator has room for one. done ends the use.
func useEvidence(ctx context.Context) (done func(), err error) {
	select {
	case evidenceInUse <- struct{}{}:
		return func() { <-evidenceInUse }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// whoIsSilent names what has not answered, "" where all have. What one node alone knows is missing without its answer.
func whoIsSilent(state topology.State) string {
	switch {
	case !state.Known:
		return "the topology does not answer"
	case len(state.Silent) > 0:
		return "not answered: " + strings.Join(state.Silent, ", ")
	}
	return ""
}

func collect(ctx context.Context, run *Run) (evidence.Run, error) {
	e := evidence.Run{
		Experiment: run.Name, Nodes: run.Plan.Nodes, Spec: run.Spec, Faults: run.Status.Faults, Rest: run.Status.Rest, Notes: run.Status.Notes,
		Distance: run.Status.Distance.DeepCopy(), CommitWaits: run.Plan.CommitWaits, ReadsWait: run.Plan.ReadsWait, Independent: run.Plan.Independent, Grouped: run.Plan.CountGroup,
		StandbysChosen: run.Plan.StandbysChosen, LossesWhileDegraded: run.Plan.LossesWhileDegraded, DegradedBy: run.Plan.DegradedBy,
	}
	missing := func(format string, args ...any) { e.Missing = append(e.Missing, fmt.Sprintf(format, args...)) }
	var err error
	if e.State, err = run.Snapshot.State(ctx); err != nil {
		return e, err
	}
	sum, why, err := k6Summary(ctx, run)
	if err != nil {
		return e, err
	}
	if e.K6 = sum; why != "" {
		missing("the load's own summary: %s", why)
	}
	if e.Recorder, err = recorderResults(ctx, run); errors.Is(err, errUnreadable) {
		missing("the recorder's results cannot be read: %v", err)
	} else if err != nil {
		return e, err
	} else if e.Recorder == nil {
		missing("the recorder left no results in ConfigMap %s", plan.RecorderStateName(run.Name))
	}
	if e.Recount, err = recountResult(ctx, run); err != nil {
		return e, err
	}
	if e.Audit, err = auditResult(ctx, run, plan.AuditStateName(run.Name)); errors.Is(err, errUnreadable) {
		missing("the audit's result cannot be read: %v", err)
	} else if err != nil {
		return e, err
	} else if e.Audit == nil {
		missing("the audit left no result in ConfigMap %s", plan.AuditStateName(run.Name))
	}
	e.Proxy, e.SendsTwice = run.Plan.Proxy, run.Plan.SendsTwice
	if e.Provenance, err = provenanceOf(ctx, run); err != nil {
		return e, err
	}
	err = baseline(ctx, run, &e)
	return e, err
}

// baseline that the run is compared with, and what it ran on. One that cannot be decoded is taken for none: a run must not wait for somebody
// else's mistake.
func baseline(ctx context.Context, run *Run, e *evidence.Run) error {
	if run.Spec.Baseline == nil {
		return nil
	}
	x := &v1alpha1.ReplicationExperiment{}
	x.Namespace, x.Name = run.Namespace, run.Spec.Baseline.Name
	found, err := run.Cluster.Get(ctx, x)
	var undecodable *decode.Error
	if errors.As(err, &undecodable) {
		return nil
	}
	if err != nil || !found {
		return err
	}
	m, err := configMap(ctx, run, results.Name(x.Name))
	if err != nil {
		return err
	}
	e.Baseline, e.BaselineProvenance = x, results.RanOn(m, x.UID)
	return nil
}

// machineReader reads machines by name; one that is gone is left out.
type machineReader interface {
	Machines(ctx context.Context, names []string) ([]corev1.Node, error)
}

// provenanceOf describes the pods that are there and their machines. An operator that may only read its namespaces knows no machine.
func provenanceOf(ctx context.Context, run *Run) (provenance.Provenance, error) {
	pods, err := run.Snapshot.Pods(ctx)
	if err != nil {
		return provenance.Provenance{}, err
	}
	machines, err := run.Cluster.Machines(ctx, machinesOf(pods))
	if err != nil && !apierrors.IsForbidden(err) {
		return provenance.Provenance{}, err
	}
	p := provenance.Of(run.Version, pods, machines)
	if err != nil {
		p.MachinesUnknown = err.Error()
	}
	return p, nil
}

// machinesOf are the names of the machines that pods run on.
func machinesOf(pods []corev1.Pod) []string {
	var names []string
	for _, p := range pods {
		if p.Spec.NodeName != "" {
			names = append(names, p.Spec.NodeName)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// errUnreadable is a document that will not become readable.
var errUnreadable = errors.New("not as replab wrote it")

func recorderResults(ctx context.Context, run *Run) (*wire.RecorderResults, error) {
	m, err := configMap(ctx, run, plan.RecorderStateName(run.Name))
	if err != nil || len(m.BinaryData[wire.RecorderResultsKey]) == 0 {
		return nil, err
	}
	var recorded wire.RecorderResults
	if err := results.Unpack(m.BinaryData[wire.RecorderResultsKey], &recorded); err != nil {
		return nil, fmt.Errorf("ConfigMap %s is %w: %w", m.Name, errUnreadable, err)
	}
	return &recorded, nil
}

func auditResult(ctx context.Context, run *Run, name string) (*wire.AuditResult, error) {
	m, err := configMap(ctx, run, name)
	if err != nil || m.Data[wire.AuditResultKey] == "" {
		return nil, err
	}
	var result wire.AuditResult
	if err := results.Parse(m.Data[wire.AuditResultKey], &result); err != nil {
		return nil, fmt.Errorf("ConfigMap %s is %w: %w", m.Name, errUnreadable, err)
	}
	return &result, nil
}

// recountResult is nil where no node came back after the audit.
func recountResult(ctx context.Context, run *Run) (*wire.AuditResult, error) {
	result, err := auditResult(ctx, run, plan.RecountStateName(run.Name))
	if errors.Is(err, errUnreadable) {
		return &wire.AuditResult{Failed: err.Error()}, nil
	}
	return result, err
}

func configMap(ctx context.Context, run *Run, name string) (*corev1.ConfigMap, error) {
	m := &corev1.ConfigMap{}
	m.Namespace, m.Name = run.Namespace, name
	_, err := run.Cluster.Get(ctx, m)
	return m, err
}
