package load

import (
	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// resources of a node over all stages that are not discarded.
func resources(w *wire.RecorderResults, node string) *v1alpha1.ResourceFigures {
	if w == nil || w.Incomplete != "" {
		return nil
	}
	discarded := map[string]bool{}
	for _, s := range w.Stages {
		discarded[s.Name] = s.Discarded
	}
	var (
		sum       v1alpha1.ResourceFigures
		cpu, time float64
	)
	for _, r := range w.Resources {
		if r.Node != node || discarded[r.Stage] {
			continue
		}
		cpu += float64(r.CPUMillicores) * float64(r.DurationMicroseconds)
		time += float64(r.DurationMicroseconds)
		sum.MemoryPeakBytes = max(sum.MemoryPeakBytes, r.ResidentPeakBytes)
		sum.BlockReadBytes += r.ReadBytes
		sum.BlockWrittenBytes += r.WrittenBytes
		sum.NetworkReceivedBytes += r.NetworkReceivedBytes
		sum.NetworkSentBytes += r.NetworkSentBytes
	}
	if time == 0 {
		return nil
	}
	sum.CPUMillicores = int64(cpu / time)
	return &sum
}
