// Package cached holds the experiments that the operator watches. Each object is decoded by itself, so that one that cannot be decoded
// holds up no other. It is the only reader of experiments for the operator's loop.
package cached

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
)

var (
	kind     = v1alpha1.GroupVersion.WithKind("ReplicationExperiment")
	resource = schema.GroupResource{Group: kind.Group, Resource: "replicationexperiments"}
)

// ErrNotSynced is returned before all experiments were read once.
var ErrNotSynced = errors.New("not read yet")

// Kind is the object to watch. The API server's answers are decoded as unstructured objects, which cannot fail.
func Kind() client.Object {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u
}

// Experiments reads the cache of a manager that was made with its Options.
type Experiments struct {
	mu        sync.Mutex
	informers []toolscache.SharedIndexInformer // one for each namespace that is watched, or one for all
}

// Options of a manager's cache whose experiments e reads. No namespaces: all.
func (e *Experiments) Options(namespaces []string) cache.Options {
	o := cache.Options{
		NewInformer:                 e.newInformer,
		ByObject:                    map[client.Object]cache.ByObject{Kind(): {Transform: decoded}, &v1alpha1.ReplicationSuite{}: {Transform: lean}},
		ReaderFailOnMissingInformer: true, // a typed read would start a second watch, which one object can stop
	}
	if len(namespaces) > 0 {
		o.DefaultNamespaces = map[string]cache.Config{}
	}
	for _, n := range namespaces {
		o.DefaultNamespaces[n] = cache.Config{}
	}
	return o
}

func (e *Experiments) newInformer(lw toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	informer := toolscache.NewSharedIndexInformer(lw, object, resync, indexers)
	if u, ok := object.(*unstructured.Unstructured); ok && u.GroupVersionKind() == kind {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.informers = append(e.informers, informer)
	}
	return informer
}

// Get implements client.Reader for experiments. Its error is an *UndecodableError for one that cannot be decoded.
func (e *Experiments) Get(_ context.Context, key types.NamespacedName, into client.Object, _ ...client.GetOption) error {
	x, ok := into.(*v1alpha1.ReplicationExperiment)
	if !ok {
		return fmt.Errorf("a %T is no experiment", into)
	}
	for _, informer := range e.all() {
		object, found, err := informer.GetStore().GetByKey(key.String())
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		switch object := object.(type) {
		case *v1alpha1.ReplicationExperiment:
			object.DeepCopyInto(x)
			return nil
		case *Undecodable:
			return &UndecodableError{object}
		}
		return fmt.Errorf("experiment %s is a %T in the cache", key, object)
	}
	return apierrors.NewNotFound(resource, key.Name)
}

// List implements client.Reader for all experiments that can be decoded. They are the cache's own: not to be changed.
func (e *Experiments) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	list, ok := into.(*v1alpha1.ReplicationExperimentList)
	if !ok || len(options) > 0 {
		return fmt.Errorf("the cache lists all experiments, and not a %T with %d options", into, len(options))
	}
	list.Items = nil
	return e.each(func(object any) {
		if x, ok := object.(*v1alpha1.ReplicationExperiment); ok {
			list.Items = append(list.Items, *x)
		}
	})
}

// Undecodable are the experiments that cannot be decoded. They are the cache's own: not to be changed.
func (e *Experiments) Undecodable() ([]*Undecodable, error) {
	var bad []*Undecodable
	err := e.each(func(object any) {
		if u, ok := object.(*Undecodable); ok {
			bad = append(bad, u)
		}
	})
	return bad, err
}

func (e *Experiments) all() []toolscache.SharedIndexInformer {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.informers)
}

func (e *Experiments) each(do func(object any)) error {
	informers := e.all()
	if len(informers) == 0 {
		return ErrNotSynced
	}
	for _, informer := range informers {
		if !informer.HasSynced() {
			return ErrNotSynced
		}
		for _, object := range informer.GetStore().List() {
			do(object)
		}
	}
	return nil
}
