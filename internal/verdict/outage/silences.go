package outage

import (
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// silence is how long no write was acknowledged, in microseconds: something between low and high.
type silence struct {
	low, high int64
	// endless tells that it was not over when the probe ended: high is what was seen of it.
	endless bool
	// cut tells that it was not over when the next fault came, and is told up to then.
	cut bool
	// began is its begin after the load's start, nil where both bounds are not of one silence.
	began *int64
}

// quiet is what the recorder knows of the times without an acknowledged write, in microseconds after the load's start.
type quiet struct {
	*wire.Silences
	loadEnd int64
}

// silences of a run, false when they were not measured.
func silences(e evidence.Run) (quiet, bool) {
	w := e.Recorder
	if w == nil || w.Incomplete != "" || w.LoadEndedAt == nil || w.Availability == nil || w.Availability.Silences == nil {
		return quiet{}, false
	}
	q := quiet{Silences: w.Availability.Silences}
	if q.BucketMicroseconds <= 0 { // no recorder of ours writes that
		return quiet{}, false
	}
	q.loadEnd = q.offset(w.LoadEndedAt.Time)
	return q, true
}

func (q quiet) offset(at time.Time) int64 { return at.Sub(q.From.Time).Microseconds() }

// span of time in microseconds after the load's start. A silence belongs to it that ends after from and begins before to. When
// cut, what comes after to is none of it.
type span struct {
	from, to int64
	cut      bool
}

// longest of the silences that belong to a time of which only bounds are known: no wider than wide and no narrower than narrow.
func (q quiet) longest(wide, narrow span) silence {
	found := silence{high: q.unlisted(wide)}
	all := q.Longest
	if q.Last != nil {
		all = append(slices.Clone(all), *q.Last)
	}
	longest, surely := -1, -1 // the silences that high and low are of
	for i, s := range all {
		full := wide.part(s)
		if endless := i == len(q.Longest) && full > 0 && full == s.LengthMicroseconds; endless || full > found.high {
			longest, found.endless, found.high, found.cut = i, endless, max(found.high, full), full < s.LengthMicroseconds
		}
		if ran := narrow.part(s) - s.PausedMicroseconds; ran > found.low {
			surely, found.low = i, ran
		}
	}
	rivals := q.unlisted(wide) > found.low // it may be another silence that was the longest
	for i, s := range all {
		rivals = rivals || i != longest && wide.part(s) >= found.low
	}
	if longest >= 0 && longest == surely && !rivals {
		found.began = ptr.To(all[longest].EndMicroseconds - all[longest].LengthMicroseconds)
	}
	return found
}

// part of a silence that counts.
func (w span) part(s wire.Silence) int64 {
	begin, end := s.EndMicroseconds-s.LengthMicroseconds, s.EndMicroseconds
	switch {
	case end <= w.from || begin >= w.to:
		return 0
	case w.cut && end > w.to:
		return w.to - begin
	}
	return s.LengthMicroseconds
}

// unlisted is how long a silence can be that belongs to the span and is not listed, since it shares its bucket with a longer
// one that does not belong to it, or not as a whole.
func (q quiet) unlisted(w span) (most int64) {
	for i, s := range q.Longest {
		bucket := s.EndMicroseconds / q.BucketMicroseconds
		if i > 0 && q.Longest[i-1].EndMicroseconds/q.BucketMicroseconds == bucket && q.Longest[i-1].LengthMicroseconds >= s.LengthMicroseconds {
			continue // the first of a bucket is its longest
		}
		begins, ends := bucket*q.BucketMicroseconds, (bucket+1)*q.BucketMicroseconds
		switch {
		case s.EndMicroseconds <= w.from && ends > w.from: // after it, within the bucket
			most = max(most, min(s.LengthMicroseconds, ends-s.EndMicroseconds))
		case w.part(s) < s.LengthMicroseconds && s.EndMicroseconds > w.to && begins < w.to+q.BucketMicroseconds: // before it
			most = max(most, min(s.LengthMicroseconds, q.BucketMicroseconds))
		}
	}
	return most
}
