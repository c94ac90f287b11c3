package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/internal/plugin/doctor"
	"replab.dev/internal/wire"
)

// operators of all namespaces. Their catalogue of images is in the configuration that they mount.
func (c Cluster) operators(ctx context.Context, f *doctor.Facts) {
	var pods corev1.PodList
	if f.OperatorsErr = c.List(ctx, &pods, client.MatchingLabels(operatorLabels)); f.OperatorsErr != nil {
		f.ImagesErr = f.OperatorsErr
		return
	}
	pods.Items = slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { // those that are ending, or were evicted
		return p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodFailed
	})
	for _, p := range pods.Items {
		o := doctor.Operator{Namespace: p.Namespace, Pod: p.Name, Version: p.Labels["app.kubernetes.io/version"]}
		if len(p.Spec.Containers) > 0 {
			o.Image = p.Spec.Containers[0].Image
		}
		for _, condition := range p.Status.Conditions {
			o.Ready = o.Ready || condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
		}
		f.Operators = append(f.Operators, o)
	}
	c.versions(ctx, f.Operators, pods.Items)
	f.ImagesErr = errors.New("no operator with a catalogue of images was found")
	for i, p := range pods.Items {
		config, err := c.configured(ctx, p)
		if err != nil {
			if f.Images == nil {
				f.ImagesErr = err
			}
			continue
		}
		f.Images, f.ImagesErr, f.Operators[i].Watched = catalogue(config), nil, config.WatchNamespaces
	}
}

// versions of operators whose pods have no label for it: from the status of an experiment that ended since the operator started.
func (c Cluster) versions(ctx context.Context, operators []doctor.Operator, pods []corev1.Pod) {
	if len(operators) != 1 || operators[0].Version != "" { // a status does not name the operator
		return
	}
	all, err := c.experiments(ctx, "", io.Discard)
	if err != nil {
		return
	}
	for _, x := range all {
		if s := x.Status; s.CompletionTime != nil && s.Versions != nil && s.StartTime != nil && s.StartTime.After(pods[0].CreationTimestamp.Time) {
			operators[0].Version = s.Versions.Operator
		}
	}
}

// configured is the configuration that an operator mounts.
func (c Cluster) configured(ctx context.Context, operator corev1.Pod) (config wire.OperatorConfig, err error) {
	for _, v := range operator.Spec.Volumes {
		if v.ConfigMap == nil {
			continue
		}
		var m corev1.ConfigMap
		if err := c.Get(ctx, client.ObjectKey{Namespace: operator.Namespace, Name: v.ConfigMap.Name}, &m); err != nil {
			return config, err
		}
		if err := json.Unmarshal([]byte(m.Data["operator.json"]), &config); err != nil {
			return config, fmt.Errorf("ConfigMap %s: %w", m.Name, err)
		}
		return config, nil
	}
	return config, apierrors.NewNotFound(corev1.Resource("configmaps"), "of the operator")
}

// catalogue of images that experiments get.
func catalogue(config wire.OperatorConfig) []string {
	images := []string{config.Images.Replab, config.Images.K6}
	for _, of := range []map[string]string{config.Images.Servers, config.Images.Proxies} {
		for _, i := range of {
			images = append(images, i)
		}
	}
	slices.Sort(images)
	return slices.DeleteFunc(slices.Compact(images), func(i string) bool { return i == "" })
}

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

// tainted is true if a node takes only pods that tolerate it.
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
