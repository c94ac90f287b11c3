package cluster

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
)

// Refusals are the events about objects of the experiment that could not make their pods.
func (c *Cluster) Refusals(ctx context.Context, x *v1alpha1.ReplicationExperiment) ([]corev1.Event, error) {
	var found []corev1.Event
	err := pages(ctx, c.Client, func(page *corev1.EventList) bool {
		for _, e := range page.Items {
			// The names of an experiment's objects begin with its own; an event from before it began is about another of that name. Times have
			// whole seconds, and an event that is repeated keeps its first.
			if strings.HasPrefix(e.InvolvedObject.Name, x.Name+"-") && !e.CreationTimestamp.Before(&x.CreationTimestamp) {
				found = append(found, e)
			}
		}
		return true
	}, client.InNamespace(x.Namespace), client.MatchingFields{"reason": "FailedCreate"})
	return found, err
}

// LastEvent is the newest event about an object, nil when there is none.
func (c *Cluster) LastEvent(ctx context.Context, about client.Object) (*corev1.Event, error) {
	var last *corev1.Event
	err := pages(ctx, c.Client, func(page *corev1.EventList) bool {
		for i := range page.Items {
			if e := &page.Items[i]; last == nil || !seenAt(e).Before(seenAt(last)) {
				last = e.DeepCopy() // the page goes
			}
		}
		return true
	}, client.InNamespace(about.GetNamespace()), client.MatchingFields{"involvedObject.uid": string(about.GetUID())})
	return last, err
}

// seenAt is when an event was last seen: each way of recording events notes it elsewhere.
func seenAt(e *corev1.Event) time.Time {
	at := e.CreationTimestamp.Time
	times := []time.Time{e.FirstTimestamp.Time, e.LastTimestamp.Time, e.EventTime.Time}
	if e.Series != nil {
		times = append(times, e.Series.LastObservedTime.Time)
	}
	for _, t := range times {
		if t.After(at) {
			at = t
		}
	}
	return at
}
