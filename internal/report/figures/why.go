package figures

import (
	"strings"

	"replab.dev/api/v1alpha1"
)

// why a figure is absent, as far as the document tells. What nothing here knows is among the reasons of the verdict.
func (d *Document) why(path string) string {
	parent, name := split(path)
	if note, ok := d.noteOf(parent); ok {
		return note
	}
	if object, _ := d.at(parent).(map[string]any); object != nil {
		if samples := number(object["samples"]); samples != nil && *samples == 0 {
			return "there is no sample of it"
		}
	}
	for _, absent := range absences {
		if absent.of(path, name) {
			if text := absent.why(d); text != "" {
				return text
			}
		}
	}
	return seeReasons
}

const seeReasons = "the reasons of the verdict say why"

// noteOf is the note that stands beside a figure, or beside what it is part of.
func (d *Document) noteOf(parent string) (string, bool) {
	for ; parent != ""; parent, _ = split(parent) {
		object, _ := d.at(parent).(map[string]any)
		for _, key := range []string{"note", "unknown", "failed"} {
			if text, ok := object[key].(string); ok && text != "" {
				return text, true
			}
		}
		if !strings.HasSuffix(parent, "]") && object != nil {
			break
		}
	}
	return "", false
}

// absence is what is absent, and why; why is "" where it does not know.
type absence struct {
	of  func(path, name string) bool
	why func(*Document) string
}

var absences = []absence{
	{under("status.load"), func(d *Document) string { return d.noLoad() }},
	{under("status.writes"), func(d *Document) string { return d.noWrites() }},
	{under("status.replication.lag"), func(d *Document) string { return d.noLag() }},
	{named("degradedCommits", "degradedMilliseconds"), func(d *Document) string {
		if d.Recorder != nil && d.Recorder.Commits == nil {
			return "in this topology no commit waits for another node, so that none is counted"
		}
		return ""
	}},
	{under("status.replication.group"), func(d *Document) string {
		if d.Spec.Topology.Type != v1alpha1.TopologyGalera {
			return "only members of a group (Galera) count it"
		}
		return ""
	}},
	{named("outageMilliseconds"), func(d *Document) string {
		if d.Spec.Probes.Availability.IntervalMilliseconds == 0 {
			return "the availability probe was off (probes.availability.intervalMilliseconds: 0)"
		}
		return ""
	}},
	{named("ghostWrites", "ghostTransactions"), func(*Document) string { return "counted where an old primary came back and is kept apart, or was read" }},
	{named("lossWindowMilliseconds"), func(*Document) string {
		return "no lost write was acknowledged before this fault, or the times cannot tell"
	}},
	{named("rejoinMilliseconds"), func(*Document) string { return "the node did not leave its place, or was not seen back in it" }},
	{inside("resync"), func(*Document) string {
		return "the node needed no data of the others, or was not seen back in its place"
	}},
	{named("rejoinedRows"), func(*Document) string { return "the node came back before the others were compared, or not at all" }},
	{named("engineTransportP50Microseconds", "engineApplyP50Microseconds"), func(*Document) string { return "the server did not tell it, or has no such figure" }},
	{named("missing"), func(*Document) string {
		return "it is the node that the others are compared with, or could not be read"
	}},
	{named("droppedIterations"), func(*Document) string { return "k6 did not tell" }},
	{named("closedLoopPermille"), func(*Document) string { return "an open loop, or a script of one's own" }},
}

func under(prefix string) func(path, name string) bool {
	return func(path, _ string) bool { return path == prefix || strings.HasPrefix(path, prefix+".") }
}

func inside(object string) func(path, name string) bool {
	return func(path, _ string) bool { return strings.Contains(path, "."+object+".") }
}

func named(names ...string) func(path, name string) bool {
	return func(_, name string) bool {
		for _, n := range names {
			if name == n {
				return true
			}
		}
		return false
	}
}

func (d *Document) noLoad() string {
	switch {
	case d.Recorder == nil:
		return "there are no results of the recorder"
	case d.Recorder.Incomplete != "":
		return "the recorder saw a part of the load only: " + d.Recorder.Incomplete
	case d.Status.Load != nil && d.Status.Load.Latency == nil && d.Status.Load.Requests == d.Status.Load.Failures:
		return "no request succeeded"
	}
	return ""
}

func (d *Document) noWrites() string {
	switch {
	case d.Recorder == nil:
		return "there are no results of the recorder, which keeps the ledger"
	case d.Audit == nil:
		return "the tables were not audited"
	case d.Audit.Failed != "":
		return "the audit failed: " + d.Audit.Failed
	case d.Status.Writes != nil && d.Status.Writes.Lost == nil:
		return "it is not known that there was anything to lose"
	}
	return ""
}

func (d *Document) noLag() string {
	switch {
	case d.Spec.Probes.Lag.IntervalMilliseconds == 0:
		return "the lag probe was off (probes.lag.intervalMilliseconds: 0)"
	case d.Spec.Topology.Type == v1alpha1.TopologySingle:
		return "there is no replica"
	case d.Recorder != nil && d.Recorder.Lag != nil && d.Recorder.Lag.Samples == 0:
		return "no write of the lag probe was seen on a replica"
	}
	return ""
}
