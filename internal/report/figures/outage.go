package figures

import (
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/wire"
)

// Outage of a fault, in seconds of the load.
type Outage struct {
	From, To float64
	// Gap of the recorder that it is, or a part of; nil where no write failed in it and it was too short to be listed.
	Gap *wire.Gap
	// Longer tells that the gap went on: until after the next fault, or beyond the end of the recording.
	Longer bool
}

// OutageOf a fault, nil where it is unknown when it was.
func (d *Document) OutageOf(of v1alpha1.FaultStatus) *Outage {
	if of.InjectedTime == nil || of.OutageStartTime == nil || of.OutageMilliseconds == nil || d.Began().IsZero() {
		return nil
	}
	from := d.Moment(*of.OutageStartTime, nil)
	o := &Outage{From: from, To: from + float64(*of.OutageMilliseconds)/1000}
	if d.Recorder == nil || d.Recorder.Availability == nil {
		return o
	}
	middle := of.OutageStartTime.Add(time.Duration(*of.OutageMilliseconds) * time.Millisecond / 2)
	for i, g := range d.Recorder.Availability.Gaps {
		if over := g.NextAcknowledgedAt; g.LastAcknowledgedAt.Time.Before(middle) && (over == nil || over.After(middle)) {
			o.Gap = &d.Recorder.Availability.Gaps[i]
			o.Longer = over == nil || d.Moment(*over, nil)-o.To > 0.001 // it is in whole milliseconds
		}
	}
	return o
}

// Phase of a failover that was measured.
type Phase struct {
	figure.Phase
	Took figure.Figure
	// From and To are milliseconds after the last write that the old primary acknowledged.
	From, To int64
}

// Phases of the failover, up to the first that is unknown: when the next one began is then unknown too.
func (d *Document) Phases() (all []Phase) {
	from := int64(0)
	for _, p := range figure.Phases() {
		took := d.Figure("status." + p.Path())
		if took.Value == nil {
			break
		}
		all = append(all, Phase{p, took, from, from + *took.Value})
		from += *took.Value
	}
	return all
}
