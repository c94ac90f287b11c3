package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"replab.dev/api/v1alpha1"
)

// itemsOf tells by the beginning of a metric's name what its items are. A metric that is not here has none.
var itemsOf = []struct {
	metric  string
	unknown func(namedFigure, *spec, *v1alpha1.DrawFaults) string
}{
	{"lagSize", namedFigure.size},
	{"fault", namedFigure.fault},
	{"lossWindow", namedFigure.fault},
	{"rejoin", namedFigure.fault},
	{"resync", namedFigure.fault},
	{"stage", namedFigure.process},
	{"node", namedFigure.node},
	{"replication", namedFigure.direction},
	{"requestedRoundTrip", namedFigure.direction},
	{"before", namedFigure.direction},
	{"withoutDistance", namedFigure.direction},
	{"after", namedFigure.direction},
}

// unknown is what a variant lacks of the figure's item and what to write instead, "" where its trials may have the item.
func (f namedFigure) unknown(trial *spec, drawn *v1alpha1.DrawFaults) string {
	for _, kind := range itemsOf {
		if strings.HasPrefix(string(f.goal.Metric), kind.metric) {
			return kind.unknown(f, trial, drawn)
		}
	}
	return ""
}

func (f namedFigure) size(trial *spec, _ *v1alpha1.DrawFaults) string {
	sizes := trial.Probes.Lag.SweepPayloadBytes
	if len(sizes) == 0 || slices.ContainsFunc(sizes, func(n int64) bool { return strconv.FormatInt(n, 10) == f.item }) {
		return "" // without sizes the metric is refused
	}
	return fmt.Sprintf("rows of %q bytes. Use a number of probes.lag.sweepPayloadBytes.", f.item)
}

func (f namedFigure) fault(trial *spec, drawn *v1alpha1.DrawFaults) string {
	if drawn != nil {
		if drawnFault(f.item, drawn) {
			return ""
		}
		return fmt.Sprintf("drawn fault %q. Use draw-1-1 for the first fault's first node.", f.item)
	}
	if len(trial.Faults) == 0 || slices.ContainsFunc(trial.Faults, func(fault v1alpha1.Fault) bool { return trial.hasEntry(fault, f.item) }) {
		return "" // without faults the metric is refused
	}
	return fmt.Sprintf("fault %q. Use the name of one of its faults.", f.item)
}

// hasEntry tells whether the status of a trial may list a fault under this name. The second node that a fault hits has the name with .2 behind it.
func (s *spec) hasEntry(fault v1alpha1.Fault, name string) bool {
	if name == fault.Name {
		return true
	}
	several := fault.Target == v1alpha1.TargetAllReplicas || fault.PartitionFrom == v1alpha1.PartitionZone
	for n := int32(2); several && n <= s.Topology.Nodes; n++ {
		if name == fmt.Sprintf("%s.%d", fault.Name, n) {
			return true
		}
	}
	return false
}

// drawnFault tells whether a round may draw a fault of this name.
func drawnFault(name string, d *v1alpha1.DrawFaults) bool {
	kinds := []string{"draw"}
	if d.DuringPartitionSeconds != nil {
		kinds = append(kinds, "cut")
	}
	for _, kind := range kinds {
		for fault := range d.Count {
			for node := range slices.Max(append([]int32{1}, d.Nodes...)) {
				if name == fmt.Sprintf("%s-%d-%d", kind, fault+1, node+1) {
					return true
				}
			}
		}
	}
	return false
}

// process is a node or one of the other processes that the recorder samples.
func (f namedFigure) process(trial *spec, _ *v1alpha1.DrawFaults) string {
	all := []string{"app", "recorder"}
	if trial.Routing.Proxy != v1alpha1.ProxyNone {
		all = append(all, "proxy")
	}
	if trial.Load.Runner != v1alpha1.RunnerK6Operator {
		all = append(all, "k6")
	}
	managed := slices.Contains([]v1alpha1.TopologyType{v1alpha1.TopologySingle, v1alpha1.TopologyAsync, v1alpha1.TopologySemiSync}, trial.Topology.Type)
	if managed && trial.Topology.EffectiveEngine() != v1alpha1.EnginePostgreSQL {
		all = append(all, "director")
	}
	if slices.Contains(all, f.item) || trial.hasNode(f.item) {
		return ""
	}
	if numbered.MatchString(f.item) {
		return trial.lacks(f.item)
	}
	return fmt.Sprintf("process %q. Use %s or a node such as db-0.", f.item, strings.Join(all, ", "))
}

func (f namedFigure) node(trial *spec, _ *v1alpha1.DrawFaults) string {
	switch {
	case trial.hasNode(f.item):
		return ""
	case numbered.MatchString(f.item):
		return trial.lacks(f.item)
	}
	return fmt.Sprintf("node %q. Use db- and a number, such as db-0.", f.item)
}

// direction is from a node to another. A round trip may end at another pod than a node's.
func (f namedFigure) direction(trial *spec, _ *v1alpha1.DrawFaults) string {
	from, to, isDirection := strings.Cut(f.item, " to ")
	traffic := strings.HasPrefix(string(f.goal.Metric), "replication")
	switch {
	case !isDirection, !numbered.MatchString(from), traffic && !numbered.MatchString(to), from == to:
		return fmt.Sprintf("direction %q. Write it as db-0 to db-1.", f.item)
	case !trial.hasNode(from):
		return trial.lacks(from)
	case numbered.MatchString(to) && !trial.hasNode(to):
		return trial.lacks(to)
	}
	return ""
}

// numbered is the name of a node as an item.
var numbered = regexp.MustCompile(`^db-[0-9]+$`)

func (s *spec) hasNode(name string) bool {
	for n := range max(1, s.Topology.Nodes) {
		if name == fmt.Sprintf("db-%d", n) {
			return true
		}
	}
	return false
}

func (s *spec) lacks(node string) string {
	return fmt.Sprintf("node %s: its topology.nodes is %d. Use a lower number, or raise topology.nodes.", node, max(1, s.Topology.Nodes))
}
