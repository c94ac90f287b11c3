//go:build e2e

package e2e

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/e2e-framework/pkg/envconf"

	"replab.dev/api/v1alpha1"
)

// cluster has room for two runs whose load leaves half of a small machine idle. A run holds its room from its creation until its load is
// over. While it settles, is audited, compared and removed, the next run is deployed.
var cluster = semaphore.NewWeighted(wholeCluster)

// hold waits for room. It is not FIFO: small runs may overtake a run that needs the whole cluster.
func hold(ctx context.Context, t *testing.T, need int64) {
	t.Helper()
	for !cluster.TryAcquire(need) {
		select {
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		case <-time.After(time.Second):
		}
	}
}

const (
	halfCluster  int64 = 1
	wholeCluster int64 = 2
)

// room is how much of the cluster a run needs. Closed loops, scripts and links measure what the machine gives them.
func room(x *v1alpha1.ReplicationExperiment) int64 {
	busy := func(s v1alpha1.Stage) bool { return s.ClosedUsers() > 0 && !s.Discard }
	if x.Spec.Load.Script != nil || len(x.Spec.Topology.Links) > 0 || slices.ContainsFunc(x.Spec.Load.Stages, busy) {
		return wholeCluster
	}
	return halfCluster
}

// withRoom starts a run and holds the room that it needs until its load is over.
func withRoom(ctx context.Context, t *testing.T, cfg *envconf.Config, need int64, start starter) *v1alpha1.ReplicationExperiment {
	t.Helper()
	hold(ctx, t, need)
	defer cluster.Release(need)
	x := start(ctx, t, cfg)
	await(ctx, t, cfg, x, completeTimeout, "done with its load", func() bool {
		return x.Status.Verdict != "" || condition(x, v1alpha1.ConditionLoadFinished).Status == metav1.ConditionTrue
	})
	return x
}

// requests is the processor time that the pods of all runs may request at a time, in thousandths of a core: what is free, and at most two cores
// but for the operator's. A run holds its part from its creation until it was removed.
var (
	requests     *semaphore.Weighted
	smallMachine = int64(1900)
)

// measureRoom looks at the cluster before the first run.
func measureRoom(ctx context.Context, cfg *envconf.Config) error {
	var nodes corev1.NodeList
	var pods corev1.PodList
	if err := errors.Join(cfg.Client().Resources().List(ctx, &nodes), cfg.Client().Resources().List(ctx, &pods)); err != nil {
		return err
	}
	processors, used := map[string]int64{}, int64(0)
	for _, n := range nodes.Items {
		if !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }) {
			kernel := n.Status.NodeInfo.BootID // nodes of kind share one, and each has all its processors
			processors[kernel] = max(processors[kernel], n.Status.Allocatable.Cpu().MilliValue())
			used += requestedOn(n.Name, pods.Items)
		}
	}
	free := -used
	for _, of := range processors {
		free += of
	}
	smallMachine = min(smallMachine, max(free, 1))
	requests = semaphore.NewWeighted(smallMachine)
	return nil
}

func requestedOn(node string, pods []corev1.Pod) int64 {
	all := int64(0)
	for _, p := range pods {
		if p.Spec.NodeName == node && p.Status.Phase == corev1.PodRunning {
			for _, c := range p.Spec.Containers {
				all += c.Resources.Requests.Cpu().MilliValue()
			}
		}
	}
	return all
}

// requested is what the pods of a run request in all. A node that fits on no machine is never scheduled. A run with links has the machine for
// itself: others would delay its packets.
func requested(x *v1alpha1.ReplicationExperiment) int64 {
	const instruments, agent = 250, 10
	node := int64(100)
	if asked, ok := x.Spec.Topology.Resources.Requests[corev1.ResourceCPU]; ok {
		node = asked.MilliValue()
	}
	switch {
	case len(x.Spec.Topology.Links) > 0:
		return smallMachine
	case node > smallMachine:
		return instruments
	}
	return min(instruments+int64(x.Spec.Topology.Nodes)*(node+agent), smallMachine)
}
