// Package cluster is how the operator reaches the API server and the processes of an experiment. It implements the
// ports of package controllers and decides nothing.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/decode"
	"replab.dev/internal/kube"
	"replab.dev/internal/plain"
)

// FieldOwner of everything that the operator applies.
const FieldOwner = client.FieldOwner("replab")

// Cluster reads and writes objects. Client must not be cached: steps decide on what they see.
type Cluster struct {
	Client client.Client
	Core   typedcorev1.CoreV1Interface // for logs
}

// Apply makes obj as given, by server-side apply. An object of that name that belongs to somebody else is left alone.
func (c *Cluster) Apply(ctx context.Context, owner *v1alpha1.ReplicationExperiment, obj client.Object) error {
	if err := c.mayWrite(ctx, owner, obj); err != nil {
		return err
	}
	u, err := c.desired(owner, obj)
	if err != nil {
		return err
	}
	if err := c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), FieldOwner, client.ForceOwnership); err != nil {
		return fmt.Errorf("apply %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}

// Create makes obj if it is not there.
func (c *Cluster) Create(ctx context.Context, owner *v1alpha1.ReplicationExperiment, obj client.Object) error {
	u, err := c.desired(owner, obj)
	if err != nil {
		return err
	}
	err = c.Client.Create(ctx, u, FieldOwner)
	if apierrors.IsAlreadyExists(err) {
		return c.mayWrite(ctx, owner, obj)
	}
	if err != nil {
		return fmt.Errorf("create %s %s: %w", u.GetKind(), u.GetName(), noMatch(u, err))
	}
	return nil
}

// Try has the API server look at obj as if it were to be made. Of a kind that the cluster does not know the error is a meta.NoKindMatchError.
func (c *Cluster) Try(ctx context.Context, owner *v1alpha1.ReplicationExperiment, obj client.Object) error {
	u, err := c.desired(owner, obj)
	if err != nil {
		return err
	}
	return noMatch(u, c.Client.Create(ctx, u, FieldOwner, client.DryRunAll))
}

// mayWrite refuses objects that exist and belong to something else than the experiment.
func (c *Cluster) mayWrite(ctx context.Context, owner *v1alpha1.ReplicationExperiment, obj client.Object) error {
	gvk, err := c.Client.GroupVersionKindFor(obj)
	if err != nil {
		return err
	}
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(gvk)
	err = c.Client.Get(ctx, client.ObjectKeyFromObject(obj), found)
	if apierrors.IsNotFound(err) || err == nil && metav1.IsControlledBy(found, owner) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s %s: %w", gvk.Kind, obj.GetName(), err)
	}
	if o := metav1.GetControllerOf(found); o != nil && o.Kind == "ReplicationExperiment" && o.Name == owner.Name {
		return errors.Join(fmt.Errorf("%s %s of a deleted experiment of this name is still there", gvk.Kind, obj.GetName()), c.removeLeftover(ctx, found))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("%s %s exists and does not belong to experiment %s: delete it, or name the experiment otherwise",
		gvk.Kind, obj.GetName(), owner.Name))
}

// removeLeftover deletes an object of an experiment that is gone. The garbage collector never does if it did not watch while the experiment was
// deleted and made anew: it then takes the new one for the old.
func (c *Cluster) removeLeftover(ctx context.Context, of *metav1.PartialObjectMetadata) error {
	err := c.Client.DeleteAllOf(ctx, of, client.InNamespace(of.Namespace), client.MatchingFields{"metadata.name": of.Name},
		client.MatchingLabels{kube.LabelManagedBy: kube.ManagedBy}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err != nil {
		return fmt.Errorf("remove it: %w", err)
	}
	return nil
}

// desired is obj as the API server gets it: owned by the experiment, without what only the server writes.
func (c *Cluster) desired(owner *v1alpha1.ReplicationExperiment, obj client.Object) (*unstructured.Unstructured, error) {
	obj = obj.DeepCopyObject().(client.Object)
	// Another operator may pass its object's owners on to what it makes, and needs the right to the owner's finalizers for one that it holds up.
	if err := controllerutil.SetControllerReference(owner, obj, c.Client.Scheme(), controllerutil.WithBlockOwnerDeletion(!isForeign(owner, obj))); err != nil {
		return nil, err
	}
	gvk, err := c.Client.GroupVersionKindFor(obj)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk)
	unstructured.RemoveNestedField(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	return u, nil
}

// Update writes an object that was read and changed. It is a conflict when somebody else has written it since.
func (c *Cluster) Update(ctx context.Context, obj client.Object) error {
	return c.Client.Update(ctx, obj, FieldOwner)
}

// Delete deletes an object that has this UID; that it is gone already is fine.
func (c *Cluster) Delete(ctx context.Context, obj client.Object) error {
	err := c.Client.Delete(ctx, obj, client.Preconditions{UID: ptr.To(obj.GetUID())})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// Get reads an object and tells whether it exists. Of a kind that the cluster does not know the error is a meta.NoKindMatchError, of an
// experiment that Go cannot decode a *decode.Error.
func (c *Cluster) Get(ctx context.Context, obj client.Object) (bool, error) {
	if x, ok := obj.(*v1alpha1.ReplicationExperiment); ok {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ReplicationExperiment"))
		u.SetNamespace(x.Namespace)
		u.SetName(x.Name)
		if found, err := c.Get(ctx, u); err != nil || !found {
			return false, err
		}
		return true, decode.Experiment(u, x)
	}
	err := noMatch(obj, c.Client.Get(ctx, client.ObjectKeyFromObject(obj), obj))
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// Pods of an experiment, with what is read of them: anybody who makes pods can label megabytes as the experiment's.
func (c *Cluster) Pods(ctx context.Context, x *v1alpha1.ReplicationExperiment) ([]corev1.Pod, error) {
	var found []corev1.Pod
	err := pages(ctx, c.Client, func(page *corev1.PodList) bool {
		for i := range page.Items {
			found = append(found, essence(&page.Items[i]))
		}
		return true
	}, append(ofExperiment(x), client.Limit(fatPageSize))...)
	return found, err
}

// Machines of these names; one that is gone is left out.
func (c *Cluster) Machines(ctx context.Context, names []string) ([]corev1.Node, error) {
	var found []corev1.Node
	for _, name := range names {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		there, err := c.Get(ctx, &n)
		if err != nil {
			return nil, err
		}
		if there {
			found = append(found, n)
		}
	}
	return found, nil
}

// Claims of an experiment.
func (c *Cluster) Claims(ctx context.Context, x *v1alpha1.ReplicationExperiment) ([]corev1.PersistentVolumeClaim, error) {
	var found []corev1.PersistentVolumeClaim
	err := pages(ctx, c.Client, func(page *corev1.PersistentVolumeClaimList) bool {
		for i := range page.Items {
			claim := &page.Items[i]
			spec := corev1.PersistentVolumeClaimSpec{StorageClassName: claim.Spec.StorageClassName, Resources: claim.Spec.Resources}
			found = append(found, corev1.PersistentVolumeClaim{
				ObjectMeta: metadata(&claim.ObjectMeta), Spec: spec, Status: corev1.PersistentVolumeClaimStatus{Phase: claim.Status.Phase},
			})
		}
		return true
	}, append(ofExperiment(x), client.Limit(fatPageSize))...)
	return found, err
}

// DeletePod deletes a pod that has this UID; that it is gone already is fine.
func (c *Cluster) DeletePod(ctx context.Context, key types.NamespacedName, uid types.UID, gracePeriodSeconds *int64) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	opts := &client.DeleteOptions{Preconditions: &metav1.Preconditions{UID: ptr.To(uid)}, GracePeriodSeconds: gracePeriodSeconds}
	err := c.Client.Delete(ctx, pod, opts)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// logMost is how many bytes of a log a message has.
const logMost = 3000

// LogTail is the end of a container's log, as plain text, or why there is none.
func (c *Cluster) LogTail(ctx context.Context, pod *corev1.Pod, container string, previous bool) string {
	opts := &corev1.PodLogOptions{Container: container, Previous: previous, TailLines: ptr.To[int64](12), LimitBytes: ptr.To[int64](logMost)}
	stream, err := c.Core.Pods(pod.Namespace).GetLogs(pod.Name, opts).Stream(ctx)
	if err != nil {
		return "(no log: " + err.Error() + ")"
	}
	defer stream.Close()
	text, err := io.ReadAll(io.LimitReader(stream, logMost))
	if err != nil {
		return "(no log: " + err.Error() + ")"
	}
	return plain.Lines(string(text))
}

func ofExperiment(x *v1alpha1.ReplicationExperiment) []client.ListOption {
	return []client.ListOption{client.InNamespace(x.Namespace), client.MatchingLabels{kube.LabelExperiment: x.Name}}
}
