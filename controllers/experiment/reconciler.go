// Package experiment carries experiments out. The list in steps.go is the state machine; each step has a file; status.go is
// the only place where conditions are written; ports.go says what the steps need of the world.
package experiment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/lasting"
	"replab.dev/controllers/experiment/leftovers"
	"replab.dev/controllers/step"
	"replab.dev/internal/engine"
	"replab.dev/internal/plan"
	"replab.dev/internal/wire"
)

// Reconciler carries experiments out, one step at a time.
type Reconciler struct {
	// Client reads experiments and writes their statuses.
	Client interface {
		client.Reader
		client.StatusClient
	}
	Cluster   Cluster
	Processes Processes
	Config    wire.OperatorConfig
	// Namespace that the operator runs in, empty outside of the cluster.
	Namespace string
	// Identity of this operator among others that may watch the same namespaces.
	Identity string
	// Version of this operator, for the results.
	Version string
	Servers engine.Lookup[engine.Server]
	Events  events.EventRecorder
	Now     func() time.Time
	// Turns are the other experiments that must end first; nil when none need to. With begin, and where there are none, x is ahead of all others.
	Turns func(ctx context.Context, x *v1alpha1.ReplicationExperiment, begin bool) ([]types.NamespacedName, error)

	// gone are experiments that are not there any more.
	gone leftovers.Sweeper
	// unended are runs that have to end and have no verdict, leaseless those whose Lease is refused.
	unended, leaseless lasting.Since[types.UID]
}

// Reconcile goes as far as it can and writes the status once.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (result ctrl.Result, err error) {
	x := &v1alpha1.ReplicationExperiment{}
	switch err := r.Client.Get(ctx, req.NamespacedName, x); {
	case apierrors.IsNotFound(err):
		return r.gone.Sweep(ctx, r.Cluster, req.NamespacedName, r.Now())
	case err != nil:
		return ctrl.Result{}, r.unread(ctx, err)
	}
	r.gone.Exists(req.NamespacedName)
	if !x.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // the owned objects go by garbage collection
	}
	defer func() { result.Priority = priority(x) }()
	before := x.DeepCopy()
	if x.Ended() {
		return r.afterwards(ctx, x)
	}
	x.Renew() // nothing was made for one that begins anew
	after, stepErr := r.carryOn(ctx, x)
	changed, err := r.writeStatus(ctx, before, x)
	switch {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: 50 * time.Millisecond}, nil // what was seen is old: look again
	case err != nil:
		return ctrl.Result{}, errors.Join(stepErr, client.IgnoreNotFound(err))
	case stepErr != nil:
		return ctrl.Result{}, stepErr
	case isTrue(x.Status.Conditions, v1alpha1.ConditionComplete):
		return r.afterwards(ctx, x)
	case after == 0 && !changed:
		return ctrl.Result{RequeueAfter: time.Second}, nil
	case after == 0:
		return ctrl.Result{RequeueAfter: time.Millisecond}, nil
	}
	return ctrl.Result{RequeueAfter: after}, nil
}

// priority puts runs under way before all that only wait, however many these are.
func priority(x *v1alpha1.ReplicationExperiment) *int {
	if x.Status.StartTime != nil && !isTrue(x.Status.Conditions, v1alpha1.ConditionComplete) {
		return ptr.To(1)
	}
	return ptr.To(0)
}

// carryOn carries the experiment on, unless it waits for its turn or belongs to another operator. An experiment in line costs no request.
func (r *Reconciler) carryOn(ctx context.Context, x *v1alpha1.ReplicationExperiment) (time.Duration, error) {
	run := &Run{ReplicationExperiment: x, Cluster: r.Cluster, Processes: r.Processes, Now: r.Now, Version: r.Version}
	run.Others = func(ctx context.Context, begin bool) ([]types.NamespacedName, error) {
		if r.Turns == nil {
			return nil, nil
		}
		return r.Turns(ctx, x, begin)
	}
	if x.Status.StartTime == nil && !over(run) && tried(run) {
		if ahead, err := run.Others(ctx, false); err != nil || len(ahead) > 0 {
			return queued(run, ahead), err
		}
	}
	may, err := r.mayAct(ctx, x)
	switch {
	case err != nil:
		return 0, err
	case may.Done, may.Terminal:
		return r.step(ctx, run, may)
	case x.Status.StartTime == nil && !over(run): // else its holder writes the status
		markPending(run, v1alpha1.ConditionAccepted, may)
		x.Status.Phase = phase(run)
	}
	return may.After, nil
}

