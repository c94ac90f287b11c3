package load

import (
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
	if f.Latency != nil {
		boundLatency(b, prefix+"latency.", r.Latency, f, contradicted)
	}
}

func boundLatency(b *figure.Bounds, prefix string, l *wire.Latency, f v1alpha1.StageFigures, contradicted string) {
	const mean = "meanMicroseconds"
	switch {
	case contradicted != "":
		b.Unknown(prefix+mean, contradicted)
	case f.Failures > 0 || lower(l, f, v1alpha1.Max, 100): // it leaves out nothing either
		b.AtLeast(prefix+mean, f.Latency.MeanMicroseconds, whyLower(100, f).String())
	}
	for _, p := range ranked {
		path, value := prefix+string(p.name), *figure.At(f.Latency, string(p.name))
		switch {
		case contradicted != "":
			b.Unknown(path, contradicted)
		case lower(l, f, p.name, p.percent):
			b.AtLeast(path, value, whyLower(p.percent, f).String())
		default:
			b.Between(path, value, mostWithUnsent(f, p.percent), finding.Of(finding.WereDropped, *f.DroppedIterations).String())
		}
	}
}
