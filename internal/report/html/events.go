package html

import (
	"fmt"
	"math"
	"slices"

	"replab.dev/internal/figure"
	"replab.dev/internal/report/chart"
	"replab.dev/internal/report/figures"
)

// stages are the times of the stages, and whether each counts.
func stages(d *figures.Document) (all []chart.Band) {
	for _, s := range d.Recorder.Stages {
		if s.StartedAt == nil {
			continue
		}
		b := chart.Band{Name: s.Name, Class: "stage", Span: chart.Span{From: d.Moment(*s.StartedAt, nil)}}
		b.To = b.From + float64(s.DurationMicroseconds)/1e6
		if s.DurationMicroseconds == 0 && s.EndedAt != nil { // at rest
			b.To = d.Moment(*s.EndedAt, nil)
		}
		if s.Discarded {
			b.Class = "discarded"
		}
		all = append(all, b)
	}
	return all
}

// bands are the stages that do not count, and the times without an acknowledged write.
func bands(d *figures.Document) (all []chart.Band) {
	for _, b := range stages(d) {
		if b.Class == "discarded" {
			all = append(all, b)
		}
	}
	if a := d.Recorder.Availability; a != nil {
		for _, g := range a.Gaps {
			b := chart.Band{Name: "no acknowledged write", Class: "outage", Span: chart.Span{From: d.Moment(g.LastAcknowledgedAt, nil), To: math.Inf(1)}}
			if g.NextAcknowledgedAt != nil {
				b.To = d.Moment(*g.NextAcknowledgedAt, nil)
			}
			all = append(all, b)
		}
	}
	return all
}

func marks(d *figures.Document) (all []chart.Mark) {
	for _, f := range d.Status.Faults {
		if f.InjectedTime != nil {
			all = append(all, chart.Mark{At: d.Moment(*f.InjectedTime, f.Clock), Class: "fault"})
		}
	}
	if f := d.Status.Failover; f != nil && f.PromotedTime != nil {
		all = append(all, chart.Mark{At: d.Moment(*f.PromotedTime, f.Clock), Class: "event"})
	}
	for _, r := range d.Status.RestartsInPlace {
		all = append(all, chart.Mark{At: d.Moment(r.RejoinedTime, r.Clock), Class: "event"})
	}
	return all
}

// eventsOf is the picture of what has a name: stages, faults for as long as they held, and below them what the topology did.
func eventsOf(d *figures.Document, c chart.Timeline) chart.Timeline {
	c.Key, c.Title, c.Rows = "events", "Stages, faults, and what the topology did", 1
	for _, b := range stages(d) {
		b.Row = 1
		c.Bands = append(c.Bands, b)
	}
	var ends []float64 // of the names in the rows of faults
	for _, f := range d.Status.Faults {
		if f.InjectedTime == nil {
			continue
		}
		at := d.Moment(*f.InjectedTime, f.Clock)
		b := chart.Band{Name: f.Name + ": " + f.Pod, Class: "fault", Loose: true, Span: chart.Span{From: at, To: at}}
		if f.ReleasedTime != nil {
			b.To = d.Moment(*f.ReleasedTime, f.Clock)
		}
		room := float64(len(b.Name)) * (c.View.To - c.View.From) / lettersAcross
		row := slices.IndexFunc(ends, func(end float64) bool { return end < at-room/3 })
		if row < 0 {
			row, ends = len(ends), append(ends, 0)
		}
		ends[row] = math.Max(b.To, at+room)
		b.Row = 2 + row
		c.Bands = append(c.Bands, b)
	}
	c.Rows += len(ends)
	for _, row := range [][]chart.Band{outages(d), happened(d)} {
		if len(row) > 0 {
			c.Rows++
		}
		for _, b := range row {
			b.Row = c.Rows
			c.Bands = append(c.Bands, b)
		}
	}
	c.Height = 20 * c.Rows
	return c
}

// lettersAcross are about as many as a narrow picture has room for in a row.
const lettersAcross = 55

// outages of the faults. Faults may share one, and one that the next fault cut short is a part of that fault's.
func outages(d *figures.Document) (all []chart.Band) {
	for _, f := range d.Status.Faults {
		o := d.OutageOf(f)
		if o == nil {
			continue
		}
		b := chart.Band{Name: "outage " + d.Figure("status.faults["+f.Name+"].outageMilliseconds").Brief(), Class: "outage", Loose: true, Span: chart.Span{From: o.From, To: o.To}}
		i := slices.IndexFunc(all, func(other chart.Band) bool { return other.From == b.From })
		switch {
		case i < 0:
			all = append(all, b)
		case all[i].To < b.To:
			all[i] = b
		}
	}
	return all
}

var phaseColours = map[figure.Phase]int{figure.Detection: 3, figure.Promotion: 6, figure.Routing: 4}

// happened returns bands for the phases of the failover and for restarts in place.
func happened(d *figures.Document) (all []chart.Band) {
	if f := d.Status.Failover; f != nil && f.LastOldAcknowledgement != nil {
		began := d.Moment(*f.LastOldAcknowledgement, nil)
		for _, p := range d.Phases() {
			at := chart.Span{From: began + float64(p.From)/1000, To: began + float64(p.To)/1000}
			all = append(all, chart.Band{Name: p.Entry().Title + " " + p.Took.Brief(), Class: fmt.Sprintf("phase c%d", phaseColours[p.Phase]), Span: at})
		}
	}
	for _, r := range d.Status.RestartsInPlace {
		at := d.Moment(r.RejoinedTime, r.Clock)
		all = append(all, chart.Band{Name: r.Node + " again", Class: "event", Loose: true, Span: chart.Span{From: at, To: at}})
	}
	return all
}
