package experiment

import (
	"context"
	"encoding/json"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/cached"
	"replab.dev/controllers/step"
)

// unread handles the error of reading an experiment.
func (r *Reconciler) unread(ctx context.Context, err error) error {
	var undecodable *cached.UndecodableError
	if errors.As(err, &undecodable) {
		return r.tellUndecodable(ctx, undecodable.Experiment)
	}
	return err
}

// tellUndecodable says at an experiment, by an event and a condition, that the operator cannot decode it. Nothing else is done for it.
func (r *Reconciler) tellUndecodable(ctx context.Context, bad *cached.Undecodable) error {
	if !bad.DeletionTimestamp.IsZero() {
		return nil
	}
	message := "the operator cannot decode it: " + bad.Why + "; correct this field, or delete the experiment"
	log.FromContext(ctx).Error(nil, "an experiment cannot be decoded and stands still", "why", bad.Why)
	err := r.markUndecodable(ctx, bad, message)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return nil // it has changed: another look follows
	case apierrors.IsInvalid(err): // an API server of Kubernetes 1.30 to 1.32 may refuse the status for the sake of the spec
		log.FromContext(ctx).Error(err, "its status cannot be written")
	case err != nil:
		return err
	}
	r.Events.Eventf(bad, nil, corev1.EventTypeWarning, v1alpha1.ReasonUndecodable, "Decode", "%s", eventNote(message))
	return nil
}

// markUndecodable writes the condition as a raw patch, since the object has no Go value. The condition of a run under way stays True. The end of one
// that begins anew is cleared.
func (r *Reconciler) markUndecodable(ctx context.Context, bad *cached.Undecodable, message string) error {
	conditions := append([]metav1.Condition{}, bad.Conditions...)
	if isTrue(conditions, v1alpha1.ConditionAccepted) || !meta.SetStatusCondition(&conditions, metav1.Condition{
		Type: v1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonUndecodable, Message: step.Truncate(message, step.MostOfCondition),
		ObservedGeneration: bad.Generation, LastTransitionTime: metav1.NewTime(r.Now()),
	}) {
		return nil
	}
	status := map[string]any{}
	for _, field := range bad.Stale {
		status[field] = nil
	}
	status["conditions"] = conditions
	if !isTrue(conditions, v1alpha1.ConditionComplete) {
		status["phase"] = "Pending"
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": bad.ResourceVersion}, "status": status})
	if err != nil {
		return err
	}
	return r.Client.Status().Patch(ctx, bad.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
}
