package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
)

const (
	// removal is how long the objects of a run may take to go.
	removal = 3 * time.Minute
	look    = time.Second
)

// runner makes runs on a cluster.
type runner struct {
	cluster client.Client
	limit   time.Duration
}

func connect() (client.Client, error) {
	ctrl.SetLogger(logr.Discard()) // the library's own log is not for people
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w; set KUBECONFIG", err)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// carryOut makes the runs that are missing, and writes each down when it is over. One that is stopped is not written down, and is taken
// up again: it goes on in the cluster meanwhile.
func carryOut(ctx context.Context, out io.Writer, r runner, b *book, experiment *unstructured.Unstructured, o options) error {
	for number := len(b.runs) + 1; number <= o.count && ctx.Err() == nil; number++ {
		x := named(experiment, number)
		if err := o.draw.into(x, number); err != nil {
			return err
		}
		began := time.Now()
		done, err := r.make(ctx, x)
		if ctx.Err() != nil {
			return nil
		}
		made := record{Number: number, Name: x.GetName()}
		if done != nil {
			made.Status = &done.Status
			if o.draw.any() {
				made.Faults = done.Spec.Faults
			}
		}
		if err != nil {
			made.Error = err.Error()
		}
		if err := r.put(ctx, b, made, x); err != nil {
			return err
		}
		if err := b.add(made); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s  %4d s\n", line(made), int(time.Since(began).Seconds()))
		if done == nil && err != nil {
			return err // the next one would fare no better
		}
	}
	return nil
}

// make carries one run out, or takes it up where it is under way. Everything stays until it was looked at.
func (r runner) make(ctx context.Context, x *unstructured.Unstructured) (*v1alpha1.ReplicationExperiment, error) {
	if err := unstructured.SetNestedField(x.Object, string(v1alpha1.KeepOnFailure), "spec", "keep"); err != nil {
		return nil, err
	}
	err := r.cluster.Create(ctx, x.DeepCopy(), client.FieldValidation(metav1.FieldValidationStrict))
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("create experiment %s: %w", x.GetName(), err)
	}
	var found *v1alpha1.ReplicationExperiment
	err = wait.PollUntilContextTimeout(ctx, look, r.limit, true, func(ctx context.Context) (bool, error) {
		now := &v1alpha1.ReplicationExperiment{} // a used one would keep what the next answer lacks
		if err := r.cluster.Get(ctx, client.ObjectKeyFromObject(x), now); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		found = now
		return meta.IsStatusConditionTrue(now.Status.Conditions, v1alpha1.ConditionComplete), nil
	})
	if err != nil {
		err = fmt.Errorf("wait for the end of experiment %s: %w", x.GetName(), err)
	}
	return found, err
}

// put has a run that passed go, and keeps any other with its evidence: the objects in the cluster, and a copy of experiment and results.
func (r runner) put(ctx context.Context, b *book, made record, x *unstructured.Unstructured) error {
	if made.verdict() == string(v1alpha1.VerdictPassed) {
		return r.remove(ctx, x)
	}
	whole := &unstructured.Unstructured{}
	whole.SetGroupVersionKind(x.GroupVersionKind())
	if err := r.cluster.Get(ctx, client.ObjectKeyFromObject(x), whole); err != nil {
		return client.IgnoreNotFound(err)
	}
	text, err := json.MarshalIndent(whole.Object, "", "  ")
	if err != nil {
		return err
	}
	if err := b.keep(made.Name+".json", text); err != nil {
		return err
	}
	if made.Status == nil || made.Status.Results == "" {
		return nil
	}
	results := &corev1.ConfigMap{}
	if err := r.cluster.Get(ctx, client.ObjectKey{Namespace: x.GetNamespace(), Name: made.Status.Results}, results); err != nil {
		return client.IgnoreNotFound(err)
	}
	for name, content := range results.BinaryData {
		if err := b.keep(made.Name+"-"+name, content); err != nil {
			return err
		}
	}
	for name, content := range results.Data {
		if err := b.keep(made.Name+"-"+name, []byte(content)); err != nil {
			return err
		}
	}
	return nil
}

func (r runner) remove(ctx context.Context, x *unstructured.Unstructured) error {
	old := x.DeepCopy()
	err := r.cluster.Delete(ctx, old, client.PropagationPolicy(metav1.DeletePropagationForeground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove experiment %s: %w", x.GetName(), err)
	}
	return wait.PollUntilContextTimeout(ctx, look, removal, true, func(ctx context.Context) (bool, error) {
		err := r.cluster.Get(ctx, client.ObjectKeyFromObject(x), old)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}
