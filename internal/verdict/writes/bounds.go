package writes

import (
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/degraded"
	"replab.dev/internal/verdict/evidence"
)

func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	if s.Writes == nil || s.Writes.Present == nil {
		return
	}
	if why := riskless(e); why != "" && s.Writes.Lost != nil {
		b.AtLeast("writes.lost", *s.Writes.Lost, why)
	} else if why != "" {
		b.Unknown("writes.lost", why)
	}
	if least, most, _ := degraded.LossesWhileDegraded(e); least != nil && most != nil {
		b.Between("writes.lostWhileDegraded", *least, *most, "their times are known to some milliseconds")
	}
	if e.Audit == nil {
		return
	}
	for _, a := range e.Audit.Nodes {
		if why := DataGone(e, a); why != "" {
			b.Unknown("nodes["+a.Name+"].ghostWrites", why)
			b.Unknown("ghostWrites", "those of node "+a.Name+" are unknown: "+why)
		}
	}
}
