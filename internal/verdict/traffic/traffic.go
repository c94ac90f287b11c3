// Package traffic states what nodes sent each other by replication. It is pure.
package traffic

import (
	"slices"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// Fill states the bytes of each direction in the stages that count, by the account of the node that sent them. A stage at rest would dilute them.
func Fill(e evidence.Run, s *evidence.Status) {
	if !e.Whole() {
		return
	}
	var all []v1alpha1.TrafficStatus
	took := map[string]int64{} // microseconds
	left := func(name string) bool {
		return slices.ContainsFunc(e.Spec.Load.Stages, func(s v1alpha1.Stage) bool { return s.Name == name && (s.Discard || s.AtRest()) })
	}
	for _, t := range e.Recorder.Traffic {
		if t.DurationMicroseconds == 0 || left(t.Stage) {
			continue
		}
		name := t.Node + " to " + t.Peer
		i := slices.IndexFunc(all, func(a v1alpha1.TrafficStatus) bool { return a.Name == name })
		if i < 0 {
			i, all = len(all), append(all, v1alpha1.TrafficStatus{Name: name, From: t.Node, To: t.Peer})
		}
		all[i].SentBytes += t.SentBytes
		took[name] += t.DurationMicroseconds
	}
	for i := range all {
		all[i].SentBytesPerSecond = all[i].SentBytes * 1_000_000 / took[all[i].Name]
	}
	if len(all) > 0 {
		evidence.Replication(s).Traffic = all
	}
}

// Bound says where a pod was deleted: it took along what it had counted since its last sample, and its successor has another address at first.
func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	if s.Replication == nil {
		return
	}
	for _, t := range s.Replication.Traffic {
		i := slices.IndexFunc(e.Faults, func(f v1alpha1.FaultStatus) bool {
			return (f.Pod == t.From || f.Pod == t.To) && evidence.ActionOf(e.Spec, f) == v1alpha1.ActionDeletePod
		})
		if i < 0 {
			continue
		}
		code := finding.CounterDeleted
		if e.Faults[i].Pod == t.To {
			code = finding.PeerDeleted
		}
		why := finding.Of(code, e.Faults[i].Fault).String()
		b.AtLeast("replication.traffic["+t.Name+"].sentBytes", t.SentBytes, why)
		b.AtLeast("replication.traffic["+t.Name+"].sentBytesPerSecond", t.SentBytesPerSecond, why)
	}
}
