package plugin

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/internal/plugin/doctor"
)

// nodes that take pods: what is free on them, and which images they have.
func (c Cluster) nodes(ctx context.Context, f *doctor.Facts) {
	var nodes corev1.NodeList
	var pods corev1.PodList
	if f.NodesErr = errors.Join(c.List(ctx, &nodes), c.List(ctx, &pods)); f.NodesErr != nil {
		f.ImagesErr = errors.Join(f.ImagesErr, f.NodesErr)
		return
	}
	asked := map[string]int64{}
	for _, p := range pods.Items {
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, container := range p.Spec.Containers {
			asked[p.Spec.NodeName] += container.Resources.Requests.Cpu().MilliValue()
		}
	}
	for _, n := range nodes.Items {
		for _, i := range n.Status.Images {
			for _, name := range i.Names {
				present(f.Present, name, n.Name)
			}
		}
		if n.Spec.Unschedulable || !ready(n) {
			continue
		}
		whole := n.Status.Allocatable.Cpu().MilliValue()
		f.Nodes = append(f.Nodes, doctor.Node{Name: n.Name, FreeCPU: whole - asked[n.Name], Tainted: tainted(n)})
	}
}

func ready(n corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// tainted tells that a machine takes only pods that tolerate it.
func tainted(n corev1.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	})
}

// present notes an image under the name that it has in a node's status, and under the shorter ones that mean the same.
func present(on map[string]string, image, node string) {
	on[image] = node
	for _, prefix := range []string{"docker.io/library/", "docker.io/"} {
		if short, ok := strings.CutPrefix(image, prefix); ok {
			on[short] = node
		}
	}
}
