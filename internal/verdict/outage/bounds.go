package outage

import (
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// Bound says which outages are not exact.
func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	each, all, known := outages(e)
	if !known {
		return
	}
	for _, o := range each {
		for _, i := range o.Faults {
			boundSilence(b, "faults["+s.Faults[i].Name+"].outageMilliseconds", o.silence)
		}
	}
	boundSilence(b, "outageMilliseconds", all)
	if s.Failover == nil || s.Failover.OutageMilliseconds == nil {
		return
	}
	gap, _, _ := takeover(e)
	boundSilence(b, "failover.outageMilliseconds", slept(gap))
	clock := s.Failover.Clock
	if clock == nil {
		return
	}
	if by := evidence.Milliseconds((clock.MostAheadMicroseconds - clock.LeastAheadMicroseconds + 1) / 2); by > 0 { // the middle of the clock's bounds was taken
		for _, name := range []string{"detectionMilliseconds", "routingMilliseconds"} {
			if v := figure.At(s.Failover, name); v != nil {
				b.Between("failover."+name, *v-by, *v+by+1, finding.Of(finding.TwoClocks).String()) // it was cut to whole milliseconds
			}
		}
	}
}

func boundSilence(b *figure.Bounds, path string, s silence) {
	low, high := s.bounds()
	if s.endless {
		b.AtLeast(path, low, finding.Of(finding.NotEnded).String())
		return
	}
	b.Between(path, low, high, finding.Of(finding.PausedOrClocks).String())
}
