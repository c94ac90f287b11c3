package distance

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// came notes when a pod that came into another's place began to run, unless there is no load that it could have disturbed. Its agent was
// asked at a time by the operator's clock, and answered at another by the machine's, which the kubelet tells by too: so the two clocks need
// not agree. Where nothing is known of its beginning it came when the links of the one before were set.
func (s *Scene) came(e *v1alpha1.LinkedNodeStatus, pod *corev1.Pod, asked, answered time.Time) {
	if !s.Loaded || s.WithoutDistance || e.WithoutDistance {
		return
	}
	s.stands(e) // one that came before, and was replaced before all links stood
	e.CameTime = e.SetTime
	began := kube.FirstRan(*pod)
	if began == nil && pod.Status.StartTime != nil { // the kubelet has not told yet of a container, and has it run at the earliest then
		began = &pod.Status.StartTime.Time
	}
	if began != nil {
		at := metav1.NewMicroTime(asked.Add(-max(answered.Sub(*began), 0)))
		e.CameTime = &at
	}
}

// stand notes that all links stand: of pods that came into another's place, for how long they ran before at most.
func (s *Scene) stand() {
	d := s.status()
	for i := range d.Nodes {
		s.stands(&d.Nodes[i])
	}
	clients := s.clients()
	for _, address := range clients {
		if s.Loaded && !s.WithoutDistance && !slices.Contains(d.Clients, address) {
			d.ClientReplacements++
		}
	}
	d.Clients = clients
}

// stands keeps, of a node's pods that came into another's place, the one that ran for the longest before all links stood.
func (s *Scene) stands(e *v1alpha1.LinkedNodeStatus) {
	if e.CameTime == nil {
		return
	}
	now := metav1.NewMicroTime(s.Now())
	if e.UndelayedUntilTime == nil || now.Sub(e.CameTime.Time) > e.UndelayedUntilTime.Sub(e.UndelayedSinceTime.Time) {
		e.UndelayedSinceTime, e.UndelayedUntilTime = e.CameTime, &now
	}
	e.CameTime = nil
}

// clients are the addresses of the pods of app and proxy that a node has a link to.
func (s *Scene) clients() []string {
	var linked []string
	for _, node := range s.nodes() {
		s.linked(node, func(other *corev1.Pod, _ int64) bool {
			if ip := other.Status.PodIP; other.Labels[kube.LabelComponent] != kube.ComponentNode && !slices.Contains(linked, ip) {
				linked = append(linked, ip)
			}
			return true
		})
	}
	slices.Sort(linked)
	return linked
}
