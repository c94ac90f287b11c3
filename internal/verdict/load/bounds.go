package load

import (
	"slices"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// Bound says which figures of the load are not exact.
func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	if s.Load == nil {
		return
	}
	boundStage(b, "load.", e.Recorder.Load, s.Load.StageFigures, compare.Contradicted(e.Spec, s.Load))
	for i, stage := range s.Load.Stages { // they are the recorder's
		contradicted := ""
		if stage.ClosedLoopHolds == "False" {
			contradicted = compare.LoopBroken(stage.Name)
		}
		boundStage(b, "load.stages["+stage.Name+"].", e.Recorder.Stages[i], stage.StageFigures, contradicted)
	}
	if s.Load.StaleReads != nil && *s.Load.StaleReads < e.Recorder.StaleReads {
		b.AtLeast("load.staleReads", *s.Load.StaleReads, finding.Of(finding.LostReadersStale).String())
	}
}

func boundStage(b *figure.Bounds, prefix string, r wire.StageResult, f v1alpha1.StageFigures, contradicted string) {
	switch least, most := rate(r); {
	case least == nil:
	case most == nil:
		b.AtLeast(prefix+"requestsPerSecondMilli", *least, compare.Paused(f))
		b.AtLeast(prefix+"requestsPerSecond", *least/1000, compare.Paused(f))
	case *most > *least:
		b.Between(prefix+"requestsPerSecondMilli", *least, *most, compare.Paused(f))
		b.Between(prefix+"requestsPerSecond", *least/1000, (*most+999)/1000, compare.Paused(f))
	}
	if f.Latency == nil {
		return
	}
	if contradicted != "" {
		b.Unknown(prefix+"latency.meanMicroseconds", contradicted)
	}
	for _, p := range []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max} {
		path := prefix + "latency." + string(p)
		if contradicted != "" {
			b.Unknown(path, contradicted)
		} else if slices.Contains(lowerLatencies(r.Latency, f.DroppedIterations), p) {
			b.AtLeast(path, *figure.At(f.Latency, string(p)), whyLower(p, f).String())
		}
	}
}
