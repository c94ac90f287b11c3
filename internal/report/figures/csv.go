package figures

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"
)

// CSVHeader are the columns of WriteCSV: one line for each figure of each run. bound is empty for the figure itself, "at least" for a lower
// bound, and "between" where atLeast and atMost are its bounds; an absent figure has no value, and why says why.
var CSVHeader = []string{"experiment", "namespace", "verdict", "figure", "value", "unit", "bound", "atLeast", "atMost", "why"}

// WriteCSV writes every figure of the documents.
func WriteCSV(w io.Writer, documents ...*Document) error {
	out := csv.NewWriter(w)
	if err := out.Write(CSVHeader); err != nil {
		return err
	}
	for _, d := range documents {
		for _, f := range d.All() {
			least, most := f.AtLeast, f.AtMost
			if most != nil {
				least = f.Value
			}
			if f.AtLeast != nil {
				most = f.Value
			}
			line := []string{d.Experiment, d.Namespace, string(d.Status.Verdict), f.Path, f.Exact(), f.Unit(), f.Bound(), text(least), text(most), f.Why}
			if err := out.Write(line); err != nil {
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

// WriteTimelineCSV writes a line for each entry of the timeline, with a column for the lag of each node. What was not measured is empty; a
// percentile that is a lower bound is named in lowerBounds.
func (d *Document) WriteTimelineCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	nodes := d.LagNodes()
	header := []string{"experiment", "at", "requests", "failures", "p50Microseconds", "p99Microseconds", "lowerBounds", "pausedMicroseconds", "writer"}
	for _, n := range nodes {
		header = append(header, "lagMicroseconds["+n+"]")
	}
	if err := out.Write(header); err != nil {
		return err
	}
	if d.Witness == nil {
		return nil
	}
	for _, s := range d.Witness.Timeline {
		bounds := ""
		for i, p := range s.LowerBounds {
			if i > 0 {
				bounds += " "
			}
			bounds += string(p)
		}
		line := []string{
			d.Experiment, s.At.UTC().Format(time.RFC3339Nano), strconv.FormatInt(s.Requests, 10), strconv.FormatInt(s.Failures, 10), text(s.P50Microseconds), text(s.P99Microseconds),
			bounds, strconv.FormatInt(s.PausedMicroseconds, 10), s.Writer,
		}
		for i := range nodes {
			line = append(line, text(Lag(s.LagMicroseconds, i)))
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// LagNodes are the nodes of the timeline's lags, in their order. Where their names are not known, their numbers.
func (d *Document) LagNodes() (names []string) {
	if d.Witness == nil {
		return nil
	}
	most := 0
	for _, s := range d.Witness.Timeline {
		most = max(most, len(s.LagMicroseconds))
	}
	for i := range most {
		if i < len(d.Witness.Settings) { // the settings are in the same order
			names = append(names, d.Witness.Settings[i].Node)
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
