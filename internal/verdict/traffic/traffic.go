// Package traffic states what nodes sent each other by replication. It is pure.
package traffic

import (
	"slices"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/verdict/load"
	"replab.dev/internal/wire"
)

// Fill states the bytes of each direction in the stages that count, by the account of the node that sent them. A stage at rest would dilute them.
func Fill(e evidence.Run, s *evidence.Status) {
	if !e.Whole() {
		return
	}
	var all []v1alpha1.TrafficStatus
	counts := func(name string) bool {
		return slices.ContainsFunc(load.BusyStages(e), func(s wire.StageResult) bool { return s.Name == name })
	}
	for _, t := range e.Recorder.Traffic {
		if t.DurationMicroseconds == 0 || !counts(t.Stage) {
			continue
		}
		name := t.Node + " to " + t.Peer
		i := slices.IndexFunc(all, func(a v1alpha1.TrafficStatus) bool { return a.Name == name })
		if i < 0 {
			i, all = len(all), append(all, v1alpha1.TrafficStatus{Name: name, From: t.Node, To: t.Peer})
		}
		all[i].SentBytes += t.SentBytes
	}
	for i := range all {
		took, _ := sampled(e, all[i])
		all[i].SentBytesPerSecond = all[i].SentBytes * 1_000_000 / took
	}
	if len(all) > 0 {
		evidence.Replication(s).Traffic = all
	}
}

// Bound says where more may have been sent than the samples tell.
func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	if s.Replication == nil {
		return
	}
	for _, t := range s.Replication.Traffic {
		took, gap := sampled(e, t)
		why := deleted(e, t)
		if why.None() && gap > 0 {
			why = finding.Of(finding.NotSampled, gap/1000)
		}
		if !why.None() {
			b.AtLeast("replication.traffic["+t.Name+"].sentBytes", t.SentBytes, why.String())
			b.AtLeast("replication.traffic["+t.Name+"].sentBytesPerSecond", t.SentBytes*1_000_000/(took+gap), why.String())
		}
	}
}

// deleted names a fault that deleted one of the pods, if there is one. The sender took along what it had counted since its last sample, and the
// receiver's successor has another address at first.
func deleted(e evidence.Run, t v1alpha1.TrafficStatus) finding.Finding {
	i := slices.IndexFunc(e.Faults, func(f v1alpha1.FaultStatus) bool {
		return (f.Pod == t.From || f.Pod == t.To) && evidence.ActionOf(e.Spec, f) == v1alpha1.ActionDeletePod
	})
	switch {
	case i < 0:
		return finding.Finding{}
	case e.Faults[i].Pod == t.To:
		return finding.Of(finding.PeerDeleted, e.Faults[i].Fault)
	}
	return finding.Of(finding.CounterDeleted, e.Faults[i].Fault)
}

// sampled is for how many microseconds of the stages that count there are samples, and for how many there are none.
func sampled(e evidence.Run, t v1alpha1.TrafficStatus) (took, gap int64) {
	for _, stage := range load.BusyStages(e) {
		var inStage int64
		for _, of := range e.Recorder.Traffic {
			if of.Node == t.From && of.Peer == t.To && of.Stage == stage.Name {
				inStage += of.DurationMicroseconds
			}
		}
		took, gap = took+inStage, gap+load.Unsampled(inStage, stage)
	}
	return took, gap
}
