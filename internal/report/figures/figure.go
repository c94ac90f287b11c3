package figures

import (
	"fmt"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
)

// Figure is a number of a results document with what is known of it.
type Figure struct {
	Path  string // in the document
	Value *int64
	// Open tells that the value is a lower bound and that no upper one is known.
	Open bool
	// AtMost is the other bound, nil where the value is the figure itself.
	AtMost *int64
	// AtLeast is how little it may have been where the value is the upper bound, nil where it is the figure itself.
	AtLeast *int64
	// Doubt is what contradicts it, "" where nothing does.
	Doubt string
	// Why it is absent; "" of one that is there.
	Why string
}

// Bounded tells that the true figure may be another than Value.
func (f Figure) Bounded() bool { return f.Open || f.AtMost != nil || f.AtLeast != nil }

// Name is the last part of the path, which carries the unit.
func (f Figure) Name() string {
	return f.Path[strings.LastIndexByte(f.Path, '.')+1:]
}

// Figure returns what stands at a path of the document.
func (d *Document) Figure(path string) Figure {
	f := Figure{Path: path, Value: number(d.at(path))}
	if f.Value == nil {
		f.Why = d.why(path)
		if !isField(path) {
			f.Why = NoSuch + path
		}
		return f
	}
	if f.Name() == rounded || f.ofMetric() == rounded {
		f.boundAs(d.Figure(path + "Milli"))
		return f
	}
	if of, ok := measured[f.ofMetric()]; ok { // as the figure that the goal is about
		g := d.Figure(of)
		if g.Value != nil && *g.Value == *f.Value {
			f.Open, f.AtMost, f.AtLeast, f.Doubt = g.Open, g.AtMost, g.AtLeast, g.Doubt
		}
		return f
	}
	f.Doubt = d.doubt(path)
	parent, name := split(path)
	object, _ := d.at(parent).(map[string]any)
	lower, _ := object["lowerBounds"].([]any)
	switch most := number(object[name+"AtMost"]); {
	case most == nil:
		f.Open = d.open(path, name, lower)
	case *most > *f.Value:
		f.AtMost = most
	}
	if endless, _ := object["outageLowerBound"].(bool); endless && name == "outageMilliseconds" {
		f.Open = true
	}
	if by := uncertainty(object, name); by > 0 {
		least := max(0, *f.Value-by)
		f.AtLeast = &least
	}
	return f
}

// rounded is the throughput for people: its bounds are those of its thousandths.
const rounded = "requestsPerSecond"

func (f *Figure) boundAs(milli Figure) {
	f.Open = milli.Open
	if milli.AtMost != nil {
		if most := (*milli.AtMost + 999) / 1000; most > *f.Value {
			f.AtMost = &most
		}
	}
}

// Goal is what was measured for a goal, as exactly as it is judged. Where its metric measured nothing the goal has no value.
func (d *Document) Goal(metric v1alpha1.Metric) Figure {
	own := d.Figure(fmt.Sprintf("status.goals[%s].measured", metric))
	if entry, known := figure.Named(string(metric)); known && own.Value != nil {
		return d.Figure("status." + entry.Path)
	}
	return own
}

// uncertainty is by how much less a figure may have been.
func uncertainty(object map[string]any, name string) int64 {
	if name != "outageMilliseconds" {
		return 0
	}
	if by := number(object["outageUncertaintyMilliseconds"]); by != nil {
		return *by
	}
	return 0
}

func split(path string) (parent, name string) {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)], path[i+1:]
}

// measured are the figures that goals limit, by the metrics' names.
var measured = map[string]string{
	"lostWrites": "status.writes.lost", "indeterminateWrites": "status.writes.indeterminate", "rejectedWrites": "status.writes.rejected", "conflictingWrites": "status.writes.conflicting",
	"ghostWrites": "status.ghostWrites", "staleReads": "status.load.staleReads", "failedRequests": "status.load.failures", "requestsPerSecondMilli": "status.load.requestsPerSecondMilli",
	"droppedIterations": "status.load.droppedIterations", "p50Microseconds": "status.load.latency.p50Microseconds", "p95Microseconds": "status.load.latency.p95Microseconds",
	"p99Microseconds": "status.load.latency.p99Microseconds", "maxMicroseconds": "status.load.latency.maxMicroseconds", "lagP50Microseconds": "status.replication.lag.p50Microseconds",
	"lagP99Microseconds": "status.replication.lag.p99Microseconds", "lagMaxMicroseconds": "status.replication.lag.maxMicroseconds", "outageMilliseconds": "status.outageMilliseconds",
	"degradedCommits": "status.replication.degradedCommits", "certificationFailures": "status.replication.group.certificationFailures",
	"forcedAborts": "status.replication.group.forcedAborts",
}