func (r *Reconciler) step(ctx context.Context, run *Run, may Outcome) (time.Duration, error) {
	x := run.ReplicationExperiment
	run.Input = plan.Input{
		Experiment: x, ClusterDomain: r.Config.ClusterDomain, OperatorNamespace: r.Namespace, Prometheus: r.Config.Prometheus,
		Pods: r.Config.Pods, PlatformUser: r.Config.PlatformUser, ForeignOperators: r.Config.ForeignOperators, Servers: r.Servers,
	}
	run.Snapshot = &Snapshot{x: x, input: &run.Input, cluster: r.Cluster, processes: r.Processes, now: r.Now}
	defer func() { x.Status.Phase = phase(run) }()
	x.Status.ObservedGeneration = x.Generation
	if may.Terminal && !over(run) {
		endEarly(run, underWay(run), may)
	}
	var err error
	if run.Plan, err = r.plan(run); err != nil && !over(run) {
		endEarly(run, v1alpha1.ConditionAccepted, Terminal(v1alpha1.ReasonSpecRefused, "%v", err))
	}
	tooSoon, err := changedTooSoon(run)
	if err != nil {
		return 0, err
	}
	if tooSoon {
		endEarly(run, v1alpha1.ConditionJudged, Terminal(v1alpha1.ReasonPlanChanged,
			"the operator was upgraded during deployment, and its plan differs. Run it again"))
	}
	if err := endIfAsked(ctx, run); err != nil {
		return 0, err
	}
	if over(run) {
		before := x.Status.DeepCopy()
		after, err := complete(ctx, run)
		if err != nil {
			x.Status = *before
		}
		return after, err
	}
	return advance(ctx, run, steps)
}

// plan of the run, with the images that it was started with.
func (r *Reconciler) plan(run *Run) (plan.Plan, error) {
	if run.Status.Images != nil {
		run.Input.Images = *run.Status.Images
		return plan.Build(run.Input)
	}
	images, err := plan.Images(&run.Spec, r.Config.Images)
	if err != nil {
		return plan.Plan{}, err
	}
	run.Input.Images = images
	return plan.Build(run.Input)
}

// changedTooSoon tells whether an operator with another plan has taken the run over while objects of the plan were still to be
// made: half of one plan and half of another is no experiment. Once the load has started all of them are there, and stay as they are.
func changedTooSoon(run *Run) (bool, error) {
	if run.Status.PlanHash == "" || over(run) || isTrue(run.Status.Conditions, v1alpha1.ConditionLoadStarted) {
		return false, nil
	}
	hash, err := run.Plan.Hash()
	return hash != run.Status.PlanHash, err
}

// writeStatus is the only writer of the status. The optimistic lock makes a decision that was taken on an old status
// fail instead of overwriting a newer one: so an intent that was recorded is never recorded again with another target.
func (r *Reconciler) writeStatus(ctx context.Context, before, x *v1alpha1.ReplicationExperiment) (changed bool, err error) {
	x.Status.Reasons, x.Status.Notes = step.AtMost(x.Status.Reasons, more), step.AtMost(x.Status.Notes, more)
	if equality.Semantic.DeepEqual(before.Status, x.Status) {
		return false, nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err = r.Client.Status().Patch(ctx, x, patch)
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		err = r.Client.Status().Patch(ctx, x, patch) // what an act came to, such as when a pod was deleted, is known here alone
	}
	if err != nil {
		return false, fmt.Errorf("write the status: %w", err)
	}
	r.announce(before, x)
	return true, nil
}

// announce turns what has changed into events, after it was written.
func (r *Reconciler) announce(before, x *v1alpha1.ReplicationExperiment) {
	for _, c := range x.Status.Conditions {
		switch {
		case c.Status != "True" || isTrue(before.Status.Conditions, c.Type) || c.Type == v1alpha1.ConditionPassed:
		case c.Type == v1alpha1.ConditionComplete:
			kind := corev1.EventTypeNormal
			if x.Status.Verdict != v1alpha1.VerdictPassed {
				kind = corev1.EventTypeWarning
			}
			r.Events.Eventf(x, nil, kind, string(x.Status.Verdict), "Judge", "%s", eventNote(c.Message))
		default:
			r.Events.Eventf(x, nil, corev1.EventTypeNormal, c.Type, c.Type, "%s", c.Type)
		}
	}
	for i, f := range x.Status.Faults {
		was := v1alpha1.FaultStatus{Confirmed: "Unknown"}
		if i < len(before.Status.Faults) {
			was = before.Status.Faults[i]
		}
		if f.Confirmed != was.Confirmed {
			r.Events.Eventf(x, nil, corev1.EventTypeNormal, "FaultInjected", "InjectFault", "%s on pod %s: confirmed %s", f.Name, f.Pod, f.Confirmed)
		}
	}
}

// eventNote shortens a message to what the API server takes in an event; the condition has the whole.
func eventNote(message string) string {
	const limit, cut = 1024, " ..."
	if len(message) <= limit {
		return message
	}
	return strings.ToValidUTF8(message[:limit-len(cut)], "") + cut
}
