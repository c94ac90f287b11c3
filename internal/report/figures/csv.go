package figures

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"replab.dev/internal/plain"
)

// CSVHeader are the columns of WriteCSV: one line for each figure of each run. bound is empty for an exact figure, else figure.Bound; atLeast and
// atMost are its bounds, and why says why it is not exact. An absent figure has no value.
var CSVHeader = []string{"experiment", "namespace", "verdict", "figure", "value", "unit", "bound", "atLeast", "atMost", "why"}

// WriteCSV writes every figure of the documents.
func WriteCSV(w io.Writer, documents ...*Document) error {
	out := csv.NewWriter(w)
	if err := out.Write(CSVHeader); err != nil {
		return err
	}
	for _, d := range documents {
		for _, f := range d.All() {
			line := []string{d.Experiment, d.Namespace, string(d.Status.Verdict), f.Path, text(f.Value), f.Unit(), f.Bound(), text(f.AtLeast), text(f.AtMost), f.Because}
			if err := out.Write(plain.Cells(line)); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func text(v *int64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatInt(*v, 10)
}

// WriteTimelineCSV writes a line for each entry of the timeline, with how many seconds it is of and a column for the lag of each node. What was
// not measured is empty; a percentile that is a lower bound is named in lowerBounds. Of a run without a timeline it is an error.
func (d *Document) WriteTimelineCSV(w io.Writer) error {
	if why := d.NoTimeline(); why != "" {
		return fmt.Errorf("experiment %s has no timeline: %s", d.Experiment, why)
	}
	out := csv.NewWriter(w)
	nodes := d.LagNodes()
	header := []string{"experiment", "at", "seconds", "requests", "failures", "p50Microseconds", "p99Microseconds", "lowerBounds", "pausedMicroseconds", "writer"}
	for _, n := range nodes {
		header = append(header, "lagMicroseconds["+n+"]")
	}
	if err := out.Write(plain.Cells(header)); err != nil {
		return err
	}
	seconds := strconv.FormatInt(max(1, d.Recorder.TimelineStepSeconds), 10)
	for _, s := range d.Recorder.Timeline {
		bounds := ""
		for i, p := range s.LowerBounds {
			if i > 0 {
				bounds += " "
			}
			bounds += string(p)
		}
		line := []string{
			d.Experiment, s.At.UTC().Format(time.RFC3339Nano), seconds, strconv.FormatInt(s.Requests, 10), strconv.FormatInt(s.Failures, 10), text(s.P50Microseconds), text(s.P99Microseconds),
			bounds, strconv.FormatInt(s.PausedMicroseconds, 10), s.Writer,
		}
		for i := range nodes {
			line = append(line, text(Lag(s.LagMicroseconds, i)))
		}
		if err := out.Write(plain.Cells(line)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// NoTimeline says why there is none, "" where there is.
func (d *Document) NoTimeline() string {
	switch {
	case d.Recorder == nil:
		return "there are no results of the recorder"
	case len(d.Recorder.Timeline) > 0:
		return ""
	case d.Omitted != "":
		return "left out: " + d.Omitted
	case d.Recorder.LoadStartedAt == nil:
		return "the recorder saw no request"
	}
	return "the document has none"
}

// LagNodes are the nodes of the timeline's lags, in their order. Where their names are not known, their numbers.
func (d *Document) LagNodes() (names []string) {
	if d.Recorder == nil {
		return nil
	}
	most := 0
	for _, s := range d.Recorder.Timeline {
		most = max(most, len(s.LagMicroseconds))
	}
	for i := range most {
		if i < len(d.Recorder.Settings) { // the settings are in the same order
			names = append(names, d.Recorder.Settings[i].Node)
			continue
		}
		names = append(names, strconv.Itoa(i))
	}
	return names
}

// Lag of the node of a number, nil where there is none: the timeline has -1 there.
func Lag(lags []int64, node int) *int64 {
	if node >= len(lags) || lags[node] == -1 {
		return nil
	}
	return &lags[node]
}
