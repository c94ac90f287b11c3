package audit

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// lossBucket is how finely the times of lost writes are kept.
const lossBucket = 100 * time.Millisecond

// lossTimes are when lost writes were acknowledged. It holds the first and the last of each bucket, however many were lost.
type lossTimes map[int64]wire.LostSpan

func (l *lossTimes) add(at time.Time) {
	if *l == nil {
		*l = lossTimes{}
	}
	bucket := at.UnixMicro() / lossBucket.Microseconds()
	s, ok := (*l)[bucket]
	if t := metav1.NewMicroTime(at); !ok {
		s = wire.LostSpan{From: t, To: t}
	} else if at.Before(s.From.Time) { // a little out of order: several writes end at once
		s.From = t
	} else if at.After(s.To.Time) {
		s.To = t
	}
	s.Writes++
	(*l)[bucket] = s
}

// spans returns at most so many spans, and how far apart two acknowledgements within one may lie.
func (l lossTimes) spans(most int) (spans []wire.LostSpan, within time.Duration) {
	buckets := slices.Sorted(maps.Keys(l))
	for within = lossBucket; ; within *= 2 {
		spans = nil
		for _, b := range buckets {
			s := l[b]
			if n := len(spans) - 1; n >= 0 && s.From.Sub(spans[n].To.Time) <= within {
				spans[n].To = s.To
				spans[n].Writes += s.Writes
				continue
			}
			spans = append(spans, s)
		}
		if len(spans) <= most {
			return spans, within
		}
	}
}
