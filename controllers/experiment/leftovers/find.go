// Package leftovers finds and removes what deleted experiments leave behind.
package leftovers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"replab.dev/internal/kube"
)

const (
	pageSize   = 200 // objects of one answer
	retryAfter = 5 * time.Second
)

// Source has the reconciler look once at each experiment of which objects exist when the operator starts. One that was deleted while
// no operator worked is swept.
func Source(api client.Reader, namespaces []string) source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		go func() {
			for ctx.Err() == nil {
				keys, err := leftBehind(ctx, api, namespaces)
				for _, key := range keys {
					queue.Add(ctrl.Request{NamespacedName: key})
				}
				if err == nil {
					return
				}
				log.FromContext(ctx).Error(err, "find what deleted experiments have left behind")
				select {
				case <-ctx.Done():
				case <-time.After(retryAfter):
				}
			}
		}()
		return nil
	})
}

// leftBehind are the experiments that may have left something behind, whether they are there or not.
func leftBehind(ctx context.Context, api client.Reader, namespaces []string) ([]types.NamespacedName, error) {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	var keys []types.NamespacedName
	for _, namespace := range namespaces {
		for kind, with := range map[string]client.MatchingLabels{
			"Pod":                   {kube.LabelManagedBy: kube.ManagedBy},
			"PersistentVolumeClaim": {kube.LabelManagedBy: kube.ManagedBy},
			"ConfigMap":             {kube.LabelManagedBy: kube.ManagedBy, kube.LabelComponent: kube.ComponentRemains},
		} {
			found, err := experimentsOf(ctx, api, namespace, kind, with)
			keys = append(keys, found...)
			if err != nil {
				return keys, fmt.Errorf("list objects of kind %s: %w", kind, err)
			}
		}
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(keys), nil
}

// experimentsOf are those that objects of one kind were made for, page by page, so that memory does not grow with the cluster.
func experimentsOf(ctx context.Context, api client.Reader, namespace, kind string, with client.MatchingLabels) ([]types.NamespacedName, error) {
	found := map[types.NamespacedName]bool{}
	var keys []types.NamespacedName
	for page := ""; ; {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))
		if err := api.List(ctx, list, client.InNamespace(namespace), with, client.Limit(pageSize), client.Continue(page)); err != nil {
			return keys, err
		}
		for _, o := range list.Items {
			key := types.NamespacedName{Namespace: o.Namespace, Name: o.Labels[kube.LabelExperiment]}
			if key.Name != "" && !found[key] {
				found[key] = true
				keys = append(keys, key)
			}
		}
		if page = list.Continue; page == "" {
			return keys, nil
		}
	}
}
