package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize bounds the objects of a list that are in memory at the same time.
const pageSize = 100

// fatPageSize is that of objects that may have a megabyte each, such as pods that anybody makes.
const fatPageSize = 5

// pages lists a page at a time, until each returns false.
func pages[L any, P interface {
	*L
	client.ObjectList
}](ctx context.Context, from client.Reader, each func(P) (more bool), options ...client.ListOption) error {
	for next := ""; ; {
		page := P(new(L))
		if err := from.List(ctx, page, append([]client.ListOption{client.Limit(pageSize), client.Continue(next)}, options...)...); err != nil {
			return err
		}
		if next = page.GetContinue(); !each(page) || next == "" {
			return nil
		}
	}
}

// SeveralMachines tells whether an experiment's pods can run on more than one machine. It reads no further than it must.
func SeveralMachines(ctx context.Context, from client.Reader) (bool, error) {
	found := 0
	err := pages(ctx, from, func(page *corev1.NodeList) bool {
		for i := range page.Items {
			if takesPods(&page.Items[i]) {
				found++
			}
		}
		return found < 2
	})
	return found > 1, err
}

// takesPods tells whether an experiment's pods can run on a node: it is ready and not set apart.
func takesPods(n *corev1.Node) bool {
	for _, t := range n.Spec.Taints {
		if t.Effect != corev1.TaintEffectPreferNoSchedule {
			return false
		}
	}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue && !n.Spec.Unschedulable
		}
	}
	return false
}
