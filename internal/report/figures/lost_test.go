package figures_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/reporttest"
	"replab.dev/internal/wire"
)

// TestEachLostWriteHasItsLine, up to 20 of them: when and by which node it was acknowledged, and where it was at the audit.
func TestEachLostWriteHasItsLine(t *testing.T) {
	r := reporttest.Run(t, reporttest.Shape{Experiment: "semisync", Seconds: 45, FaultAt: 20, Lost: 64})
	d := figures.Of(r)
	table := d.LostWrites()
	if table.Head[3] != "where it was at the audit" || len(table.Rows) != wire.MaxLostWrites || !slices.Equal(table.Notes, []string{"Lost besides: 44."}) {
		t.Errorf("head %q, %d rows, notes %q", table.Head, len(table.Rows), table.Notes)
	}
	lost := &d.Audit.Writes.LostWrites[0]
	for want, change := range map[string]func(){
		"900 +19.600 s semisync-db-0 on semisync-db-0": func() {},
		"900 +23.600 s semisync-db-1 on semisync-db-0": func() { lost.AcknowledgedAt.Time = lost.AcknowledgedAt.Add(4 * time.Second) },
		"900 +19.600 s semisync-db-0 on no node":       func() { lost.On = nil },
		"900 +19.600 s semisync-db-0 on no node that could be read": func() {
			lost.On, d.Audit.Nodes[0].Rows = nil, nil
		},
		"900 +19.600 s semisync-db-0 gone from b, which had it when it was started again": func() { lost.On, lost.Was = nil, []string{"b"} },
		"900 not known not known on semisync-db-0":                                        func() { lost.AcknowledgedAt = nil },
		"900 +22.500 s semisync-db-0 or semisync-db-1 on semisync-db-0":                   func() { lost.AcknowledgedAt.Time = lost.AcknowledgedAt.Add(2900 * time.Millisecond) },
		"900 +19.600 s only on semisync-db-0":                                             func() { d.Recorder.Writers, d.Recorder.Availability = []string{"only"}, nil },
	} {
		d = figures.Of(reporttest.Run(t, reporttest.Shape{Experiment: "semisync", Seconds: 45, FaultAt: 20, Lost: 1}))
		lost = &d.Audit.Writes.LostWrites[0]
		change()
		var got []string
		for _, c := range d.LostWrites().Rows[0] {
			got = append(got, c.Words)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("the line is %q, want %q", got, want)
		}
	}
}

// TestAnUnsureAcknowledgerIsNotKnown where the recorder did not see all writes, or all changes of the node.
func TestAnUnsureAcknowledgerIsNotKnown(t *testing.T) {
	for name, change := range map[string]func(*wire.RecorderResults){
		"nothing":        func(*wire.RecorderResults) {},
		"writes unnamed": func(r *wire.RecorderResults) { r.UnnamedWrites = 1 },
		"restarted":      func(r *wire.RecorderResults) { r.Incomplete, r.Writers = "the recorder was restarted", r.Writers[1:] },
		"failed":         func(r *wire.RecorderResults) { r.Failed = "the disk is full" },
		"no probe":       func(r *wire.RecorderResults) { r.Availability = nil },
		"too many changes": func(r *wire.RecorderResults) {
			r.Availability.Gaps = slices.Repeat(r.Availability.Gaps, wire.MaxGaps-1)
		},
	} {
		d := figures.Of(reporttest.Run(t, reporttest.Shape{Experiment: "semisync", Seconds: 45, FaultAt: 20, Lost: 1}))
		change(d.Recorder)
		if by := d.LostWrites().Rows[0][2].Words; (by != "not known") != (name == "nothing") {
			t.Errorf("%s: it was acknowledged by %s", name, by)
		}
	}
}

func TestSpansOfLostWritesAreSentences(t *testing.T) {
	d := figures.Of(reporttest.Run(t, reporttest.Shape{Experiment: "semisync", Seconds: 45, FaultAt: 20, Lost: 64}))
	span := &d.Audit.Writes.LostSpans[0]
	for _, c := range []struct {
		writes int64
		took   time.Duration
		want   string
	}{
		{64, 300 * time.Millisecond, "64 lost writes were acknowledged between +19.600 s and +19.900 s of the load, by the recorder's clock"},
		{2, 0, "2 lost writes were acknowledged at +19.600 s of the load, by the recorder's clock"},
		{1, 0, "1 lost write was acknowledged at +19.600 s of the load, by the recorder's clock"},
	} {
		span.Writes, span.To.Time = c.writes, span.From.Add(c.took)
		if got := d.LostSpans(); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
