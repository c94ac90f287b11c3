package outage

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// firstBucket is the width of the buckets of a load that fits into them.
const firstBucket = 100 * time.Millisecond

// silences keeps, for each bucket of time, the longest silence that ended in it. Since silences follow each other, one that is
// as long as a bucket shares it with none that is longer: whoever asks later for the longest between any two moments finds it,
// or knows that it is shorter than a bucket. When there are too many buckets they are merged in pairs.
//
// A silence in which this process did not run may have been shorter, so the longest without such times is kept as well.
type silences struct {
	from    time.Time // of the first silence and the first bucket, zero before the load
	width   time.Duration
	buckets []bucket
}

type bucket struct{ longest, awake silence } // without a length when none ended in it

// silence ended so long after silences.from.
type silence struct{ end, length, paused time.Duration }

func (s silence) ran() time.Duration { return s.length - s.paused }

func (b *bucket) take(s silence) {
	if s.length > b.longest.length {
		b.longest = s
	}
	if s.ran() > b.awake.ran() {
		b.awake = s
	}
}

func (s *silences) begin(at time.Time) { s.from, s.width = at, firstBucket }

// add takes a silence; each must end after the one before it.
func (s *silences) add(from, to time.Time, paused time.Duration) {
	if s.from.IsZero() {
		return
	}
	end := max(to.Sub(s.from), 0)
	for end >= wire.MaxSilenceBuckets*s.width {
		s.merge()
	}
	for i := int(end / s.width); len(s.buckets) <= i; {
		s.buckets = append(s.buckets, bucket{})
	}
	s.buckets[end/s.width].take(silence{end, to.Sub(from), min(paused, to.Sub(from))})
}

func (s *silences) merge() {
	s.width *= 2
	for i, b := range s.buckets {
		if i%2 == 0 {
			s.buckets[i/2] = b
			continue
		}
		s.buckets[i/2].take(b.longest)
		s.buckets[i/2].take(b.awake)
	}
	s.buckets = s.buckets[:(len(s.buckets)+1)/2]
}

func (s *silences) result() *wire.Silences {
	if s.from.IsZero() {
		return nil
	}
	r := &wire.Silences{From: metav1.NewMicroTime(s.from), BucketMicroseconds: s.width.Microseconds()}
	for _, b := range s.buckets {
		if b.longest.length > 0 {
			r.Longest = append(r.Longest, b.longest.result())
		}
		if b.awake.length > 0 && b.awake != b.longest {
			r.Longest = append(r.Longest, b.awake.result())
		}
	}
	return r
}

func (s silence) result() wire.Silence {
	return wire.Silence{
		EndMicroseconds: s.end.Microseconds(), LengthMicroseconds: s.length.Microseconds(), PausedMicroseconds: s.paused.Microseconds(),
	}
}
