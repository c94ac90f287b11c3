package figures

import (
	"maps"
	"slices"
	"strconv"
)

// Main are the figures that a run is first asked for; those that are absent are listed too, with the reason.
var Main = []string{
	"status.load.requestsPerSecondMilli", "status.load.latency.p50Microseconds", "status.load.latency.p95Microseconds", "status.load.latency.p99Microseconds",
	"status.load.latency.maxMicroseconds", "status.load.requests", "status.load.failures", "status.load.droppedIterations", "status.load.staleReads",
	"status.replication.lag.p50Microseconds", "status.replication.lag.p99Microseconds", "status.replication.lag.maxMicroseconds",
	"status.outageMilliseconds", "status.failover.outageMilliseconds",
	"status.writes.sent", "status.writes.acknowledged", "status.writes.rejected", "status.writes.indeterminate", "status.writes.present",
	"status.writes.lost", "status.writes.recovered", "status.writes.vanished", "status.ghostWrites", "status.replication.degradedCommits",
}

// skipped are parts of the document that are no figures, or so many of one kind that they belong to the timeline.
var skipped = []string{
	"status.conditions", "status.observedGeneration", "status.progress", "status.distance.clients", "recorder.staleUsers", "recorder.availability.silences", "recorder.settings",
}

// All are the figures of the status and of what the recorder measured, in the order of their paths, and those of Main that are absent.
func (d *Document) All() []Figure {
	var paths []string
	for _, root := range []string{"status", "recorder"} {
		paths = walk(paths, root, d.tree[root])
	}
	for _, path := range Main {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	figures := make([]Figure, 0, len(paths))
	for _, path := range paths {
		figures = append(figures, d.Figure(path))
	}
	return figures
}

// walk adds the paths of all numbers from here on. Numbers that stand in a list by themselves are none.
func walk(paths []string, path string, here any) []string {
	if slices.Contains(skipped, path) {
		return paths
	}
	switch v := here.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if number(v[key]) != nil {
				paths = append(paths, path+"."+key)
				continue
			}
			paths = walk(paths, path+"."+key, v[key])
		}
	case []any:
		for i, one := range v {
			paths = walk(paths, path+"["+nameOf(v, i)+"]", one)
		}
	}
	return paths
}

// nameOf an item is the one by which it is found again: its name where that is its own, else its place.
func nameOf(list []any, i int) string {
	object, _ := list[i].(map[string]any)
	for _, key := range []string{"name", "metric", "node"} {
		name, ok := object[key].(string)
		if !ok || name == "" {
			continue
		}
		first := slices.IndexFunc(list, func(v any) bool {
			other, ok := v.(map[string]any)
			return ok && other[key] == name
		})
		last := slices.IndexFunc(list[i+1:], func(v any) bool {
			other, ok := v.(map[string]any)
			return ok && other[key] == name
		})
		if first == i && last < 0 {
			return name
		}
		break
	}
	return strconv.Itoa(i)
}
