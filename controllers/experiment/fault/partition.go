package fault

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
)

// sides are the components whose pods a partition cuts off. Instruments are on no side: what a fault does must be seen.
var sides = map[v1alpha1.PartitionFrom][]string{
	v1alpha1.PartitionPeers:    {kube.ComponentNode},
	v1alpha1.PartitionClients:  {kube.ComponentProxy, kube.ComponentSocial},
	v1alpha1.PartitionEveryone: {kube.ComponentNode, kube.ComponentManager, kube.ComponentProxy, kube.ComponentSocial},
	v1alpha1.PartitionZone:     {kube.ComponentNode}, // of other zones
	v1alpha1.PartitionStore:    nil,                  // the API server is no pod
}

// cutsStore tells whether a partition cuts a node off from the API server too. Everyone includes it where the nodes decide there who takes
// the writes: a node that nobody else reached would keep them for ever.
func (s *Scene) cutsStore(f v1alpha1.Fault) bool {
	return f.PartitionFrom == v1alpha1.PartitionStore || f.PartitionFrom == v1alpha1.PartitionEveryone && s.Store
}

// cutOff returns the pods that a partition of a pod cuts it off from.
func (s *Scene) cutOff(f v1alpha1.Fault, from *corev1.Pod) []corev1.Pod {
	return slices.DeleteFunc(slices.Clone(s.Pods), func(p corev1.Pod) bool {
		spared := f.PartitionFrom == v1alpha1.PartitionZone && s.together(from.Name, p.Name)
		return !slices.Contains(sides[f.PartitionFrom], p.Labels[kube.LabelComponent]) || p.Name == from.Name || p.Status.PodIP == "" || spared
	})
}

// alreadyCut names a partition that holds the same node, or is about to be, and cuts it off from all of these addresses, and from the API
// server where this one does: "" without one.
func (s *Scene) alreadyCut(t target, from []string, called []target) string {
	if t.entry.State == v1alpha1.FaultInjected {
		return ""
	}
	covers := func(e *v1alpha1.FaultStatus, f v1alpha1.Fault) bool {
		cut := addresses(s.cutOff(f, t.pod))
		return e != t.entry && e.Pod == t.entry.Pod && (s.cutsStore(f) || !s.cutsStore(t.fault)) && !slices.ContainsFunc(from, func(a string) bool { return !slices.Contains(cut, a) })
	}
	for e, f := range s.holds {
		if s.cutting(e, f) && covers(e, f) {
			return e.Name
		}
	}
	for _, c := range called {
		if c.fault.Action == v1alpha1.ActionPartition && covers(c.entry, c.fault) {
			return c.entry.Name
		}
	}
	return ""
}

func addresses(pods []corev1.Pod) []string {
	var found []string
	for _, p := range pods {
		found = append(found, p.Status.PodIP)
	}
	return found
}

// keepInterval is the time between two looks for pods that came while a partition holds.
const keepInterval = 500 * time.Millisecond

// Keep has the partitions that hold also cut off the pods that came, or came back with another address, since they began. A pod of
// which something ran before that has been reached: the fault is not what was planned. What fails is tried again the next time.
func Keep(ctx context.Context, s *Scene) step.Outcome {
	out := step.Done()
	for e, f := range s.holds {
		if !s.cutting(e, f) {
			continue
		}
		out = step.Both(out, step.Wait(keepInterval, v1alpha1.ReasonHolding, "fault %s holds", e.Name))
		if pod := s.pod(e); pod != nil && pod.Status.PodIP != "" {
			s.widen(ctx, e, f, pod)
		}
	}
	return out
}

// cutting tells whether a partition holds, as far as the operator's clock can tell.
func (s *Scene) cutting(e *v1alpha1.FaultStatus, f v1alpha1.Fault) bool {
	return f.Action == v1alpha1.ActionPartition && (e.State == v1alpha1.FaultInjected || e.State == v1alpha1.FaultConfirmed) && s.holding(e, f)
}

func (s *Scene) widen(ctx context.Context, e *v1alpha1.FaultStatus, f v1alpha1.Fault, pod *corev1.Pod) {
	record, err := s.Agents.FaultState(ctx, pod.Status.PodIP, e.Name)
	if err != nil || record == nil || !record.Concluded || record.ReleasedAt != nil {
		return
	}
	wanted := s.cutOff(f, pod)
	note := func(p corev1.Pod) {
		if e.Leak == "" {
			e.Leak = fmt.Sprintf("replacement pod %s (%s) ran before it was cut off too", p.Name, p.Status.PodIP)
		}
	}
	lacking := false
	for _, p := range wanted {
		began := kube.FirstRan(p)
		if !slices.Contains(record.Addresses, p.Status.PodIP) {
			lacking = true
			if began != nil {
				note(p)
			}
			continue
		}
		for _, w := range record.Widened {
			if w.Address == p.Status.PodIP && began != nil && began.Before(w.At.Time) {
				note(p)
			}
		}
	}
	token, err := s.Token(ctx)
	if !lacking || err != nil {
		return
	}
	request := requestOf(target{fault: f, entry: e}, wire.FaultPartition)
	request.Addresses, request.Store = s.stillTheirs(record.Addresses, addresses(wanted)), s.cutsStore(f)
	s.Agents.Faults(ctx, token, []Call{{PodIP: pod.Status.PodIP, FaultRequest: *request}})
}

// stillTheirs are the new addresses and those of before: a pod that goes may still send. One that another pod has now, such as an
// instrument, is left out.
func (s *Scene) stillTheirs(before, now []string) []string {
	all := slices.Clone(now)
	for _, a := range before {
		taken := slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool { return p.Status.PodIP == a })
		if !slices.Contains(all, a) && !taken {
			all = append(all, a)
		}
	}
	return all
}
